/// What the calls about one background process have in common.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "handles.hpp"
#include "options.hpp"
#include "process_info.hpp"

namespace cove::capi {

inline Result<ProcessId> read_process_id(const char* id) {
  COVE_TRY_VOID(require(id, "id"));
  return ProcessId(id);
}

/// A call about one process that waits: `body` is a member of SandboxClient, or anything else that
/// is called as (client, id, call) -> Result<void>.
template <class Body>
cove_status ask_process(cove_workspace* workspace, const char* id, const cove_call_options* options,
                        cove_error** out_error, Body&& body) {
  return waiting_call(workspace, "workspace", out_error,
                      [&](cove_workspace& handle) -> Result<void> {
                        COVE_TRY(const auto process, read_process_id(id));
                        COVE_TRY(const auto call, read_call(options));
                        return std::invoke(body, handle.client, process, call);
                      });
}

/// The same of one that gives what is known of the process: body gives a Result<ProcessInfo>.
template <class Body>
cove_status ask_process_info(cove_workspace* workspace, const char* id,
                             const cove_call_options* options, cove_process_info** out_info,
                             cove_error** out_error, Body&& body) {
  return waiting_call(workspace, "workspace", out_error,
                      [&](cove_workspace& handle) -> Result<void> {
                        COVE_TRY_VOID(clear(out_info, "out_info"));
                        COVE_TRY(const auto process, read_process_id(id));
                        COVE_TRY(const auto call, read_call(options));
                        COVE_TRY(auto info, std::invoke(body, handle.client, process, call));
                        *out_info = new cove_process_info(std::move(info));
                        return ok();
                      });
}

/// How the host hears of a started call.
template <class Function>
struct Hearer {
  Function done;
  void* user_data;
  cove_drop_fn drop;
};

/// The body of a call about one process that starts: body(client, id, call, reply).
template <class Out, class Function, class Body>
cove_status ask_process_start(cove_workspace* workspace, const char* id,
                              const cove_call_options* options, const Hearer<Function>& hearer,
                              cove_error** out_error, Body&& body) {
  return starting_call<Out>(
      workspace, "workspace", out_error, hearer.done, hearer.user_data, hearer.drop,
      [&](cove_workspace& handle, const auto& reply) -> Result<void> {
        COVE_TRY(auto process, read_process_id(id));
        COVE_TRY(auto call, read_call(options));
        return body(handle.client, std::move(process), std::move(call), reply);
      });
}

inline Result<cove_process_info*> info_made(ProcessInfo info) {
  return new cove_process_info(std::move(info));
}

using DoneReply = std::shared_ptr<Reply<void>>;
using InfoReply = std::shared_ptr<Reply<cove_process_info>>;

inline std::function<void(Result<ProcessInfo>)> answer_info(const InfoReply& reply) {
  return answer<ProcessInfo>(reply, info_made);
}

/// One that starts and gives what is known of the process.
using StartsForInfo = void (SandboxProcesses::*)(ProcessId, CallContext,
                                                 SandboxProcesses::Done<ProcessInfo>) const;

inline cove_status ask_process_info_start(cove_workspace* workspace, const char* id,
                                          const cove_call_options* options,
                                          const Hearer<cove_process_info_fn>& hearer,
                                          cove_error** out_error, StartsForInfo member) {
  return ask_process_start<cove_process_info>(
      workspace, id, options, hearer, out_error,
      [member](const SandboxClient& client, ProcessId process, CallContext call,
               const InfoReply& reply) -> Result<void> {
        (client.*member)(std::move(process), std::move(call), answer_info(reply));
        return ok();
      });
}

/// One that starts and gives nothing.
using StartsForNothing = void (SandboxProcesses::*)(ProcessId, CallContext,
                                                    SandboxProcesses::Done<void>) const;

inline cove_status ask_process_done_start(cove_workspace* workspace, const char* id,
                                          const cove_call_options* options,
                                          const Hearer<cove_done_fn>& hearer,
                                          cove_error** out_error, StartsForNothing member) {
  return ask_process_start<void>(
      workspace, id, options, hearer, out_error,
      [member](const SandboxClient& client, ProcessId process, CallContext call,
               const DoneReply& reply) -> Result<void> {
        (client.*member)(std::move(process), std::move(call), answer(reply));
        return ok();
      });
}

inline Bytes copy_of(ByteView bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace cove::capi
