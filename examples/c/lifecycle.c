/* The lives of sandboxes: events, an idle policy, a sweep with progress, a session, a source's end.
 */
#include "example.h"

static void on_report(void* user_data, const char* json) { /* on a thread of Cove; never blocks */
  (void)json;
  ++*(int*)user_data;
}

static cove_buffer* sweep(cove* app, uint32_t flags, int* steps) {
  cove_sweep_options options = COVE_SWEEP_OPTIONS_INIT;
  cove_buffer* json = NULL;
  options.flags = flags;
  options.at_once = 8;
  options.on_progress = on_report;
  options.user_data = steps;
  must(cove_sweep_json(app, &options, &json, &error));
  return json;
}

int main(int argc, char** argv) {
  cove* app = open_in(argc, argv);
  cove_idle_policy policy = COVE_IDLE_POLICY_INIT;
  cove_workspace_key ana = COVE_WORKSPACE_KEY_INIT;
  cove_acquire_options session = COVE_ACQUIRE_OPTIONS_INIT;
  cove_workspace* workspace;
  cove_buffer* json;
  int events = 0;
  int steps = 0;

  must(cove_set_observer(app, on_report, &events, NULL, &error));
  workspace = acquire(app, "c1", NULL);
  must(cove_workspace_release(workspace, NULL, &error));
  cove_workspace_free(workspace);

  policy.stop_after_ms = COVE_NO_TIME; /* in a real program: minutes */
  policy.archive = COVE_ARCHIVE_NEVER;
  must(cove_set_idle_policy(app, "app/example", &policy, NULL, &error));
  json = sweep(app, COVE_SWEEP_DRY_RUN, &steps);
  check(strstr(cove_buffer_data(json), "\"action\":\"stop\"") != NULL, "a stop is planned");
  cove_buffer_free(json);
  json = sweep(app, 0, &steps);
  check(strstr(cove_buffer_data(json), "\"stopped\":1") != NULL, "and then done");
  cove_buffer_free(json);
  check(steps > 0, "progress was told");

  ana.source_type = "app";
  ana.source_id = "example";
  ana.user_id = "ana";
  session.chat_id = "c1"; /* that a chat is deleted removes nothing by itself */
  must(cove_remove_session(app, &ana, &session, &error));

  must(cove_destroy_source_json(app, "app/example", NULL, &json, &error));
  printf("%s\n", cove_buffer_data(json));
  cove_buffer_free(json);
  check(cove_acquire(app, &ana, NULL, &workspace, NULL) == COVE_FAILED_PRECONDITION,
        "a deleted source has no sandboxes");
  must(cove_revive_source(app, "app/example", NULL, &error));
  end(app, NULL);
  check(events > 3, "every step was told");
  return 0;
}
