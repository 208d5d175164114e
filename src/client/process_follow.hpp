/// A background process whose output is given to the calling thread.
#pragma once

#include <functional>

#include <cove/sandbox_processes.hpp>

#include "client/guest_link.hpp"

namespace cove::client {

/// Gives output to `on_output`, on the calling thread, until the end or until it answers false.
Result<ProcessInfo> follow_process(GuestLink& link, const ProcessId& id,
                                   const AttachOptions& options,
                                   const SandboxProcesses::OutputSink& on_output,
                                   const CallContext& call);

}  // namespace cove::client
