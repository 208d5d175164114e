/// Running commands.
#include "exec_result.hpp"
#include "followed.hpp"

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

/// Starts what `begin`, (workspace, ExecCallbacks) -> Result<ExecHandle>, starts with the host's
/// callbacks.
template <class Begin>
cove_status start_followed(cove_workspace* workspace, const cove_exec_callbacks* callbacks,
                           cove_process** out_process, cove_error** out_error, Begin&& begin) {
  return followed_call<cove_exec_result>(
      workspace, callbacks, out_process, "out_process", out_error,
      [&](cove_workspace& handle, const cove_exec_callbacks& read, const auto& reply) {
        return begin(handle, callbacks_for(reply, read.on_output));
      });
}

struct AttachCall {
  AttachOptions options;
  CallContext call;
};

Result<AttachCall> read_attach(const cove_attach_options* options) {
  COVE_TRY(const auto read, read_options(options));
  COVE_TRY_VOID(check_flags(read.flags, COVE_ATTACH_ONLY_NEW, "cove_attach_options.flags"));
  AttachCall attach;
  attach.options.out_offset = read.out_offset;
  attach.options.err_offset = read.err_offset;
  attach.options.only_new = (read.flags & COVE_ATTACH_ONLY_NEW) != 0;
  attach.call = call_of(read.timeout_ms, read.cancel);
  return attach;
}

}  // namespace
}  // namespace cove::capi

extern "C" {

cove_status cove_workspace_exec(cove_workspace* workspace, const char* const* argv, size_t argc,
                                const cove_exec_options* options, cove_exec_result** out_result,
                                cove_error** out_error) {
  return capi::waiting_call(
      workspace, "workspace", out_error, [&](cove_workspace& handle) -> Result<void> {
        COVE_TRY_VOID(capi::clear(out_result, "out_result"));
        COVE_TRY(const auto exec, capi::read_exec(argv, argc, options));
        if (exec.stdin_mode == StdinMode::kOpen) {
          return Error(ErrorCode::kInvalidArgument,
                       "COVE_EXEC_KEEP_STDIN leaves a stdin open that nobody could write to: use "
                       "cove_workspace_exec_start");
        }
        COVE_TRY(auto result, handle.client.exec(exec.spec, exec.call));
        *out_result = new cove_exec_result(std::move(result));
        return ok();
      });
}

cove_status cove_workspace_exec_start(cove_workspace* workspace, const char* const* argv,
                                      size_t argc, const cove_exec_options* options,
                                      const cove_exec_callbacks* callbacks,
                                      cove_process** out_process, cove_error** out_error) {
  return capi::start_followed(
      workspace, callbacks, out_process, out_error,
      [&](cove_workspace& handle, ExecCallbacks heard) -> Result<ExecHandle> {
        COVE_TRY(auto exec, capi::read_exec(argv, argc, options));
        return handle.client.exec_async(std::move(exec.spec), std::move(heard),
                                        std::move(exec.call), exec.stdin_mode);
      });
}

cove_status cove_workspace_attach_process(cove_workspace* workspace, const char* id,
                                          const cove_attach_options* options,
                                          const cove_exec_callbacks* callbacks,
                                          cove_process** out_process, cove_error** out_error) {
  return capi::start_followed(
      workspace, callbacks, out_process, out_error,
      [&](cove_workspace& handle, ExecCallbacks heard) -> Result<ExecHandle> {
        COVE_TRY_VOID(capi::require(id, "id"));
        COVE_TRY(auto attach, capi::read_attach(options));
        return handle.client.attach_async(ProcessId(id), attach.options, std::move(heard),
                                          std::move(attach.call));
      });
}

}  // extern "C"
