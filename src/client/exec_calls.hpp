/// Commands of a client, as coroutines on the scheduler. All references outlive the task.
#pragma once

#include <functional>
#include <string>

#include "client/exec_steering.hpp"
#include "client/guest_link.hpp"

namespace cove::client {

/// Runs a command whose output is only kept.
Task<Result<ExecResult>> run_command(GuestLink& link, const std::string& session,
                                     const ExecSpec& spec, const CallContext& call);

using OnOutput = std::function<Flow(OutputStream, ByteView)>;

/// What steers a command whose output is given away as it comes.
struct StreamedCommand {
  std::string session;
  ExecSpec spec;
  OnOutput on_output;
  std::shared_ptr<ExecSteering> steering;
};

/// Runs it to its end. An exception of `on_output` ends the tree and becomes kInternal.
Task<Result<ExecResult>> stream_command(GuestLink& link, const StreamedCommand& command,
                                        const CallContext& call);

}  // namespace cove::client
