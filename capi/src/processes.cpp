/// Background processes of a workspace, started and looked at: each call once waiting, once
/// starting.
#include <algorithm>
#include <limits>

#include "process_calls.hpp"

using namespace cove;

namespace cove::capi {
namespace {

Result<ProcessOptions> read_process(const cove_process_options* options) {
  COVE_TRY(const auto read, read_options(options));
  COVE_TRY_VOID(check_flags(read.reserved0, 0, "cove_process_options.reserved0"));
  constexpr std::uint64_t kMostSeconds = 24 * 60 * 60;
  if (read.keep_alive_s > kMostSeconds) {
    return Error(ErrorCode::kInvalidArgument,
                 "keep_alive_s is " + std::to_string(read.keep_alive_s) + ", over 24 h");
  }
  ProcessOptions result;
  if (read.name != nullptr) result.name = read.name;
  result.keep_alive = std::chrono::seconds(read.keep_alive_s);
  return result;
}

struct StartCall {
  ExecCall exec;
  ProcessOptions options;
};

Result<StartCall> read_start(const char* const* argv, std::size_t argc,
                             const cove_exec_options* exec, const cove_process_options* options) {
  StartCall start;
  COVE_TRY(start.exec, read_exec(argv, argc, exec));
  COVE_TRY(start.options, read_process(options));
  return start;
}

struct OutputCall {
  OutputRequest request;
  CallContext call;
};

Result<OutputCall> read_output(const cove_output_options* options) {
  COVE_TRY(const auto read, read_options(options));
  if (read.stream != 0 && read.stream != COVE_STDOUT && read.stream != COVE_STDERR) {
    return Error(ErrorCode::kInvalidArgument,
                 "stream is " + std::to_string(read.stream) + ", not COVE_STDOUT or COVE_STDERR");
  }
  OutputCall output;
  if (read.stream == COVE_STDERR) output.request.stream = OutputStream::kErr;
  output.request.offset = read.offset;
  // What is over the limit stays over it, and is refused below.
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (read.max_bytes != 0) {
    output.request.limit = static_cast<std::uint32_t>(std::min(read.max_bytes, kMost));
  }
  output.request.wait_for = milliseconds_of(read.wait_ms);
  output.call = call_of(read.timeout_ms, read.cancel);
  return output;
}

Result<cove_process_list*> list_made(std::vector<ProcessInfo> processes) {
  return new cove_process_list(std::move(processes));
}

Result<cove_output_slice*> slice_made(OutputSlice slice) {
  return new cove_output_slice{std::move(slice)};
}

}  // namespace
}  // namespace cove::capi

using namespace cove::capi;

extern "C" {

cove_status cove_workspace_start_process(cove_workspace* workspace, const char* const* argv,
                                         size_t argc, const cove_exec_options* exec,
                                         const cove_process_options* options,
                                         cove_process_info** out_info, cove_error** out_error) {
  return waiting_call(
      workspace, "workspace", out_error, [&](cove_workspace& handle) -> Result<void> {
        COVE_TRY_VOID(clear(out_info, "out_info"));
        COVE_TRY(const auto start, read_start(argv, argc, exec, options));
        COVE_TRY(auto info,
                 handle.client.start_process(start.exec.spec, start.options, start.exec.call));
        *out_info = new cove_process_info(std::move(info));
        return ok();
      });
}

cove_status cove_workspace_start_process_start(cove_workspace* workspace, const char* const* argv,
                                               size_t argc, const cove_exec_options* exec,
                                               const cove_process_options* options,
                                               cove_process_info_fn done, void* user_data,
                                               cove_drop_fn drop, cove_error** out_error) {
  return starting_call<cove_process_info>(
      workspace, "workspace", out_error, done, user_data, drop,
      [&](cove_workspace& handle, const InfoReply& reply) -> Result<void> {
        COVE_TRY(auto start, read_start(argv, argc, exec, options));
        handle.client.start_process_async(std::move(start.exec.spec), std::move(start.options),
                                          std::move(start.exec.call), answer_info(reply));
        return ok();
      });
}

cove_status cove_workspace_list_processes(cove_workspace* workspace,
                                          const cove_call_options* options,
                                          cove_process_list** out_list, cove_error** out_error) {
  return waiting_call(workspace, "workspace", out_error,
                      [&](cove_workspace& handle) -> Result<void> {
                        COVE_TRY_VOID(clear(out_list, "out_list"));
                        COVE_TRY(const auto call, read_call(options));
                        COVE_TRY(auto processes, handle.client.list_processes(call));
                        *out_list = new cove_process_list(std::move(processes));
                        return ok();
                      });
}

cove_status cove_workspace_list_processes_start(cove_workspace* workspace,
                                                const cove_call_options* options,
                                                cove_process_list_fn done, void* user_data,
                                                cove_drop_fn drop, cove_error** out_error) {
  return starting_call<cove_process_list>(
      workspace, "workspace", out_error, done, user_data, drop,
      [&](cove_workspace& handle, const auto& reply) -> Result<void> {
        COVE_TRY(auto call, read_call(options));
        handle.client.list_processes_async(std::move(call),
                                           answer<std::vector<ProcessInfo>>(reply, list_made));
        return ok();
      });
}

cove_status cove_workspace_find_process(cove_workspace* workspace, const char* id,
                                        const cove_call_options* options,
                                        cove_process_info** out_info, cove_error** out_error) {
  return ask_process_info(workspace, id, options, out_info, out_error,
                          &SandboxClient::find_process);
}

cove_status cove_workspace_find_process_start(cove_workspace* workspace, const char* id,
                                              const cove_call_options* options,
                                              cove_process_info_fn done, void* user_data,
                                              cove_drop_fn drop, cove_error** out_error) {
  return ask_process_info_start(workspace, id, options,
                                Hearer<cove_process_info_fn>{done, user_data, drop}, out_error,
                                &SandboxClient::find_process_async);
}

cove_status cove_workspace_process_output(cove_workspace* workspace, const char* id,
                                          const cove_output_options* options,
                                          cove_output_slice** out_slice, cove_error** out_error) {
  return waiting_call(
      workspace, "workspace", out_error, [&](cove_workspace& handle) -> Result<void> {
        COVE_TRY_VOID(clear(out_slice, "out_slice"));
        COVE_TRY(const auto process, read_process_id(id));
        COVE_TRY(const auto output, read_output(options));
        COVE_TRY(auto slice, handle.client.process_output(process, output.request, output.call));
        *out_slice = new cove_output_slice{std::move(slice)};
        return ok();
      });
}

cove_status cove_workspace_process_output_start(cove_workspace* workspace, const char* id,
                                                const cove_output_options* options,
                                                cove_output_slice_fn done, void* user_data,
                                                cove_drop_fn drop, cove_error** out_error) {
  return starting_call<cove_output_slice>(
      workspace, "workspace", out_error, done, user_data, drop,
      [&](cove_workspace& handle, const auto& reply) -> Result<void> {
        COVE_TRY(auto process, read_process_id(id));
        COVE_TRY(auto output, read_output(options));
        handle.client.process_output_async(std::move(process), output.request,
                                           std::move(output.call),
                                           answer<OutputSlice>(reply, slice_made));
        return ok();
      });
}

}  // extern "C"
