/* A host that has few descriptors, or none. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
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

void no_descriptors(const char* state_dir) {
  const char* const argv[] = {"echo", "here"};
  cove_exec_result* result = NULL;
  cove_error* error = NULL;
  int taken[256];
  int count = 0;
  may_open(200);
  begin(state_dir);
  run("echo here", "here\n");
  while ((taken[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0) ++count;
  WORKS_OR_TELLS(cove_workspace_exec(workspace, argv, 2, NULL, &result, &error));
  cove_exec_result_free(result);
  WORKS_OR_TELLS(cove_workspace_write_file(workspace, "note", "kept", 4, NULL, NULL, &error));
  WORKS_OR_TELLS(cove_stop(app, cove_workspace_sandbox_id(workspace), NULL, &error));
  WORKS_OR_TELLS(cove_workspace_exec(workspace, argv, 2, NULL, &result, &error));
  cove_exec_result_free(result);
  while (count > 0) close(taken[--count]);
  /* A stop that was begun is ended first. */
  WORKS(cove_stop(app, cove_workspace_sandbox_id(workspace), NULL, &error));
  run("echo again", "again\n");
  write_and_read();
  end();
}
