/// SandboxProcesses: the background processes of a SandboxClient. See process.hpp.
///
///     auto server = client.start_process({.argv = {"python3", "-m", "http.server"}});
///     auto log = client.process_output(server->id, {.wait_for = std::chrono::seconds(1)});
///     client.end_process(server->id);
///
/// Threads, blocking and callbacks: as of SandboxClient. All sessions of a workspace see the same
/// processes. Errors of all that take an id: kNotFound - no such process, or it was removed, or the
/// sandbox was stopped since.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <cove/bytes.hpp>
#include <cove/call_context.hpp>
#include <cove/exec_handle.hpp>
#include <cove/process.hpp>
#include <cove/result.hpp>
#include <cove/sandbox_files.hpp>

namespace cove {

class SandboxProcesses {
 public:
  /// Starts a process that nobody waits for, and gives what is known of it once the program runs.
  /// Its stdin stays open after `spec.stdin_data`. Errors: as GuestCommands::start_process.
  Result<ProcessInfo> start_process(const ExecSpec& spec, const ProcessOptions& options = {},
                                    const CallContext& call = {}) const;

  /// All that were not removed, in the order of their start.
  Result<std::vector<ProcessInfo>> list_processes(const CallContext& call = {}) const;

  /// One of them, by its id. kNotFound: it was removed, or never was.
  Result<ProcessInfo> find_process(const ProcessId& id, const CallContext& call = {}) const;

  /// Reads a part of what it wrote, also after its end.
  Result<OutputSlice> process_output(const ProcessId& id, const OutputRequest& request = {},
                                     const CallContext& call = {}) const;

  /// Gives bytes to its stdin, or closes that; several pieces: ExecHandle of attach_async. Done
  /// when they are on their way. kFailedPrecondition: its stdin is closed, or it has ended.
  /// It may not read: give the call a deadline; then, and where it ended meanwhile, the error's
  /// context says how many bytes are `written`.
  Result<void> write_process_stdin(const ProcessId& id, ByteView bytes,
                                   const CallContext& call = {}) const;
  Result<void> close_process_stdin(const ProcessId& id, const CallContext& call = {}) const;

  /// Sends a signal to its process group. kFailedPrecondition: it has ended.
  Result<void> signal_process(const ProcessId& id, std::int32_t signal,
                              const CallContext& call = {}) const;

  /// Changes the size of its terminal. kFailedPrecondition: it has none, or has ended.
  Result<void> resize_process(const ProcessId& id, TerminalSize size,
                              const CallContext& call = {}) const;

  /// Ends its tree (SIGTERM, the spec's grace, SIGKILL) and waits for that; `end` is set. Success
  /// where it has ended.
  Result<ProcessInfo> end_process(const ProcessId& id, const CallContext& call = {}) const;

  /// Waits for its end; `end` is set. When the call ends first, only the waiting does.
  Result<ProcessInfo> wait_process(const ProcessId& id, const CallContext& call = {}) const;

  /// Forgets a process that has ended, and its spill files. kFailedPrecondition: it runs.
  Result<void> remove_process(const ProcessId& id, const CallContext& call = {}) const;

  /// Gives its output to `on_output`, on the calling thread, until it has ended or the callback
  /// answers false; `end` says which. When the call ends first, only the reading does.
  using OutputSink = std::function<bool(OutputStream stream, ByteView bytes)>;
  Result<ProcessInfo> follow_process(const ProcessId& id, const AttachOptions& options,
                                     const OutputSink& on_output,
                                     const CallContext& call = {}) const;

  /// Takes hold of a process and returns at once: its output, stdin, signals and end, as of a
  /// command of exec_async. `cancel` of the handle ends the process; `detach`, the call's deadline
  /// and its stop only let go of it, and on_done gets kCancelled or kTimeout.
  ExecHandle attach_async(ProcessId id, AttachOptions options, ExecCallbacks callbacks,
                          CallContext call = {}) const;

  /// The same, through a callback that is called exactly once.
  template <class T>
  using Done = std::function<void(Result<T>)>;
  void start_process_async(ExecSpec spec, ProcessOptions options, CallContext call,
                           Done<ProcessInfo> done) const;
  void list_processes_async(CallContext call, Done<std::vector<ProcessInfo>> done) const;
  void find_process_async(ProcessId id, CallContext call, Done<ProcessInfo> done) const;
  void process_output_async(ProcessId id, OutputRequest request, CallContext call,
                            Done<OutputSlice> done) const;
  void write_process_stdin_async(ProcessId id, Bytes bytes, CallContext call,
                                 Done<void> done) const;
  void close_process_stdin_async(ProcessId id, CallContext call, Done<void> done) const;
  void signal_process_async(ProcessId id, std::int32_t signal, CallContext call,
                            Done<void> done) const;
  void resize_process_async(ProcessId id, TerminalSize size, CallContext call,
                            Done<void> done) const;
  void end_process_async(ProcessId id, CallContext call, Done<ProcessInfo> done) const;
  void wait_process_async(ProcessId id, CallContext call, Done<ProcessInfo> done) const;
  void remove_process_async(ProcessId id, CallContext call, Done<void> done) const;

 protected:
  /// As of SandboxFiles.
  using Reach = SandboxFiles::Reach;
  explicit SandboxProcesses(std::shared_ptr<const Reach> reach) : reach_(std::move(reach)) {}

 private:
  std::shared_ptr<const Reach> reach_;
};

}  // namespace cove
