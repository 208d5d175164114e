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

/// The same, blocking.
Result<ExecResult> wait_for_command(GuestLink& link, const std::string& session,
                                    const ExecSpec& spec, const CallContext& call);

using OnOutput = std::function<Flow(OutputStream, ByteView)>;

/// What steers a command whose output is given away as it comes; without `on_output` it is only
/// kept.
struct StreamedCommand {
  std::string session;
  ExecSpec spec;
  StdinMode stdin_mode = StdinMode::kClosed;
  OnOutput on_output;
  std::shared_ptr<ExecSteering> steering;
};

/// Runs it to its end. An exception of `on_output` ends the tree and becomes kInternal.
Task<Result<ExecResult>> stream_command(GuestLink& link, const StreamedCommand& command,
                                        const CallContext& call);

/// What steers a background process that is attached to.
struct AttachedProcess {
  ProcessId id;
  AttachOptions options;
  OnOutput on_output;
  std::shared_ptr<ExecSteering> steering;
};

/// Gives its output away until its end. Where the call ends first, the process is ended only where
/// its steering was cancelled; an exception of `on_output` lets go of it and becomes kInternal.
Task<Result<ExecResult>> stream_attached(GuestLink& link, const AttachedProcess& attached,
                                         const CallContext& call);

/// Each asks the command of a handle, once it was started. kFailedPrecondition: it is over.
Task<Result<void>> write_stdin(GuestLink& link, ExecSteering& steering, ByteView bytes,
                               const CallContext& call);
Task<Result<void>> close_stdin(GuestLink& link, ExecSteering& steering, const CallContext& call);
Task<Result<void>> send_signal(GuestLink& link, ExecSteering& steering, std::int32_t signal,
                               const CallContext& call);
Task<Result<void>> resize(GuestLink& link, ExecSteering& steering, TerminalSize size,
                          const CallContext& call);

/// What is asked of a command that has ended is no question of its id any more.
Result<void> ended_if_missing(Result<void> answer);

}  // namespace cove::client
