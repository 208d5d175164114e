/// What the calls about files have in common.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "file_info.hpp"
#include "handles.hpp"
#include "options.hpp"

namespace cove::capi {

inline Result<std::string> read_path(const char* path, const char* name = "path") {
  COVE_TRY_VOID(require(path, name));
  return std::string(path);
}

struct WriteCall {
  WriteOptions options;
  CallContext call;
};
Result<WriteCall> read_write(const cove_write_options* options);

inline Result<cove_file_info*> info_made(FileInfo info) {
  return new cove_file_info{std::move(info)};
}

inline Result<cove_tree_counts*> counts_made(TreeCounts counts) {
  return new cove_tree_counts{counts};
}

/// Sets an out parameter that may be NULL, to NULL.
template <class Out>
void clear_optional(Out** out) noexcept {
  if (out != nullptr) *out = nullptr;
}

/// The body of a call that waits and gives what a host may not want: ask(client) gives a Result
/// that `Out` is made of.
template <class Out, class Ask>
cove_status give_wanted(cove_workspace* workspace, Out** out, cove_error** out_error, Ask&& ask) {
  clear_optional(out);
  return waiting_call(workspace, "workspace", out_error,
                      [&](cove_workspace& handle) -> Result<void> {
                        COVE_TRY(auto given, ask(handle.client));
                        if (out != nullptr) *out = new Out{std::move(given)};
                        return ok();
                      });
}

}  // namespace cove::capi
