/* A day's work of a program of 0.1-preview: its structs are as long as they were then.
 * Usage: client STATE_DIR      says "ok" and ends with 0, or with the line that is wrong */
#include <cove.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static cove* app;
static cove_workspace* workspace;
static cove_error* error;

static int is_wrong(int line, const char* what) {
  fprintf(stderr, "client.c:%d: %s: %s\n", line, what, cove_error_describe(error));
  return 1;
}
#define CHECK(good) \
  if (!(good)) return is_wrong(__LINE__, #good)
#define WORKS(call) CHECK((call) == COVE_OK)

/* What callbacks leave for the thread that waits. */
struct heard {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  char output[64];
  size_t size;
  int code; /* -1 until the end */
  int dropped;
};

static int32_t on_output(void* user_data, int32_t stream, const void* data, size_t size) {
  struct heard* heard = user_data;
  if (stream != COVE_STDOUT || size > sizeof heard->output - heard->size) return COVE_STOP;
  memcpy(heard->output + heard->size, data, size);
  heard->size += size;
  return COVE_CONTINUE;
}

static void on_done(void* user_data, cove_exec_result* result, cove_error* failure) {
  struct heard* heard = user_data;
  pthread_mutex_lock(&heard->mutex);
  heard->code = failure == NULL ? cove_exec_result_shell_code(result) : 125;
  pthread_mutex_unlock(&heard->mutex);
  cove_exec_result_free(result);
  cove_error_free(failure);
}

static void on_drop(void* user_data) {
  struct heard* heard = user_data;
  pthread_mutex_lock(&heard->mutex);
  ++heard->dropped;
  pthread_cond_signal(&heard->changed);
  pthread_mutex_unlock(&heard->mutex);
}

static int open_and_acquire(const char* state_dir) {
  char config[4096];
  cove_open_options options = COVE_OPEN_OPTIONS_INIT;
  cove_workspace_key key = COVE_WORKSPACE_KEY_INIT;
  cove_acquire_options acquire = COVE_ACQUIRE_OPTIONS_INIT;
  snprintf(config, sizeof config, "{\"state_dir\": \"%s\"}", state_dir);
  WORKS(cove_open(config, &options, &app, &error));
  key.source_type = "app";
  key.source_id = "old";
  key.user_id = "ana";
  acquire.chat_id = "c1";
  acquire.timeout_ms = 60000;
  WORKS(cove_acquire(app, &key, &acquire, &workspace, &error));
  return 0;
}

static int run_commands(void) {
  const char* const env[] = {"GREETING=hello"};
  const char* const line[] = {"sh", "-c", "echo $GREETING; cat; exit 3"};
  const char* const three[] = {"sh", "-c", "for i in 1 2 3; do echo $i; done"};
  struct heard heard = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, "", 0, -1, 0};
  cove_exec_options options = COVE_EXEC_OPTIONS_INIT;
  cove_exec_callbacks callbacks = COVE_EXEC_CALLBACKS_INIT;
  cove_exec_result* result = NULL;
  cove_process* process = NULL;
  options.env = env;
  options.env_count = 1;
  options.stdin_data = "given";
  options.stdin_size = 5;
  options.command_timeout_ms = 60000;
  WORKS(cove_workspace_exec(workspace, line, 3, &options, &result, &error));
  CHECK(cove_exec_result_shell_code(result) == 3);
  CHECK(strcmp(cove_exec_result_text(result, COVE_STDOUT, NULL), "hello\ngiven") == 0);
  cove_exec_result_free(result);

  callbacks.on_output = on_output;
  callbacks.on_done = on_done;
  callbacks.user_data = &heard;
  callbacks.drop = on_drop;
  WORKS(cove_workspace_exec_start(workspace, three, 3, NULL, &callbacks, &process, &error));
  pthread_mutex_lock(&heard.mutex);
  while (heard.dropped == 0) pthread_cond_wait(&heard.changed, &heard.mutex);
  pthread_mutex_unlock(&heard.mutex);
  cove_process_free(process);
  CHECK(heard.code == 0 && heard.dropped == 1);
  CHECK(heard.size == 6 && memcmp(heard.output, "1\n2\n3\n", 6) == 0);
  return 0;
}

static int run_in_the_background(void) {
  const char* const argv[] = {"sh", "-c", "echo up; exec sleep 600"};
  cove_process_options options = COVE_PROCESS_OPTIONS_INIT;
  cove_output_options output = COVE_OUTPUT_OPTIONS_INIT;
  cove_process_info* info = NULL;
  cove_process_info* ended = NULL;
  cove_output_slice* slice = NULL;
  const char* id;
  size_t size = 0;
  options.name = "server";
  output.wait_ms = 60000;
  WORKS(cove_workspace_start_process(workspace, argv, 3, NULL, &options, &info, &error));
  id = cove_process_info_id(info);
  WORKS(cove_workspace_process_output(workspace, id, &output, &slice, &error));
  CHECK(memcmp(cove_output_slice_data(slice, &size), "up\n", 3) == 0 && size == 3);
  WORKS(cove_workspace_end_process(workspace, id, NULL, &ended, &error));
  CHECK(cove_process_info_result(ended) != NULL);
  cove_output_slice_free(slice);
  cove_process_info_free(ended);
  cove_process_info_free(info);
  return 0;
}

static int use_files(void) {
  cove_write_options write = COVE_WRITE_OPTIONS_INIT;
  cove_edit edit = COVE_EDIT_INIT;
  cove_file_list_options list = COVE_FILE_LIST_OPTIONS_INIT;
  cove_edit_result* edited = NULL;
  cove_file_info* info = NULL;
  cove_file_page* page = NULL;
  cove_buffer* text = NULL;
  write.mode = 0640;
  WORKS(cove_workspace_write_file(workspace, "a.py", "x = 1\n", 6, &write, &info, &error));
  edit.old_text = "x = 1";
  edit.old_size = 5;
  edit.new_text = "x = 22";
  edit.new_size = 6;
  WORKS(cove_workspace_edit_file(workspace, "a.py", &edit, 1, NULL, &edited, &error));
  CHECK(cove_edit_result_replaced(edited, 0) == 1);
  WORKS(cove_workspace_read_file(workspace, "a.py", NULL, &text, &error));
  CHECK(strcmp(cove_buffer_data(text), "x = 22\n") == 0);
  /* What was seen before the edit is no longer what is there. */
  write.if_unchanged_since = cove_file_info_etag(info);
  CHECK(cove_workspace_write_file(workspace, "a.py", "", 0, &write, NULL, NULL) == COVE_CONFLICT);
  list.limit = 10;
  list.depth = COVE_DEPTH_ALL;
  WORKS(cove_workspace_list(workspace, ".", &list, &page, &error));
  CHECK(cove_file_page_count(page) == 1);
  CHECK(strstr(cove_file_info_path(cove_file_page_entry(page, 0)), "a.py") != NULL);
  cove_file_page_free(page);
  cove_buffer_free(text);
  cove_edit_result_free(edited);
  cove_file_info_free(info);
  return 0;
}

static int search_and_call_a_tool(void) {
  const char* const include[] = {"*.py"};
  cove_grep_options options = COVE_GREP_OPTIONS_INIT;
  cove_tool_options tool = COVE_TOOL_OPTIONS_INIT;
  cove_grep_result* found = NULL;
  cove_tool_result* answer = NULL;
  options.include = include;
  options.include_count = 1;
  options.limit = 10;
  WORKS(cove_workspace_grep(workspace, ".", "x = [0-9]+", &options, &found, &error));
  CHECK(cove_grep_lines_count(cove_grep_result_lines(found)) == 1);
  WORKS(cove_workspace_tool_call(workspace, "sandbox_ls", "{\"path\": \".\"}", &tool, &answer,
                                 &error));
  CHECK(strstr(cove_tool_result_text(answer, NULL), "a.py") != NULL);
  cove_tool_result_free(answer);
  cove_grep_result_free(found);
  return 0;
}

static int put_away_and_come_back(void) {
  const char* const id = cove_workspace_sandbox_id(workspace);
  cove_stop_options stop = COVE_STOP_OPTIONS_INIT;
  cove_list_options list = COVE_LIST_OPTIONS_INIT;
  cove_buffer* text = NULL;
  stop.drain = COVE_DRAIN_CANCEL;
  WORKS(cove_archive(app, id, &stop, &error));
  list.limit = 10;
  WORKS(cove_list_json(app, &list, &text, &error));
  CHECK(strstr(cove_buffer_data(text), id) != NULL);
  CHECK(strstr(cove_buffer_data(text), "\"archived\"") != NULL);
  cove_buffer_free(text);
  WORKS(cove_workspace_read_file(workspace, "a.py", NULL, &text, &error));
  CHECK(strcmp(cove_buffer_data(text), "x = 22\n") == 0);
  cove_buffer_free(text);
  return 0;
}

static int work(const char* state_dir) {
  if (open_and_acquire(state_dir) || run_commands() || run_in_the_background()) return 1;
  return use_files() || search_and_call_a_tool() || put_away_and_come_back();
}

/* Leaves nothing that runs, however far the work came. */
static int end(void) {
  cove_call_options call = COVE_CALL_OPTIONS_INIT;
  call.timeout_ms = 60000;
  if (workspace != NULL) {
    WORKS(cove_destroy(app, cove_workspace_sandbox_id(workspace), &call, &error));
  }
  cove_workspace_free(workspace);
  if (app != NULL) WORKS(cove_close(app, 20000, &error));
  cove_free(app);
  return 0;
}

int main(int argc, char** argv) {
  int wrong = argc != 2 || work(argv[1]) != 0;
  if (end() != 0 || wrong) return 1;
  puts("ok");
  return 0;
}
