/* Searching, and what a language model calls. */
#include "example.h"

static void search(cove_workspace* workspace) {
  cove_grep_options options = COVE_GREP_OPTIONS_INIT;
  cove_grep_result* found = NULL;
  const cove_grep_line* line;
  must(cove_workspace_write_file(workspace, "src/a.py", "def main():\n  pass\n", 19, NULL, NULL,
                                 &error));
  options.limit = 10;
  must(cove_workspace_grep(workspace, "src", "def [a-z]+", &options, &found, &error));
  check(cove_grep_lines_count(cove_grep_result_lines(found)) == 1, "one line matches");
  line = cove_grep_lines_entry(cove_grep_result_lines(found), 0);
  printf("%s:%llu: %s\n", cove_grep_line_path(line),
         (unsigned long long)cove_grep_line_number(line), cove_grep_line_text(line, NULL));
  cove_grep_result_free(found);
}

/* Real ones keep the request, sign an upload elsewhere, and answer later. */
static void make_links(void* user_data, cove_link_request* request) {
  const char* urls[] = {"https://files.example/a.py"};
  (void)user_data;
  cove_link_request_answer(request, urls, cove_link_request_count(request), NULL);
  cove_link_request_free(request);
}

static void call_tools(cove_workspace* workspace) {
  cove_tool_options options = COVE_TOOL_OPTIONS_INIT;
  cove_tool_result* result = NULL;
  cove_buffer* described = NULL;
  must(cove_tools_describe_json(COVE_TOOLS_OPENAI, &described, &error)); /* for the model */
  check(strstr(cove_buffer_data(described), "sandbox_shell") != NULL, "the shell is a tool");
  options.make_links = make_links;
  must(cove_workspace_tool_call(workspace, "sandbox_get_file_url", "{\"paths\": [\"src/a.py\"]}",
                                &options, &result, &error));
  check(cove_tool_result_is_error(result) == 0, "the tool gave a link");
  printf("%s\n", cove_tool_result_text(result, NULL));
  cove_tool_result_free(result);
  must(cove_workspace_tool_call(workspace, "sandbox_ls", "{\"path\": \"none\"}", NULL, &result,
                                &error));
  check(cove_tool_result_is_error(result) == 1, "what the model got wrong, it is told");
  cove_tool_result_free(result);
  cove_buffer_free(described);
}

int main(int argc, char** argv) {
  cove* app = open_in(argc, argv);
  cove_workspace* workspace = acquire(app, "c1", NULL);
  search(workspace);
  call_tools(workspace);
  end(app, workspace);
  return 0;
}
