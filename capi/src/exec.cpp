/// Running commands.
#include "exec_result.hpp"
#include "handles.hpp"
#include "options.hpp"

using namespace cove;

namespace cove::capi {
namespace {

using ExecReply = Reply<cove_exec_result>;

/// What the facade calls while the command runs and when it ended.
ExecCallbacks callbacks_for(const std::shared_ptr<ExecReply>& reply, cove_output_fn on_output) {
  ExecCallbacks callbacks;
  callbacks.on_done = answer<ExecResult>(reply, [](ExecResult result) -> Result<cove_exec_result*> {
    return new cove_exec_result(std::move(result));
  });
  if (on_output == nullptr) return callbacks;
  callbacks.on_output = [reply, on_output](OutputStream stream, ByteView bytes) {
    const CallbackScope scope;
    const int32_t flow =
        on_output(reply->user_data(), static_cast<int32_t>(stream), bytes.data(), bytes.size());
    return flow == COVE_PAUSE ? Flow::kPause : Flow::kContinue;
  };
  return callbacks;
}

}  // namespace
}  // namespace cove::capi

extern "C" {

cove_status cove_workspace_exec(cove_workspace* workspace, const char* const* argv, size_t argc,
                                const cove_exec_options* options, cove_exec_result** out_result,
                                cove_error** out_error) {
  return capi::waiting_call(workspace, "workspace", out_error,
                            [&](cove_workspace& handle) -> Result<void> {
                              COVE_TRY_VOID(capi::clear(out_result, "out_result"));
                              COVE_TRY(const auto exec, capi::read_exec(argv, argc, options));
                              COVE_TRY(auto result, handle.client.exec(exec.spec, exec.call));
                              *out_result = new cove_exec_result(std::move(result));
                              return ok();
                            });
}

cove_status cove_workspace_exec_start(cove_workspace* workspace, const char* const* argv,
                                      size_t argc, const cove_exec_options* options,
                                      const cove_exec_callbacks* callbacks,
                                      cove_process** out_process, cove_error** out_error) {
  const bool readable =
      callbacks != nullptr && capi::is_readable(capi::rule_of<cove_exec_callbacks>(), callbacks);
  if (!readable) {
    return capi::guarded(out_error, [&]() -> Result<void> {
      COVE_TRY_VOID(capi::require(callbacks, "callbacks"));
      COVE_TRY_VOID(capi::read_options(callbacks));
      return ok();
    });
  }
  return capi::starting_call<cove_exec_result>(
      workspace, "workspace", out_error, callbacks->on_done, callbacks->user_data, callbacks->drop,
      [&](cove_workspace& handle, const auto& reply) -> Result<void> {
        COVE_TRY_VOID(capi::clear(out_process, "out_process"));
        COVE_TRY(const auto read, capi::read_options(callbacks));
        COVE_TRY_VOID(capi::check_flags(read.reserved0, 0, "cove_exec_callbacks.reserved0"));
        COVE_TRY(auto exec, capi::read_exec(argv, argc, options));
        // Made before: once the command runs, nothing may fail any more.
        auto process = std::make_unique<cove_process>();
        process->library = handle.library;
        process->handle = handle.client.exec_async(
            std::move(exec.spec), capi::callbacks_for(reply, read.on_output), std::move(exec.call));
        *out_process = process.release();
        return ok();
      });
}

void cove_process_resume(cove_process* process) {
  if (process != nullptr && !process->library->is_forked()) process->handle->resume();
}

void cove_process_cancel(cove_process* process) {
  if (process != nullptr && !process->library->is_forked()) process->handle->cancel();
}

void cove_process_free(cove_process* process) { capi::free_handle(process); }

}  // extern "C"
