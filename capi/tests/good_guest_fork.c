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

/* What a child may do that did not call exec: nothing, and it is told so. */
static void be_a_child(void) {
  const char* const argv[] = {"true"};
  cove_exec_result* result = NULL;
  cove_error* error = NULL;
  CHECK(cove_workspace_exec(workspace, argv, 1, NULL, &result, &error) == COVE_FAILED_PRECONDITION);
  CHECK(result == NULL && strstr(cove_error_message(error), "fork") != NULL);
  cove_error_free(error);
  CHECK(cove_close(app, 20000, NULL) == COVE_FAILED_PRECONDITION);
  cove_workspace_free(workspace);
  cove_free(app);
  _exit(0);
}

void forks(const char* state_dir) {
  pid_t child;
  begin(state_dir);
  child = fork();
  if (child == 0) be_a_child();
  check_child(child);
  run("echo undisturbed", "undisturbed\n");
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

/* No number with a comma in it: "1,5", which no reader of JSON or Prometheus takes. */
static void check_numbers(const cove_buffer* text) {
  const char* const data = cove_buffer_data(text);
  size_t i;
  for (i = 1; i + 1 < cove_buffer_size(text); ++i) {
    CHECK(data[i] != ',' || !isdigit((unsigned char)data[i - 1]) ||
          !isdigit((unsigned char)data[i + 1]));
  }
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
