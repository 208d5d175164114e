/* What the small programs share: a Cove in the directory that they are given, and a workspace. */
#ifndef COVE_EXAMPLE_H
#define COVE_EXAMPLE_H

#include <cove.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cove_error* error = NULL;

/* Ends the program with the error's sentence where a call failed. */
static void must(cove_status status) {
  if (status == COVE_OK) return;
  fprintf(stderr, "%s: %s\n", cove_status_name(status), cove_error_describe(error));
  exit(1);
}

/* Ends it where something is not as the program says. */
static void check(int is_so, const char* what) {
  if (is_so) return;
  fprintf(stderr, "it is not so: %s\n", what);
  exit(1);
}

static cove* open_in(int argc, char** argv) {
  char config[4096];
  cove* app = NULL;
  if (argc != 2) {
    fprintf(stderr, "usage: %s STATE_DIR\n", argv[0]);
    exit(2);
  }
  snprintf(config, sizeof config, "{\"state_dir\": \"%s\"}", argv[1]);
  must(cove_open(config, NULL, &app, &error));
  return app;
}

/* `prepare` may be NULL. */
static cove_workspace* acquire(cove* app, const char* chat, const cove_prepare* prepare) {
  cove_workspace_key ana = COVE_WORKSPACE_KEY_INIT;
  cove_acquire_options options = COVE_ACQUIRE_OPTIONS_INIT;
  cove_workspace* workspace = NULL;
  ana.source_type = "app";
  ana.source_id = "example";
  ana.user_id = "ana";
  options.chat_id = chat;
  options.prepare = prepare;
  must(cove_acquire(app, &ana, &options, &workspace, &error));
  return workspace;
}

/* Leaves nothing behind; `workspace` may be NULL. */
static void end(cove* app, cove_workspace* workspace) {
  if (workspace != NULL) {
    must(cove_destroy(app, cove_workspace_sandbox_id(workspace), NULL, &error));
  }
  cove_workspace_free(workspace);
  must(cove_close(app, 15000, &error));
  cove_free(app);
}

#endif
