#include "client/process_follow.hpp"

#include <utility>

#include "client/host_calls.hpp"
#include "client/process_calls.hpp"

namespace cove::client {
namespace {

using Hold = std::shared_ptr<GuestProcess>;

/// True at the end of both streams, false where the host has enough.
Result<bool> give_output(Scheduler& scheduler, GuestProcess& process,
                         const SandboxProcesses::OutputSink& on_output, const CallContext& call) {
  for (;;) {
    COVE_TRY(const OutputChunk chunk, base::sync_wait(scheduler, process.next_output(call)));
    if (chunk.bytes.empty()) return true;
    if (!on_output) continue;
    COVE_TRY(const bool more, call_host<bool>("the output callback", on_output, chunk.stream,
                                              ByteView(chunk.bytes)));
    if (!more) return false;
  }
}

}  // namespace

Result<ProcessInfo> follow_process(GuestLink& link, const ProcessId& id,
                                   const AttachOptions& options,
                                   const SandboxProcesses::OutputSink& on_output,
                                   const CallContext& call) {
  return run_here<ProcessInfo>(link, call, [&](const CallContext& inner) -> Result<ProcessInfo> {
    Scheduler& scheduler = link.scheduler();
    AttachCall attaching{id, options};
    COVE_TRY(Hold opened, base::sync_wait(scheduler, ask_call(link, std::move(attaching), inner)));
    const Held<Hold> held(scheduler, std::make_unique<Hold>(std::move(opened)));
    GuestProcess& process = **held;
    COVE_TRY(const bool at_end, give_output(scheduler, process, on_output, inner));
    if (at_end) {
      COVE_TRY_VOID(base::sync_wait(scheduler, process.wait(inner)));
    }
    FindProcessCall looking{id};
    return base::sync_wait(scheduler, ask_call(link, std::move(looking), inner));
  });
}

}  // namespace cove::client
