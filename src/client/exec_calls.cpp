#include "client/exec_calls.hpp"

#include <optional>

#include "client/command_environment.hpp"
#include "client/exchange.hpp"
#include "client/process_calls.hpp"

namespace cove::client {
namespace {

/// Gives all output away, until both streams are at their end. The next piece is asked for only
/// when the callback wants it: not asking is what slows the command down.
Task<Result<void>> pump_output(GuestLink& link, GuestProcess& process, const OnOutput& on_output,
                               ExecSteering& steering, const CallContext& call) {
  // Whoever waits for the end takes what comes until then.
  if (!on_output) co_return ok();
  for (;;) {
    COVE_CO_TRY(const OutputChunk chunk, co_await process.next_output(call));
    link.note_answer();
    if (chunk.bytes.empty()) co_return ok();
    steering.expect_resume();
    const ByteView bytes(chunk.bytes);
    COVE_CO_TRY(const Flow flow,
                call_host<Flow>("the output callback", on_output, chunk.stream, bytes));
    if (flow == Flow::kContinue) continue;
    COVE_CO_TRY_VOID(co_await steering.wait_resumed(link.scheduler(), call));
  }
}

/// The command with the workspace's variables; none where it has none, so that nothing is copied.
std::optional<ExecSpec> dress(const GuestLink& link, const ExecSpec& spec) {
  if (link.environment().empty()) return std::nullopt;
  return in_environment(link, spec);
}

/// Asks for a command whose output is only kept. Session and spec outlive it.
class Run {
 public:
  Run(const GuestLink& link, const std::string& session, const ExecSpec& spec)
      : session_(session), spec_(spec), dressed_(dress(link, spec)) {}

  Task<Result<ExecResult>> operator()(Guest& guest, const CallContext& call) const {
    return guest.run(session_, dressed_ ? *dressed_ : spec_, call);
  }

 private:
  const std::string& session_;
  const ExecSpec& spec_;
  std::optional<ExecSpec> dressed_;
};

/// True where the caller's side ended the command, and it still has to be ended inside.
bool ends_the_tree(const Error& reason) {
  return reason.code() == ErrorCode::kCancelled || reason.code() == ErrorCode::kTimeout ||
         reason.code() == ErrorCode::kInternal;
}

/// Ends the tree and gives the result with what was written until then; a fault of the callback
/// stays an error. The caller's own time is over, so this has a bound of its own.
Task<Result<ExecResult>> end_early(GuestLink& link, GuestProcess& process,
                                   std::chrono::milliseconds grace, const Error& reason) {
  constexpr std::chrono::seconds kForAnswers{10};
  const CallContext bound{.deadline = link.clock().now() + grace + kForAnswers, .stop = {}};
  Result<void> cancelled = co_await process.cancel(bound);
  Result<ExecResult> result = co_await process.wait(bound);
  if (reason.code() == ErrorCode::kInternal) co_return reason;
  if (!result) {
    co_return Error(reason).with_cause(result.error());
  }
  const bool by_us = std::holds_alternative<Cancelled>(result->outcome);
  if (by_us && reason.code() == ErrorCode::kTimeout) result->outcome = TimedOut{};
  if (!cancelled) link.note_error(cancelled.error());
  co_return result;
}

}  // namespace

Task<Result<ExecResult>> run_command(GuestLink& link, const std::string& session,
                                     const ExecSpec& spec, const CallContext& call) {
  Run run(link, session, spec);
  co_return co_await ask_guest<ExecResult>(link, Repeat::kNever, call, run);
}

Result<ExecResult> wait_for_command(GuestLink& link, const std::string& session,
                                    const ExecSpec& spec, const CallContext& call) {
  return exchange<ExecResult>(link, Repeat::kNever, call, Run(link, session, spec));
}

Task<Result<ExecResult>> stream_command(GuestLink& link, const StreamedCommand& command,
                                        const CallContext& call) {
  const EndOfSteering end(*command.steering);
  const bool keep_stdin = command.stdin_mode == StdinMode::kOpen;
  const std::optional<ExecSpec> dressed = dress(link, command.spec);
  const ExecSpec& whole = dressed ? *dressed : command.spec;
  auto ask = [&command, &whole, keep_stdin](Guest& guest, const CallContext& inner) {
    return guest.start(command.session, whole, keep_stdin, inner);
  };
  COVE_CO_TRY(const std::shared_ptr<GuestProcess> process,
              co_await ask_guest<std::shared_ptr<GuestProcess>>(link, Repeat::kNever, call, ask));
  command.steering->start(process);
  const std::chrono::milliseconds grace = command.spec.kill_grace;
  Result<void> pumped =
      co_await pump_output(link, *process, command.on_output, *command.steering, call);
  if (!pumped && ends_the_tree(pumped.error())) {
    co_return co_await end_early(link, *process, grace, pumped.error());
  }
  if (!pumped) {
    link.note_error(pumped.error());
    co_return pumped.error();
  }
  Result<ExecResult> result = co_await process->wait(call);
  if (!result && ends_the_tree(result.error())) {
    co_return co_await end_early(link, *process, grace, result.error());
  }
  if (!result) link.note_error(result.error());
  co_return result;
}

Task<Result<ExecResult>> stream_attached(GuestLink& link, const AttachedProcess& attached,
                                         const CallContext& call) {
  // The agent knows the process's own; this one only bounds the wait for it.
  constexpr std::chrono::minutes kLongestGrace{1};
  const EndOfSteering end(*attached.steering);
  const AttachCall attach{attached.id, attached.options};
  Result<std::shared_ptr<GuestProcess>> held = co_await ask_call(link, attach, call);
  if (!held && attached.steering->is_cancelled()) {
    // It was to be ended before it was reached: the call is over, the wish is not.
    const CallContext bound{.deadline = link.clock().now() + kLongestGrace, .stop = {}};
    held = co_await ask_call(link, attach, bound);
  }
  if (!held) co_return held.error();
  const std::shared_ptr<GuestProcess> process = *held;
  attached.steering->start(process);
  Result<void> pumped =
      co_await pump_output(link, *process, attached.on_output, *attached.steering, call);
  Result<ExecResult> result = pumped ? Result<ExecResult>(ExecResult{}) : pumped.error();
  if (pumped) result = co_await process->wait(call);
  if (result) co_return result;
  const bool is_ours = result.error().code() == ErrorCode::kCancelled;
  if (is_ours && attached.steering->is_cancelled()) {
    co_return co_await end_early(link, *process, kLongestGrace, result.error());
  }
  if (!ends_the_tree(result.error())) link.note_error(result.error());
  co_return result;
}

Result<void> ended_if_missing(Result<void> answer) {
  if (answer || answer.error().code() != ErrorCode::kNotFound) return answer;
  return Error(ErrorCode::kFailedPrecondition, "the command has ended");
}

Task<Result<void>> write_stdin(GuestLink& link, ExecSteering& steering, ByteView bytes,
                               const CallContext& call) {
  COVE_CO_TRY(const auto process, co_await steering.process(link.scheduler(), call));
  co_return co_await process->write_stdin(bytes, call);
}

Task<Result<void>> close_stdin(GuestLink& link, ExecSteering& steering, const CallContext& call) {
  COVE_CO_TRY(const auto process, co_await steering.process(link.scheduler(), call));
  co_return co_await process->close_stdin(call);
}

Task<Result<void>> send_signal(GuestLink& link, ExecSteering& steering, std::int32_t signal,
                               const CallContext& call) {
  COVE_CO_TRY(const auto process, co_await steering.process(link.scheduler(), call));
  Result<void> answer = co_await process->signal(signal, call);
  co_return ended_if_missing(std::move(answer));
}

Task<Result<void>> resize(GuestLink& link, ExecSteering& steering, TerminalSize size,
                          const CallContext& call) {
  COVE_CO_TRY(const auto process, co_await steering.process(link.scheduler(), call));
  Result<void> answer = co_await process->resize(size, call);
  co_return ended_if_missing(std::move(answer));
}

}  // namespace cove::client
