/// What a guest does with commands: the part of the seam guest.hpp that runs programs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <cove/bytes.hpp>
#include <cove/exec.hpp>
#include <cove/process.hpp>

namespace cove {

/// A running command whose output is read as it comes. Reading is what gives credit: a command
/// whose output nobody reads waits. One thread at a time.
class GuestProcess {
 public:
  /// Lets go of the command: a foreground one that still runs is cancelled (its tree is ended), in
  /// the background; a background process goes on.
  virtual ~GuestProcess() = default;

  /// Gives the next output of either stream; a chunk without bytes = both are at their end.
  /// Cancellation: nothing happened.
  virtual Task<Result<OutputChunk>> next_output(const CallContext& call) = 0;

  /// Done when all bytes are on their way. kTimeout, kCancelled: the context's `written` says how
  /// many are; the others never go. kFailedPrecondition: closed; or it ended before it took them
  /// all, then with `written`.
  virtual Task<Result<void>> write_stdin(ByteView bytes, const CallContext& call) = 0;
  /// End of file, after what was written.
  virtual Task<Result<void>> close_stdin(const CallContext& call) = 0;

  /// Sends `signal` to the command's process group. kNotFound: it has ended.
  virtual Task<Result<void>> signal(std::int32_t signal, const CallContext& call) = 0;

  /// Changes the size of its terminal. kFailedPrecondition: it has none. kNotFound: it has ended.
  virtual Task<Result<void>> resize(TerminalSize size, const CallContext& call) = 0;

  /// Ends the command's tree (SIGTERM, the spec's grace, SIGKILL); `wait` then gives Cancelled.
  /// Success where the command has ended.
  virtual Task<Result<void>> cancel(const CallContext& call) = 0;

  /// Waits for the end. The result holds the output within the spec's limits, read or not. When the
  /// call's deadline passes or it is cancelled, only the waiting ends.
  virtual Task<Result<ExecResult>> wait(const CallContext& call) = 0;
};

/// Runs programs in an instance.
class GuestCommands {
 public:
  virtual ~GuestCommands() = default;

  /// Runs a command to its end in one exchange; output within `spec.output` is in the result.
  /// When the deadline passes or the call is cancelled, the tree is ended and the result comes back
  /// with Cancelled or TimedOut and what was written until then. `session`: as in GuestPath;
  /// `spec.cwd` is resolved from there. Errors: kNotFound - no such program or directory;
  /// kPermissionDenied - not executable; kInvalidArgument; kUnavailable.
  virtual Task<Result<ExecResult>> run(const std::string& session, const ExecSpec& spec,
                                       const CallContext& call) = 0;

  /// Starts a command whose output is read as it comes. Its stdin stays open for write_stdin after
  /// `spec.stdin_data` when `keep_stdin`. Errors: as `run`.
  virtual Task<Result<std::shared_ptr<GuestProcess>>> start(const std::string& session,
                                                            const ExecSpec& spec, bool keep_stdin,
                                                            const CallContext& call) = 0;

  /// Starts a background process and gives what is known of it once the program runs. Errors: as
  /// `run`; kQuotaExceeded - 256 processes are there, ended ones included.
  virtual Task<Result<ProcessInfo>> start_process(const std::string& session, const ExecSpec& spec,
                                                  const ProcessOptions& options,
                                                  const CallContext& call) = 0;

  /// All background processes that were not removed, in the order of their start.
  virtual Task<Result<std::vector<ProcessInfo>>> list_processes(const CallContext& call) = 0;

  /// kNotFound: no such process, or it was removed.
  virtual Task<Result<ProcessInfo>> find_process(const ProcessId& id, const CallContext& call) = 0;

  /// Reads a part of what a process wrote, also after its end. Errors: kNotFound;
  /// kInvalidArgument - an offset past what was written.
  virtual Task<Result<OutputSlice>> process_output(const ProcessId& id,
                                                   const OutputRequest& request,
                                                   const CallContext& call) = 0;

  /// Takes hold of a process: its output from an offset on as it comes, its stdin, signals and end.
  /// Several may at once; each reads all output, and the process waits for none of them.
  virtual Task<Result<std::shared_ptr<GuestProcess>>> attach(const ProcessId& id,
                                                             const AttachOptions& options,
                                                             const CallContext& call) = 0;

  /// Forgets a process that has ended, and its spill files. kFailedPrecondition: it runs.
  virtual Task<Result<void>> remove_process(const ProcessId& id, const CallContext& call) = 0;
};

}  // namespace cove
