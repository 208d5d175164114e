/* A host that has few descriptors, or none. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "good_guest.h"

static void may_open(rlim_t soft) {
  struct rlimit limit;
  CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = soft;
  CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

static int open_descriptors(void) {
  DIR* const all = opendir("/proc/self/fd");
  int count = 0;
  CHECK(all != NULL);
  while (readdir(all) != NULL) ++count;
  closedir(all);
  return count;
}

/* True: it worked. A failure must say that descriptors are missing. */
static int has_worked(cove_status status, cove_error** error, int line) {
  if (status == COVE_OK) return 1;
  if (status != COVE_QUOTA_EXCEEDED || strstr(cove_error_describe(*error), "descriptors") == NULL) {
    fprintf(stderr, "%s:%d: %s\n", __FILE__, line, cove_error_describe(*error));
    _exit(1);
  }
  cove_error_free(*error);
  return 0;
}
#define WORKS_OR_TELLS(call) has_worked((call), &error, __LINE__)

static void write_and_read(void) {
  cove_error* error = NULL;
  cove_buffer* text = NULL;
  WORKS(cove_workspace_write_file(workspace, "note", "kept", 4, NULL, NULL, &error));
  WORKS(cove_workspace_read_file(workspace, "note", NULL, &text, &error));
  CHECK(cove_buffer_size(text) == 4 && memcmp(cove_buffer_data(text), "kept", 4) == 0);
  cove_buffer_free(text);
}

void few_descriptors(const char* state_dir) {
  struct rlimit limit = {64, 64};
  int i;
  CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  begin(state_dir);
  for (i = 0; i < 3; ++i) run("echo here", "here\n");
  write_and_read();
  /* The sandbox is not as poor as its host. */
  run("test $(ulimit -n) -ge 64 && echo enough", "enough\n");
  end();
}

/* All that a host does, with what may fail. True: it all worked. */
static int try_it(const char* config) {
  const cove_workspace_key ana = {sizeof ana, 0, "app", "guest", "ana"};
  const char* const argv[] = {"echo", "here"};
  cove_exec_result* result = NULL;
  cove_error* error = NULL;
  int all = 0;
  if (!WORKS_OR_TELLS(cove_open(config, NULL, &app, &error))) return 0;
  if (WORKS_OR_TELLS(cove_acquire(app, &ana, NULL, &workspace, &error))) {
    all = WORKS_OR_TELLS(cove_workspace_exec(workspace, argv, 2, NULL, &result, &error));
    if (all) CHECK(strcmp(cove_exec_result_text(result, COVE_STDOUT, NULL), "here\n") == 0);
    cove_exec_result_free(result);
    cove_workspace_free(workspace);
  }
  cove_close(app, 20000, NULL);
  cove_free(app);
  return all;
}

void fewer_descriptors(const char* state_dir) {
  char config[4096];
  const int before = open_descriptors();
  rlim_t most;
  int worked = 0;
  snprintf(config, sizeof config, "{\"state_dir\": \"%s\"}", state_dir);
  for (most = 4; most <= 64; ++most) {
    may_open(most);
    worked = try_it(config);
    may_open(64);
    CHECK(open_descriptors() == before);
  }
  CHECK(worked);
  begin(state_dir);
  run("echo still", "still\n");
  end();
}

static void try_files(void) {
  cove_error* error = NULL;
  cove_buffer* text = NULL;
  cove_file_info* info = NULL;
  cove_file_page* page = NULL;
  cove_find_result* found = NULL;
  WORKS_OR_TELLS(cove_workspace_write_file(workspace, "note", "kept", 4, NULL, NULL, &error));
  WORKS_OR_TELLS(cove_workspace_read_file(workspace, "note", NULL, &text, &error));
  WORKS_OR_TELLS(cove_workspace_stat(workspace, "note", NULL, &info, &error));
  WORKS_OR_TELLS(cove_workspace_list(workspace, ".", NULL, &page, &error));
  WORKS_OR_TELLS(cove_workspace_find(workspace, ".", NULL, &found, &error));
  cove_buffer_free(text);
  cove_file_info_free(info);
  cove_file_page_free(page);
  cove_find_result_free(found);
}

static void try_command(void) {
  const char* const argv[] = {"echo", "here"};
  cove_exec_result* result = NULL;
  cove_process_info* info = NULL;
  cove_error* error = NULL;
  WORKS_OR_TELLS(cove_workspace_exec(workspace, argv, 2, NULL, &result, &error));
  WORKS_OR_TELLS(cove_workspace_start_process(workspace, argv, 2, NULL, NULL, &info, &error));
  cove_exec_result_free(result);
  cove_process_info_free(info);
}

static void try_reports(void) {
  cove_error* error = NULL;
  cove_buffer* text[6] = {NULL};
  size_t i;
  WORKS_OR_TELLS(
      cove_status_json(app, cove_workspace_sandbox_id(workspace), NULL, &text[0], &error));
  WORKS_OR_TELLS(cove_list_json(app, NULL, &text[1], &error));
  WORKS_OR_TELLS(cove_metrics_text(app, NULL, &text[2], &error));
  WORKS_OR_TELLS(cove_doctor_json(app, NULL, &text[3], &error));
  WORKS_OR_TELLS(cove_orphans_json(app, NULL, &text[4], &error));
  WORKS_OR_TELLS(cove_sweep_json(app, NULL, &text[5], &error));
  for (i = 0; i < sizeof text / sizeof text[0]; ++i) cove_buffer_free(text[i]);
}

static void try_another_workspace(void) {
  const cove_workspace_key bob = {sizeof bob, 0, "app", "guest", "bob"};
  cove_workspace* another = NULL;
  cove_error* error = NULL;
  WORKS_OR_TELLS(cove_acquire(app, &bob, NULL, &another, &error));
  cove_workspace_free(another);
}

void no_descriptors(const char* state_dir) {
  const cove_workspace_key bob = {sizeof bob, 0, "app", "guest", "bob"};
  cove_workspace* another = NULL;
  cove_error* error = NULL;
  int taken[256];
  int before;
  int count = 0;
  may_open(200);
  before = open_descriptors();
  begin(state_dir);
  run("echo here", "here\n");
  while ((taken[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0) ++count;
  try_command();
  try_files();
  try_reports();
  try_another_workspace();
  WORKS_OR_TELLS(cove_stop(app, cove_workspace_sandbox_id(workspace), NULL, &error));
  try_command();
  try_reports();
  while (count > 0) close(taken[--count]);
  /* A stop that was begun is ended first. */
  WORKS(cove_stop(app, cove_workspace_sandbox_id(workspace), NULL, &error));
  run("echo again", "again\n");
  write_and_read();
  WORKS(cove_acquire(app, &bob, NULL, &another, &error));
  WORKS(cove_destroy(app, cove_workspace_sandbox_id(another), NULL, &error));
  cove_workspace_free(another);
  end();
  CHECK(open_descriptors() == before);
}

/* Connections that calls side by side leave open are let go of where something else needs room. */

static void* call_often(void* unused) {
  int i;
  for (i = 0; i < 5; ++i) run("echo here", "here\n");
  return unused;
}

static void call_side_by_side(void) {
  enum { kThreads = 12 };
  pthread_t all[kThreads];
  int i;
  for (i = 0; i < kThreads; ++i) CHECK(pthread_create(&all[i], NULL, call_often, NULL) == 0);
  for (i = 0; i < kThreads; ++i) CHECK(pthread_join(all[i], NULL) == 0);
}

/* Of Cove's I/O: one, and one for each of those connections. */
static int open_loops(void) {
  static const char loop[] = "anon_inode:[eventpoll]";
  char path[64];
  char is[64];
  int fd;
  int count = 0;
  for (fd = 0; fd < 1024; ++fd) {
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    count +=
        readlink(path, is, sizeof is) == sizeof loop - 1 && memcmp(is, loop, sizeof loop - 1) == 0;
  }
  return count;
}

void stops_after_many_calls(const char* state_dir) {
  cove_error* error = NULL;
  may_open(1024);
  begin(state_dir);
  while (open_loops() == 1) call_side_by_side(); /* a slow machine has none to spare at first */
  WORKS(cove_stop(app, cove_workspace_sandbox_id(workspace), NULL, &error));
  CHECK(open_loops() == 1);
  end();
}

void busy_with_few_descriptors(const char* state_dir) {
  const cove_workspace_key bob = {sizeof bob, 0, "app", "guest", "bob"};
  cove_workspace* first;
  cove_error* error = NULL;
  may_open(64); /* and the sandboxes as many as they like */
  begin(state_dir);
  write_and_read();
  call_side_by_side();
  first = workspace;
  WORKS(cove_acquire(app, &bob, NULL, &workspace, &error));
  write_and_read();
  call_side_by_side();
  WORKS(cove_stop(app, cove_workspace_sandbox_id(workspace), NULL, &error));
  WORKS(cove_archive(app, cove_workspace_sandbox_id(workspace), NULL, &error));
  run("cat note", "kept");
  WORKS(cove_destroy(app, cove_workspace_sandbox_id(workspace), NULL, &error));
  cove_workspace_free(workspace);
  workspace = first;
  end();
}

/* However many there are, an archive that fails loses nothing, and neither does what wakes it. */
void archived_with_fewer_descriptors(const char* state_dir) {
  const char* const argv[] = {"cat", "note"};
  cove_exec_result* result;
  cove_error* error = NULL;
  rlim_t most;
  int worked = 0;
  may_open(64);
  begin(state_dir);
  write_and_read();
  /* Below what is open already all of them are alike. */
  for (most = (rlim_t)open_descriptors() - 6; most <= 64; ++most) {
    const char* const id = cove_workspace_sandbox_id(workspace);
    may_open(most);
    worked = WORKS_OR_TELLS(cove_stop(app, id, NULL, &error));
    worked = WORKS_OR_TELLS(cove_archive(app, id, NULL, &error)) && worked;
    result = NULL;
    worked =
        WORKS_OR_TELLS(cove_workspace_exec(workspace, argv, 2, NULL, &result, &error)) && worked;
    if (result != NULL)
      CHECK(strcmp(cove_exec_result_text(result, COVE_STDOUT, NULL), "kept") == 0);
    cove_exec_result_free(result);
    may_open(64);
    if (!worked) WORKS(cove_stop(app, id, NULL, &error)); /* one that was begun is ended first */
    run("cat note", "kept");
  }
  CHECK(worked);
  end();
}
