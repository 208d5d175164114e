/// ExecHandle: steers a command whose output comes through callbacks.
///
///     auto handle = client.exec_async({.argv = {"sort"}}, callbacks, {}, StdinMode::kOpen);
///     handle.write_stdin(bytes);
///     handle.close_stdin();
///
/// Any thread. The blocking forms must not be used on one of Cove's callbacks; the others report on
/// Cove's I/O thread, exactly once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include <cove/bytes.hpp>
#include <cove/call_context.hpp>
#include <cove/exec.hpp>
#include <cove/flow.hpp>
#include <cove/result.hpp>

namespace cove {

/// What becomes of a command's stdin after ExecSpec::stdin_data.
enum class StdinMode : std::uint8_t {
  kClosed,  ///< end of file
  kOpen,    ///< it stays open for ExecHandle::write_stdin, until close_stdin
};

/// Who hears of a command that was started.
struct ExecCallbacks {
  /// Output in order of each stream; may be empty, then output is only kept in the result.
  std::function<Flow(OutputStream stream, ByteView bytes)> on_output;

  /// Called exactly once, last.
  std::function<void(Result<ExecResult> result)> on_done;
};

/// Copies steer the same command; letting go of them ends nothing. What is asked before the command
/// was started waits for that. Errors of all but resume, cancel and detach: kFailedPrecondition -
/// the command is over, or it was started with neither an output callback nor an open stdin.
class ExecHandle {
 public:
  /// Hears how a request ended.
  using Done = std::function<void(Result<void>)>;

  /// Lets output come again after a callback answered kPause. Harmless otherwise.
  void resume() const;

  /// Ends the command's tree; on_done gets Cancelled and what was written.
  void cancel() const;

  /// Lets go of an attached process, which goes on; on_done gets kCancelled. Of a command of
  /// exec_async: as cancel.
  void detach() const;

  /// Gives bytes to the command, after those of earlier writes; done when they are on their way.
  /// A command that does not read holds a write up, from some 64 KiB on. kFailedPrecondition:
  /// also where its stdin is closed, or it ended before it took them all. Where the call ends early
  /// the error's context says how many bytes are `written`; the others never go.
  Result<void> write_stdin(ByteView bytes, const CallContext& call = {}) const;
  void write_stdin_async(Bytes bytes, CallContext call, Done done) const;

  /// End of file, after what was written. Success where it is closed already.
  Result<void> close_stdin(const CallContext& call = {}) const;
  void close_stdin_async(CallContext call, Done done) const;

  /// Sends a signal to the command's process group.
  Result<void> signal(std::int32_t signal, const CallContext& call = {}) const;
  void signal_async(std::int32_t signal, CallContext call, Done done) const;

  /// Tells the command the new size of its terminal. kFailedPrecondition: also where it has none.
  Result<void> resize(TerminalSize size, const CallContext& call = {}) const;
  void resize_async(TerminalSize size, CallContext call, Done done) const;

  class Impl;  ///< src/client
  explicit ExecHandle(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace cove
