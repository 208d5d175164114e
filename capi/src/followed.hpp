/// Work that the host follows through a struct of callbacks, and steers through a handle.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "handles.hpp"
#include "options.hpp"

namespace cove::capi {

/// The guarded body of a call that starts such work: begin(workspace, callbacks, reply) gives what
/// stands behind `Handle`. `Out` is what the last callback gets. From the moment that the callbacks
/// can be read, `drop` is ours to call, whatever else is wrong.
template <class Out, class Callbacks, class Handle, class Begin>
cove_status followed_call(cove_workspace* workspace, const Callbacks* callbacks, Handle** out,
                          const char* out_name, cove_error** out_error, Begin&& begin) noexcept {
  const bool readable = callbacks != nullptr && is_readable(rule_of<Callbacks>(), callbacks);
  if (!readable) {
    return guarded(out_error, [&]() -> Result<void> {
      if (out != nullptr) *out = nullptr;
      COVE_TRY_VOID(require(callbacks, "callbacks"));
      COVE_TRY_VOID(read_options(callbacks));
      return ok();
    });
  }
  if (out != nullptr) *out = nullptr;
  return starting_call<Out>(
      workspace, "workspace", out_error, callbacks->on_done, callbacks->user_data, callbacks->drop,
      [&](cove_workspace& used, const std::shared_ptr<Reply<Out>>& reply) -> Result<void> {
        COVE_TRY_VOID(require(out, out_name));
        COVE_TRY(const auto read, read_options(callbacks));
        const std::string reserved = std::string(rule_of<Callbacks>().name) + ".reserved0";
        COVE_TRY_VOID(check_flags(read.reserved0, 0, reserved.c_str()));
        // Made before: once the work goes on, nothing may fail any more.
        auto handle = std::make_unique<Handle>();
        handle->library = used.library;
        COVE_TRY(handle->handle, begin(used, read, reply));
        *out = handle.release();
        return ok();
      });
}

}  // namespace cove::capi
