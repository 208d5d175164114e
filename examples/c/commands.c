/* Commands: one whose output comes as it is written, and a process that nobody waits for. */
#include <pthread.h>

#include "example.h"

/* What the callbacks fill; they come on a thread of Cove, on_done last. */
struct seen {
  pthread_mutex_t mutex;
  pthread_cond_t ended;
  char output[256];
  size_t size;
  int shell_code; /* -1 while it runs */
};

static int32_t on_output(void* user_data, int32_t stream, const void* data, size_t size) {
  struct seen* seen = user_data;
  (void)stream;
  if (size > sizeof seen->output - seen->size) size = sizeof seen->output - seen->size;
  memcpy(seen->output + seen->size, data, size);
  seen->size += size;
  return COVE_CONTINUE; /* COVE_PAUSE: nothing more comes until cove_process_resume */
}

static void on_done(void* user_data, cove_exec_result* result, cove_error* failure) {
  struct seen* seen = user_data;
  pthread_mutex_lock(&seen->mutex);
  seen->shell_code = failure == NULL ? cove_exec_result_shell_code(result) : 125;
  pthread_cond_signal(&seen->ended);
  pthread_mutex_unlock(&seen->mutex);
  cove_exec_result_free(result);
  cove_error_free(failure);
}

static void stream(cove_workspace* workspace) {
  const char* const argv[] = {"sh", "-c", "for i in 1 2 3; do echo $i; done; exit 3"};
  cove_exec_callbacks callbacks = COVE_EXEC_CALLBACKS_INIT;
  cove_process* process = NULL;
  struct seen seen = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, "", 0, -1};
  callbacks.on_output = on_output;
  callbacks.on_done = on_done;
  callbacks.user_data = &seen;
  must(cove_workspace_exec_start(workspace, argv, 3, NULL, &callbacks, &process, &error));
  pthread_mutex_lock(&seen.mutex);
  while (seen.shell_code < 0) pthread_cond_wait(&seen.ended, &seen.mutex);
  pthread_mutex_unlock(&seen.mutex);
  cove_process_free(process);
  check(seen.shell_code == 3, "the command ended as it said");
  check(seen.size == 6 && memcmp(seen.output, "1\n2\n3\n", 6) == 0, "its output came whole");
}

static void background(cove_workspace* workspace) {
  const char* const argv[] = {"sh", "-c", "echo up; exec sleep 600"};
  cove_process_options options = COVE_PROCESS_OPTIONS_INIT;
  cove_output_options output = COVE_OUTPUT_OPTIONS_INIT;
  cove_process_info* info = NULL;
  cove_process_info* ended = NULL;
  cove_output_slice* slice = NULL;
  const char* id;
  const char* bytes;
  size_t size = 0;
  options.name = "server";
  output.wait_ms = 60000;
  must(cove_workspace_start_process(workspace, argv, 3, NULL, &options, &info, &error));
  id = cove_process_info_id(info);
  must(cove_workspace_process_output(workspace, id, &output, &slice, &error));
  bytes = cove_output_slice_data(slice, &size);
  check(size == 3 && memcmp(bytes, "up\n", size) == 0, "its output is read by its id");
  must(cove_workspace_end_process(workspace, id, NULL, &ended, &error));
  check(cove_process_info_result(ended) != NULL, "it has ended");
  must(cove_workspace_remove_process(workspace, id, NULL, &error));
  cove_output_slice_free(slice);
  cove_process_info_free(ended);
  cove_process_info_free(info);
}

int main(int argc, char** argv) {
  cove* app = open_in(argc, argv);
  cove_workspace* workspace = acquire(app, "c1", NULL);
  stream(workspace);
  background(workspace);
  end(app, workspace);
  return 0;
}
