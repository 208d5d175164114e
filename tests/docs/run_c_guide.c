/* Calls what the blocks of docs/c-api.md define: run_c_guide.py looks at what they print.
 * Usage: cove-c-guide DIRECTORY [end]      end: ends what the first program and this left */
#include <cove.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

cove_status start(cove_workspace* workspace, int* exit_code, cove_process** out_process);
cove_status serve(cove_workspace* workspace, cove_error** out_error);
cove_status rename_variable(cove_workspace* workspace, cove_error** out_error);
cove_status there_and_back(cove_workspace* workspace, FILE* in, FILE* out);
cove_status send_two(cove_workspace* workspace, uint64_t* size, cove_error** out_error);
cove_status search(cove_workspace* workspace, int* complete, cove_search** out_search);
cove_status answer(cove_workspace* workspace, const char* name, const char* arguments_json);
cove_status with_skill(cove* app, const cove_workspace_key* key, cove_workspace** out_workspace,
                       cove_error** out_error);
cove_status move(cove* app, const char* sandbox_id, cove_error** out_error);
cove_status tidy(cove* app, cove_buffer** out_json, cove_error** out_error);
cove_status open_later(const char* config, int64_t* ahead_ns, cove** out_cove, cove_error** error);

static void check_at(int line, int good, cove_error* error) {
  if (good) return;
  printf("line %d: %s\n", line, error != NULL ? cove_error_describe(error) : "not as it should be");
  exit(1);
}
#define CHECK(good) check_at(__LINE__, (good), NULL)
#define WORKS(status, error) check_at(__LINE__, (status) == COVE_OK, error)

/* What a callback writes from a thread of Cove. */
static int wait_for(const volatile int* value) {
  const time_t late = time(NULL) + 60;
  while (*value < 0 && time(NULL) < late) sched_yield();
  return *value;
}

static void write_text(cove_workspace* workspace, const char* path, const char* text) {
  cove_error* error = NULL;
  WORKS(cove_workspace_write_file(workspace, path, text, strlen(text), NULL, NULL, &error), error);
}

static void commands(cove_workspace* workspace) {
  cove_error* error = NULL;
  cove_process* process = NULL;
  static int exit_code = -1;
  WORKS(start(workspace, &exit_code, &process), error);
  CHECK(wait_for(&exit_code) >= 0); /* 125 where the machine has no make */
  cove_process_free(process);
  WORKS(serve(workspace, &error), error);
}

static void files(cove_workspace* workspace) {
  cove_error* error = NULL;
  cove_buffer* text = NULL;
  FILE* in = tmpfile();
  FILE* out = tmpfile();
  static volatile uint64_t size = UINT64_MAX;
  const time_t late = time(NULL) + 60;
  size_t i;
  write_text(workspace, "a.py", "total = 1\nprint(total)\n");
  WORKS(rename_variable(workspace, &error), error);
  WORKS(cove_workspace_read_file(workspace, "a.py", NULL, &text, &error), error);
  CHECK(strcmp(cove_buffer_data(text), "sum = 1\nprint(sum)\n") == 0);
  cove_buffer_free(text);
  CHECK(in != NULL && out != NULL);
  for (i = 0; i < 100000; ++i) fprintf(in, "line %zu\n", i);
  rewind(in);
  WORKS(there_and_back(workspace, in, out), error);
  CHECK(ftell(in) > 0 && ftell(in) == ftell(out));
  fclose(in);
  fclose(out);
  WORKS(send_two(workspace, (uint64_t*)&size, &error), error);
  while (size == UINT64_MAX && time(NULL) < late) sched_yield();
  CHECK(size == 8);
}

static void searches_and_tools(cove_workspace* workspace) {
  cove_error* error = NULL;
  cove_search* running = NULL;
  static int complete = -1;
  write_text(workspace, "src/a.py", "def all_of(self):\n  pass\n");
  WORKS(search(workspace, &complete, &running), error);
  CHECK(wait_for(&complete) == 1);
  cove_search_free(running);
  WORKS(answer(workspace, "sandbox_read_file", "{\"path\": \"a.py\"}"), error);
  WORKS(answer(workspace, "sandbox_get_file_url", "{\"paths\": [\"a.py\"]}"), error);
}

static void skills(cove* app, const cove_workspace_key* key, const char* directory) {
  cove_error* error = NULL;
  cove_workspace* prepared = NULL;
  cove_buffer* told = NULL;
  char path[4096];
  static char package[65536];
  FILE* file;
  size_t size;
  snprintf(path, sizeof path, "%s/pdf.tar", directory);
  file = fopen(path, "rb");
  CHECK(file != NULL);
  size = fread(package, 1, sizeof package, file);
  fclose(file);
  WORKS(cove_add_skill_json(app, "pdf-3", package, size, NULL, &told, &error), error);
  cove_buffer_free(told);
  WORKS(with_skill(app, key, &prepared, &error), error);
  cove_workspace_free(prepared);
}

static void end(cove* app, const cove_workspace_key* key) {
  cove_error* error = NULL;
  cove_buffer* id = NULL;
  cove_stop_options options = COVE_STOP_OPTIONS_INIT;
  options.drain = COVE_DRAIN_CANCEL;
  WORKS(cove_sandbox_id_of(key, &id, &error), error);
  WORKS(cove_stop(app, cove_buffer_data(id), &options, &error), error);
  WORKS(cove_destroy(app, cove_buffer_data(id), NULL, &error), error);
  cove_buffer_free(id);
}

int main(int argc, char** argv) {
  const cove_workspace_key ana = {sizeof ana, 0, "app", "shop", "ana"};
  const char* config = "{\"state_dir\": \"" STATE "\"}";
  cove* app = NULL;
  cove* later = NULL;
  cove_workspace* workspace = NULL;
  cove_buffer* report = NULL;
  cove_error* error = NULL;
  int64_t ahead = (int64_t)3600 * 1000000000;
  CHECK(argc >= 2);
  WORKS(cove_open(config, NULL, &app, &error), error);
  if (argc == 3) {
    end(app, &ana);
    cove_free(app);
    return 0;
  }
  WORKS(cove_acquire(app, &ana, NULL, &workspace, &error), error);
  commands(workspace);
  files(workspace);
  searches_and_tools(workspace);
  skills(app, &ana, argv[1]);
  CHECK(move(app, cove_workspace_sandbox_id(workspace), NULL) == COVE_INVALID_ARGUMENT);
  WORKS(tidy(app, &report, &error), error);
  puts(cove_buffer_data(report));
  cove_buffer_free(report);
  cove_workspace_free(workspace);
  cove_free(app);
  WORKS(open_later(config, &ahead, &later, &error), error);
  cove_free(later);
  puts("the guide is run");
  return 0;
}
