#include "client/exec_calls.hpp"

#include "client/guest_calls.hpp"
#include "client/host_calls.hpp"

namespace cove::client {
namespace {

/// Gives all output away, until both streams are at their end. The next piece is asked for only
/// when the callback wants it: not asking is what slows the command down.
Task<Result<void>> pump_output(GuestLink& link, GuestProcess& process,
                               const StreamedCommand& command, const CallContext& call) {
  for (;;) {
    COVE_CO_TRY(const OutputChunk chunk, co_await process.next_output(call));
    link.note_answer();
    if (chunk.bytes.empty()) co_return ok();
    command.steering->expect_resume();
    const ByteView bytes(chunk.bytes);
    COVE_CO_TRY(const Flow flow,
                call_host<Flow>("the output callback", command.on_output, chunk.stream, bytes));
    if (flow == Flow::kContinue) continue;
    COVE_CO_TRY_VOID(co_await command.steering->wait_resumed(link.scheduler(), call));
  }
}

/// True where the caller's side ended the command, and it still has to be ended inside.
bool ends_the_tree(const Error& reason) {
  return reason.code() == ErrorCode::kCancelled || reason.code() == ErrorCode::kTimeout ||
         reason.code() == ErrorCode::kInternal;
}

/// Ends the tree and gives the result with what was written until then; a fault of the callback
/// stays an error. The caller's own time is over, so this has a bound of its own.
Task<Result<ExecResult>> end_early(GuestLink& link, GuestProcess& process, const ExecSpec& spec,
                                   const Error& reason) {
  constexpr std::chrono::seconds kForAnswers{10};
  const CallContext bound{.deadline = link.clock().now() + spec.kill_grace + kForAnswers,
                          .stop = {}};
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
  auto ask = [&session, &spec](Guest& guest, const CallContext& inner) {
    return guest.run(session, spec, inner);
  };
  co_return co_await ask_guest<ExecResult>(link, Repeat::kNever, call, ask);
}

Task<Result<ExecResult>> stream_command(GuestLink& link, const StreamedCommand& command,
                                        const CallContext& call) {
  auto ask = [&command](Guest& guest, const CallContext& inner) {
    return guest.start(command.session, command.spec, false, inner);
  };
  COVE_CO_TRY(const std::shared_ptr<GuestProcess> process,
              co_await ask_guest<std::shared_ptr<GuestProcess>>(link, Repeat::kNever, call, ask));
  Result<void> pumped = co_await pump_output(link, *process, command, call);
  if (!pumped && ends_the_tree(pumped.error())) {
    co_return co_await end_early(link, *process, command.spec, pumped.error());
  }
  if (!pumped) {
    link.note_error(pumped.error());
    co_return pumped.error();
  }
  Result<ExecResult> result = co_await process->wait(call);
  if (!result && ends_the_tree(result.error())) {
    co_return co_await end_early(link, *process, command.spec, result.error());
  }
  if (!result) link.note_error(result.error());
  co_return result;
}

}  // namespace cove::client
