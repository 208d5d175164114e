/// What calls give, as JavaScript values. value(environment, out) is called on the environment's
/// thread; where it keeps `out` it sets it to null, else the call frees it. Null = it threw.
#pragma once

#include <string>

#include "call.hpp"

namespace cove_node {

/// What is known of a file, copied from what C lends.
struct FileFacts {
  std::string path;
  std::string link_target;
  std::string etag;
  int type = 0;
  std::uint64_t size = 0;
  std::uint32_t mode = 0;
  std::int64_t modified_ns = 0;
  bool is_unreadable = false;
};

FileFacts facts_of(const Library& library, const cove_file_info* info);
napi_value facts_value(napi_env env, const FileFacts& facts);
std::string facts_json(const FileFacts& facts);

/// "file", "directory", "symlink" or "other", by its COVE_FILE_*.
const char* file_type_name(int type) noexcept;

/// How a command ended, with its output.
napi_value exec_result_value(const Environment& environment, const cove_exec_result* result);

/// {handle, directory, sandboxId, work} of a workspace.
napi_value workspace_value(const Environment& environment,
                           std::shared_ptr<WorkspaceHandle> workspace);

/// Throws an error of the library, which is taken. Null.
napi_value throw_error(Arguments& in, cove_error* error);

template <>
struct Outcome<Nothing> {
  static void free(const Library&, Nothing*) {}
  static napi_value value(const Environment& environment, Nothing*&) {
    return undefined_value(environment.env);
  }
};

#define COVE_OUTCOME(type)                                                            \
  template <>                                                                         \
  struct Outcome<type> {                                                              \
    static void free(const Library& library, type* out) { library.type##_free(out); } \
    static napi_value value(const Environment& environment, type*& out);              \
  };

COVE_OUTCOME(cove)
COVE_OUTCOME(cove_workspace)
COVE_OUTCOME(cove_buffer)
COVE_OUTCOME(cove_exec_result)
COVE_OUTCOME(cove_process_info)
COVE_OUTCOME(cove_process_list)
COVE_OUTCOME(cove_output_slice)
COVE_OUTCOME(cove_file_info)
COVE_OUTCOME(cove_file_content)
COVE_OUTCOME(cove_line_slice)
COVE_OUTCOME(cove_file_page)
COVE_OUTCOME(cove_edit_result)
COVE_OUTCOME(cove_edit_results)
COVE_OUTCOME(cove_tree_counts)
COVE_OUTCOME(cove_search_summary)
COVE_OUTCOME(cove_tool_result)
#undef COVE_OUTCOME

}  // namespace cove_node
