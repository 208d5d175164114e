/* Two chats of one user, in C: what chat c1 leaves behind, chat c2 finds, over a stop and an
 * archive. build/release/bin/example-c-hello STATE_DIR */
#include <cove.h>
#include <stdio.h>
#include <stdlib.h>

static cove_error* error = NULL;

/* Ends the program with the error's sentence where a call failed. */
static void must(cove_status status) {
  if (status == COVE_OK) return;
  fprintf(stderr, "%s: %s\n", cove_status_name(status), cove_error_describe(error));
  exit(1);
}

static cove_workspace* acquire(cove* app, const char* chat) {
  cove_workspace_key ana = COVE_WORKSPACE_KEY_INIT;
  cove_acquire_options options = COVE_ACQUIRE_OPTIONS_INIT;
  cove_workspace* workspace = NULL;
  ana.source_type = "app";
  ana.source_id = "hello-c";
  ana.user_id = "ana";
  options.chat_id = chat;
  must(cove_acquire(app, &ana, &options, &workspace, &error));
  return workspace;
}

static void run(cove_workspace* workspace, const char* script) {
  const char* const argv[] = {"sh", "-c", script};
  cove_exec_result* result = NULL;
  must(cove_workspace_exec(workspace, argv, 3, NULL, &result, &error));
  printf("%s", cove_exec_result_text(result, COVE_STDOUT, NULL));
  fprintf(stderr, "%s", cove_exec_result_text(result, COVE_STDERR, NULL));
  if (cove_exec_result_shell_code(result) != 0) exit(1);
  cove_exec_result_free(result);
}

int main(int argc, char** argv) {
  char config[4096];
  char sandbox[64];
  cove* app = NULL;
  cove_workspace* workspace;
  cove_buffer* note = NULL;

  if (argc != 2) return fprintf(stderr, "usage: %s STATE_DIR\n", argv[0]), 2;
  snprintf(config, sizeof config, "{\"state_dir\": \"%s\"}", argv[1]);
  must(cove_open(config, NULL, &app, &error));

  workspace = acquire(app, "c1");
  must(cove_workspace_write_file(workspace, "note.txt", "hello", 5, NULL, NULL, &error));
  run(workspace, "echo \"$(cat note.txt) from $PWD\"");
  snprintf(sandbox, sizeof sandbox, "%s", cove_workspace_sandbox_id(workspace));
  must(cove_workspace_release(workspace, NULL, &error));
  cove_workspace_free(workspace);

  must(cove_stop(app, sandbox, NULL, &error));
  must(cove_archive(app, sandbox, NULL, &error));

  workspace = acquire(app, "c2"); /* wakes by itself */
  must(cove_workspace_read_file(workspace, "../c1/note.txt", NULL, &note, &error));
  printf("chat c2 reads: %s (%s)\n", cove_buffer_data(note),
         cove_workspace_work(workspace) == COVE_WORK_RESTORED ? "restored" : "not restored");
  cove_buffer_free(note);
  must(cove_workspace_release(workspace, NULL, &error));
  cove_workspace_free(workspace);

  must(cove_destroy(app, sandbox, NULL, &error));
  must(cove_close(app, 10000, &error));
  cove_free(app);
  return 0;
}
