/// Background processes of a workspace, steered and ended: each call once waiting, once starting.
#include "process_calls.hpp"

using namespace cove;
using namespace cove::capi;

extern "C" {

cove_status cove_workspace_write_process_stdin(cove_workspace* workspace, const char* id,
                                               const void* data, size_t size,
                                               const cove_call_options* options,
                                               cove_error** out_error) {
  return ask_process(workspace, id, options, out_error,
                     [&](const SandboxClient& client, const ProcessId& process,
                         const CallContext& call) -> Result<void> {
                       COVE_TRY(const auto bytes, read_data(data, size));
                       return client.write_process_stdin(process, bytes, call);
                     });
}

cove_status cove_workspace_write_process_stdin_start(cove_workspace* workspace, const char* id,
                                                     const void* data, size_t size,
                                                     const cove_call_options* options,
                                                     cove_done_fn done, void* user_data,
                                                     cove_drop_fn drop, cove_error** out_error) {
  return ask_process_start<void>(
      workspace, id, options, Hearer<cove_done_fn>{done, user_data, drop}, out_error,
      [&](const SandboxClient& client, ProcessId process, CallContext call,
          const DoneReply& reply) -> Result<void> {
        COVE_TRY(const auto bytes, read_data(data, size));
        client.write_process_stdin_async(std::move(process), copy_of(bytes), std::move(call),
                                         answer(reply));
        return ok();
      });
}

cove_status cove_workspace_close_process_stdin(cove_workspace* workspace, const char* id,
                                               const cove_call_options* options,
                                               cove_error** out_error) {
  return ask_process(workspace, id, options, out_error, &SandboxClient::close_process_stdin);
}

cove_status cove_workspace_close_process_stdin_start(cove_workspace* workspace, const char* id,
                                                     const cove_call_options* options,
                                                     cove_done_fn done, void* user_data,
                                                     cove_drop_fn drop, cove_error** out_error) {
  return ask_process_done_start(workspace, id, options, Hearer<cove_done_fn>{done, user_data, drop},
                                out_error, &SandboxClient::close_process_stdin_async);
}

cove_status cove_workspace_signal_process(cove_workspace* workspace, const char* id, int32_t signal,
                                          const cove_call_options* options,
                                          cove_error** out_error) {
  return ask_process(
      workspace, id, options, out_error,
      [&](const SandboxClient& client, const ProcessId& process, const CallContext& call) {
        return client.signal_process(process, signal, call);
      });
}

cove_status cove_workspace_signal_process_start(cove_workspace* workspace, const char* id,
                                                int32_t signal, const cove_call_options* options,
                                                cove_done_fn done, void* user_data,
                                                cove_drop_fn drop, cove_error** out_error) {
  return ask_process_start<void>(
      workspace, id, options, Hearer<cove_done_fn>{done, user_data, drop}, out_error,
      [&](const SandboxClient& client, ProcessId process, CallContext call,
          const DoneReply& reply) -> Result<void> {
        client.signal_process_async(std::move(process), signal, std::move(call), answer(reply));
        return ok();
      });
}

cove_status cove_workspace_resize_process(cove_workspace* workspace, const char* id, uint32_t rows,
                                          uint32_t columns, const cove_call_options* options,
                                          cove_error** out_error) {
  return ask_process(workspace, id, options, out_error,
                     [&](const SandboxClient& client, const ProcessId& process,
                         const CallContext& call) -> Result<void> {
                       COVE_TRY(const auto size, read_size(rows, columns));
                       return client.resize_process(process, size, call);
                     });
}

cove_status cove_workspace_resize_process_start(cove_workspace* workspace, const char* id,
                                                uint32_t rows, uint32_t columns,
                                                const cove_call_options* options, cove_done_fn done,
                                                void* user_data, cove_drop_fn drop,
                                                cove_error** out_error) {
  return ask_process_start<void>(
      workspace, id, options, Hearer<cove_done_fn>{done, user_data, drop}, out_error,
      [&](const SandboxClient& client, ProcessId process, CallContext call,
          const DoneReply& reply) -> Result<void> {
        COVE_TRY(const auto size, read_size(rows, columns));
        client.resize_process_async(std::move(process), size, std::move(call), answer(reply));
        return ok();
      });
}

cove_status cove_workspace_end_process(cove_workspace* workspace, const char* id,
                                       const cove_call_options* options,
                                       cove_process_info** out_info, cove_error** out_error) {
  return ask_process_info(workspace, id, options, out_info, out_error, &SandboxClient::end_process);
}

cove_status cove_workspace_end_process_start(cove_workspace* workspace, const char* id,
                                             const cove_call_options* options,
                                             cove_process_info_fn done, void* user_data,
                                             cove_drop_fn drop, cove_error** out_error) {
  return ask_process_info_start(workspace, id, options,
                                Hearer<cove_process_info_fn>{done, user_data, drop}, out_error,
                                &SandboxClient::end_process_async);
}

cove_status cove_workspace_wait_process(cove_workspace* workspace, const char* id,
                                        const cove_call_options* options,
                                        cove_process_info** out_info, cove_error** out_error) {
  return ask_process_info(workspace, id, options, out_info, out_error,
                          &SandboxClient::wait_process);
}

cove_status cove_workspace_wait_process_start(cove_workspace* workspace, const char* id,
                                              const cove_call_options* options,
                                              cove_process_info_fn done, void* user_data,
                                              cove_drop_fn drop, cove_error** out_error) {
  return ask_process_info_start(workspace, id, options,
                                Hearer<cove_process_info_fn>{done, user_data, drop}, out_error,
                                &SandboxClient::wait_process_async);
}

cove_status cove_workspace_remove_process(cove_workspace* workspace, const char* id,
                                          const cove_call_options* options,
                                          cove_error** out_error) {
  return ask_process(workspace, id, options, out_error, &SandboxClient::remove_process);
}

cove_status cove_workspace_remove_process_start(cove_workspace* workspace, const char* id,
                                                const cove_call_options* options, cove_done_fn done,
                                                void* user_data, cove_drop_fn drop,
                                                cove_error** out_error) {
  return ask_process_done_start(workspace, id, options, Hearer<cove_done_fn>{done, user_data, drop},
                                out_error, &SandboxClient::remove_process_async);
}

}  // extern "C"
