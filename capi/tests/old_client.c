/* A program of the first release, built with the frozen header of that release, on today's library:
 * what it was promised still holds. Needs no sandbox. Usage: old_client STATE_DIR */
#include <cove.h>
#include <stdio.h>
#include <string.h>

#define CHECK(condition) \
  if (!(condition)) return fprintf(stderr, "line %d: %s\n", __LINE__, #condition), 1

static int dropped = 0;
static void on_drop(void* user_data) {
  (void)user_data;
  ++dropped;
}
static void on_buffer(void* user_data, cove_buffer* buffer, cove_error* error) {
  (void)user_data;
  cove_buffer_free(buffer);
  cove_error_free(error);
}

int main(int argc, char** argv) {
  char config[4096];
  cove_workspace_key key = COVE_WORKSPACE_KEY_INIT;
  cove_call_options call = COVE_CALL_OPTIONS_INIT;
  cove_buffer* buffer = NULL;
  cove_error* error = NULL;
  cove* handle = NULL;

  CHECK(argc == 2);
  CHECK(strncmp(cove_version(), "0.1.", 4) == 0);
  key.source_type = "app";
  key.source_id = "demo";
  key.user_id = "ana";
  CHECK(cove_sandbox_id_of(&key, &buffer, &error) == COVE_OK);
  CHECK(strcmp(cove_buffer_data(buffer), "app-52b3bfdf3477b4e1a1bf8608dc581e36") == 0);
  cove_buffer_free(buffer);

  CHECK(cove_open("{\"state_dir\": \"\", \"nope\": 1}", NULL, &handle, &error) ==
        COVE_INVALID_ARGUMENT);
  CHECK(handle == NULL && error != NULL && strlen(cove_error_message(error)) > 0);
  cove_error_free(error);

  snprintf(config, sizeof config, "{\"state_dir\": \"%s\"}", argv[1]);
  CHECK(cove_open(config, NULL, &handle, &error) == COVE_OK);
  call.timeout_ms = 10000;
  CHECK(cove_status_json(handle, "app-nobody", &call, &buffer, &error) == COVE_NOT_FOUND);
  CHECK(buffer == NULL && cove_error_code(error) == COVE_NOT_FOUND);
  cove_error_free(error);
  CHECK(cove_status_json_start(handle, "", &call, on_buffer, NULL, on_drop, NULL) ==
        COVE_INVALID_ARGUMENT);
  CHECK(dropped == 1);
  CHECK(cove_close(handle, 10000, &error) == COVE_OK);
  CHECK(cove_close(handle, 0, &error) == COVE_OK);
  CHECK(cove_sweep_json(handle, NULL, &buffer, NULL) == COVE_FAILED_PRECONDITION);
  cove_free(handle);
  puts("ok");
  return 0;
}
