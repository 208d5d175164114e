/* A provider of one's own, in C: the story of hello.c on instances that this program starts itself,
 * without any isolation (plain_provider.h).
 *
 *     build/release/bin/example-c-custom-provider STATE_DIR */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "plain_provider.h"

static cove_error* error = NULL;

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
  ana.source_id = "provider-c";
  ana.user_id = "ana";
  options.chat_id = chat;
  must(cove_acquire(app, &ana, &options, &workspace, &error));
  return workspace;
}

static void story(cove* app) {
  const char* const argv[] = {"sh", "-c",
                              "echo \"$(cat note.txt) from /workspace/${PWD##*/workspace/}\""};
  char sandbox[64];
  cove_exec_result* result = NULL;
  cove_buffer* note = NULL;
  cove_workspace* workspace = acquire(app, "c1");
  must(cove_workspace_write_file(workspace, "note.txt", "hello", 5, NULL, NULL, &error));
  must(cove_workspace_exec(workspace, argv, 3, NULL, &result, &error));
  printf("%s", cove_exec_result_text(result, COVE_STDOUT, NULL));
  cove_exec_result_free(result);
  snprintf(sandbox, sizeof sandbox, "%s", cove_workspace_sandbox_id(workspace));
  must(cove_workspace_release(workspace, NULL, &error));
  cove_workspace_free(workspace);
  must(cove_stop(app, sandbox, NULL, &error));
  must(cove_archive(app, sandbox, NULL, &error));

  workspace = acquire(app, "c2");
  must(cove_workspace_read_file(workspace, "../c1/note.txt", NULL, &note, &error));
  printf("chat c2 reads: %s (%s)\n", cove_buffer_data(note),
         cove_workspace_work(workspace) == COVE_WORK_RESTORED ? "restored" : "not restored");
  cove_buffer_free(note);
  must(cove_workspace_release(workspace, NULL, &error));
  cove_workspace_free(workspace);
  must(cove_destroy(app, sandbox, NULL, &error));
}

int main(int argc, char** argv) {
  char root[256], agent[256], config[512];
  cove_provider provider;
  cove_open_options options = COVE_OPEN_OPTIONS_INIT;
  cove* app = NULL;
  if (argc != 2) return fprintf(stderr, "usage: %s STATE_DIR\n", argv[0]), 2;
  snprintf(root, sizeof root, "%s/mine", argv[1]);
  snprintf(agent, sizeof agent, "%s/mine/cove-agent", argv[1]);
  snprintf(config, sizeof config, "{\"state_dir\": \"%s\"}", argv[1]);
  if ((mkdir(argv[1], 0700) != 0 && errno != EEXIST) ||
      (mkdir(root, 0700) != 0 && errno != EEXIST)) {
    return perror(root), 1;
  }
  must(cove_agent_write(agent, &error));
  if (!plain_provider(root, agent, &provider)) return fprintf(stderr, "%s is too long\n", root), 1;
  options.provider = &provider;
  must(cove_open(config, &options, &app, &error));
  story(app);
  must(cove_close(app, 10000, &error));
  cove_free(app);
  return 0;
}
