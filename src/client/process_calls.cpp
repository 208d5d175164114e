#include "client/process_calls.hpp"

#include <utility>

#include "client/exec_calls.hpp"

namespace cove::client {
namespace {

using Hold = std::shared_ptr<GuestProcess>;

/// Takes hold of a process for one question; none of its output is asked for.
Task<Result<Hold>> hold(Guest& guest, const ProcessId& id, const CallContext& call) {
  AttachOptions options;
  options.only_new = true;
  co_return co_await guest.attach(id, options, call);
}

/// One write to a closed stdin is told too late, so it is looked at before.
Task<Result<Hold>> hold_for_input(Guest& guest, const ProcessId& id, const CallContext& call) {
  COVE_CO_TRY(const ProcessInfo info, co_await guest.find_process(id, call));
  if (info.end) co_return Error(ErrorCode::kFailedPrecondition, "the process has ended");
  if (!info.stdin_open) {
    co_return Error(ErrorCode::kFailedPrecondition, "the process's stdin is closed");
  }
  co_return co_await hold(guest, id, call);
}

Task<Result<void>> write(Guest& guest, const ProcessId& id, ByteView bytes,
                         const CallContext& call) {
  COVE_CO_TRY(const Hold process, co_await hold_for_input(guest, id, call));
  co_return co_await process->write_stdin(bytes, call);
}

Task<Result<ProcessInfo>> ended(Guest& guest, const ProcessId& id, bool end_it,
                                const CallContext& call) {
  COVE_CO_TRY(const Hold process, co_await hold(guest, id, call));
  if (end_it) {
    COVE_CO_TRY_VOID(co_await process->cancel(call));
  }
  COVE_CO_TRY_VOID(co_await process->wait(call));
  // It knows all of the output, where the waiting saw only a part.
  co_return co_await guest.find_process(id, call);
}

}  // namespace

Task<Result<void>> WriteStdinCall::operator()(Guest& guest, const CallContext& call) const {
  return write(guest, id, bytes, call);
}

Task<Result<void>> WriteOwnStdinCall::operator()(Guest& guest, const CallContext& call) const {
  return write(guest, id, bytes, call);
}

Task<Result<void>> CloseStdinCall::operator()(Guest& guest, const CallContext& call) const {
  COVE_CO_TRY(const Hold process, co_await hold(guest, id, call));
  co_return co_await process->close_stdin(call);
}

Task<Result<void>> SignalCall::operator()(Guest& guest, const CallContext& call) const {
  COVE_CO_TRY(const Hold process, co_await hold(guest, id, call));
  Result<void> answer = co_await process->signal(signal, call);
  co_return ended_if_missing(std::move(answer));
}

Task<Result<void>> ResizeCall::operator()(Guest& guest, const CallContext& call) const {
  COVE_CO_TRY(const Hold process, co_await hold(guest, id, call));
  Result<void> answer = co_await process->resize(size, call);
  co_return ended_if_missing(std::move(answer));
}

Task<Result<ProcessInfo>> EndProcessCall::operator()(Guest& guest, const CallContext& call) const {
  return ended(guest, id, true, call);
}

Task<Result<ProcessInfo>> WaitProcessCall::operator()(Guest& guest, const CallContext& call) const {
  return ended(guest, id, false, call);
}

}  // namespace cove::client
