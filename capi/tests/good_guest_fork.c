/* A host that forks, and one whose language writes numbers in another way. */
#define _GNU_SOURCE
#include <ctype.h>
#include <locale.h>
#include <string.h>
#include <sys/wait.h>

#include "good_guest.h"

static void check_child(pid_t child) {
  int status = 0;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int dropped;
static void on_done(void* user_data, cove_error* error) {
  (void)user_data;
  (void)error;
  const int was_refused = 1; /* so nobody calls this */
  CHECK(!was_refused);
}
static void on_drop(void* user_data) {
  (void)user_data;
  ++dropped;
}

/* What a child may do with its parent's that did not call exec: nothing, and it is told so. */
static void use_what_is_the_parents(void) {
  const char* const argv[] = {"true"};
  const char* const id = cove_workspace_sandbox_id(workspace);
  cove_exec_result* result = NULL;
  cove_error* error = NULL;
  CHECK(cove_workspace_exec(workspace, argv, 1, NULL, &result, &error) == COVE_FAILED_PRECONDITION);
  CHECK(result == NULL && strstr(cove_error_message(error), "fork") != NULL);
  cove_error_free(error);
  CHECK(cove_destroy(app, id, NULL, NULL) == COVE_FAILED_PRECONDITION);
  CHECK(cove_stop_start(app, id, NULL, on_done, NULL, on_drop, NULL) == COVE_FAILED_PRECONDITION);
  CHECK(dropped == 1);
  CHECK(cove_close(app, 20000, NULL) == COVE_FAILED_PRECONDITION);
  cove_workspace_free(workspace);
  cove_free(app);
}

static void be_a_child(const char* state_dir) {
  use_what_is_the_parents();
  /* It may open one of its own, at the same place. */
  visit(state_dir);
  _exit(0);
}

void forks(const char* state_dir) {
  pid_t child;
  begin(state_dir);
  run("echo nobody > visited", "");
  child = fork();
  if (child == 0) be_a_child(state_dir);
  check_child(child);
  run("cat visited", "by another\n");
  run("echo nobody > visited", "");
  /* One that calls exec is a process like any other. */
  child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "good_guest", "visit", state_dir, (char*)NULL);
    _exit(127);
  }
  check_child(child);
  run("cat visited", "by another\n");
  end();
}

void visit(const char* state_dir) {
  begin(state_dir);
  run("echo by another > visited", "");
  cove_workspace_free(workspace);
  CHECK(cove_close(app, 20000, NULL) == COVE_OK);
  cove_free(app);
}

/* No number has a comma in it: "1,5", which no reader of JSON or Prometheus takes. */
static void check_numbers(const cove_buffer* text) {
  const char* const data = cove_buffer_data(text);
  size_t i;
  for (i = 1; i + 1 < cove_buffer_size(text); ++i) {
    CHECK(data[i] != ',' || !isdigit((unsigned char)data[i - 1]) ||
          !isdigit((unsigned char)data[i + 1]));
  }
}

/* Numbers are read and written with a point. 0.05 read to its point would be 0, and refused. */
static void check_config(const char* state_dir) {
  char config[4096];
  cove* another = NULL;
  cove_error* error = NULL;
  snprintf(config, sizeof config, "{\"state_dir\": \"%s\", \"lifecycle\": {\"heartbeat_s\": 0.05}}",
           state_dir);
  WORKS(cove_open(config, NULL, &another, &error));
  CHECK(cove_close(another, 20000, NULL) == COVE_OK);
  cove_free(another);
  snprintf(config, sizeof config,
           "{\"state_dir\": \"%s\", \"lifecycle\": {\"activity_lease_s\": 0.05}}", state_dir);
  CHECK(cove_open(config, NULL, &another, &error) == COVE_INVALID_ARGUMENT);
  CHECK(strstr(cove_error_message(error), "0.1") != NULL);
  cove_error_free(error);
}

static void check_paths(void) {
  static const char name[] =
      "gr\xc3\xb6\xc3\x9f"
      "e 1,5 \xff"; /* the last is no UTF-8 */
  cove_error* error = NULL;
  cove_file_info* info = NULL;
  WORKS(cove_workspace_write_file(workspace, name, "x", 1, NULL, &info, &error));
  CHECK(strcmp(cove_file_info_path(info), name) == 0);
  cove_file_info_free(info);
}

void other_locale(const char* state_dir) {
  cove_error* error = NULL;
  cove_buffer* text = NULL;
  if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL) {
    puts("[skipped] there is no locale with a comma in its numbers");
    _exit(0);
  }
  CHECK(strcmp(localeconv()->decimal_point, ",") == 0);
  begin(state_dir);
  run("printf %.1f 1.5", "1.5");
  check_config(state_dir);
  check_paths();
  WORKS(cove_metrics_text(app, NULL, &text, &error));
  CHECK(cove_buffer_size(text) > 0);
  check_numbers(text);
  cove_buffer_free(text);
  WORKS(cove_status_json(app, cove_workspace_sandbox_id(workspace), NULL, &text, &error));
  check_numbers(text);
  cove_buffer_free(text);
  end();
  CHECK(strcmp(setlocale(LC_ALL, NULL), "de_DE.UTF-8") == 0);
}
