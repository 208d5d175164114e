#include "support/fakes/fake_guest.hpp"

#include <algorithm>

namespace cove::testing {
namespace {

class FakeProcess final : public GuestProcess {
 public:
  FakeProcess(Scheduler& scheduler, FakeCommand command, FakeGuestLog& log)
      : scheduler_(scheduler), command_(std::move(command)), log_(log) {}

  Task<Result<OutputChunk>> next_output(const CallContext& call) override {
    ++log_.outputs_asked;
    COVE_CO_TRY_VOID(stopped(call));
    if (given_ < command_.output.size()) co_return command_.output[given_++];
    if (!command_.ends && !log_.process_cancelled) {
      const auto never = base::Completion<Result<void>>::make(scheduler_);
      COVE_CO_TRY_VOID(co_await base::wait_bounded<void>(never, scheduler_, call));
    }
    co_return OutputChunk{};
  }

  Task<Result<void>> write_stdin(ByteView bytes, const CallContext& call) override {
    log_.stdin_deadline = call.deadline;
    if (command_.stdin_fault) co_return *command_.stdin_fault;
    log_.stdin_text += text_of(bytes);
    co_return ok();
  }
  Task<Result<void>> close_stdin(const CallContext& /*call*/) override {
    log_.stdin_closed = true;
    co_return ok();
  }
  Task<Result<void>> signal(std::int32_t signal, const CallContext& /*call*/) override {
    log_.signals.push_back(signal);
    co_return ok();
  }
  Task<Result<void>> resize(TerminalSize size, const CallContext& /*call*/) override {
    log_.sizes.push_back(size);
    co_return ok();
  }

  Task<Result<void>> cancel(const CallContext& /*call*/) override {
    log_.process_cancelled = true;
    if (!command_.ends) command_.result.outcome = Cancelled{};
    co_return ok();
  }

  Task<Result<ExecResult>> wait(const CallContext& call) override {
    COVE_CO_TRY_VOID(stopped(call));
    co_return command_.result;
  }

 private:
  static Result<void> stopped(const CallContext& call) {
    if (call.stop.stop_requested()) return Error(ErrorCode::kCancelled, "cancelled");
    return ok();
  }

  Scheduler& scheduler_;
  FakeCommand command_;
  FakeGuestLog& log_;
  std::size_t given_ = 0;
};

}  // namespace

Bytes bytes_of(std::string_view text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

std::string text_of(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<void> FakeGuest::begin(const char* name, const CallContext& call) {
  log.calls.emplace_back(name);
  log.fences.push_back(call.fence);
  if (faults.empty()) return ok();
  const Error fault = faults.front();
  faults.pop_front();
  return fault;
}

Task<Result<GuestStatus>> FakeGuest::status(const CallContext& call) {
  COVE_CO_TRY_VOID(begin("status", call));
  co_return GuestStatus{};
}

Task<Result<ExecResult>> FakeGuest::run(const std::string& session, const ExecSpec& spec,
                                        const CallContext& call) {
  COVE_CO_TRY_VOID(begin("run", call));
  if (on_run) co_return on_run(session, spec);
  ExecResult result = command.result;
  if (run_hangs) {
    const auto never = base::Completion<Result<void>>::make(scheduler_);
    if (when_hanging) scheduler_.post(when_hanging);
    Result<void> ended = co_await base::wait_bounded<void>(never, scheduler_, call);
    const bool late = ended.error().code() == ErrorCode::kTimeout;
    result.outcome = late ? Outcome(TimedOut{}) : Outcome(Cancelled{});
    co_return result;
  }
  result.out.head += session + ":" + spec.argv.front();
  co_return result;
}

Task<Result<std::shared_ptr<GuestProcess>>> FakeGuest::start(const std::string& /*session*/,
                                                             const ExecSpec& /*spec*/,
                                                             bool keep_stdin,
                                                             const CallContext& call) {
  COVE_CO_TRY_VOID(begin("start", call));
  log.stdin_kept = keep_stdin;
  co_return std::shared_ptr<GuestProcess>(std::make_shared<FakeProcess>(scheduler_, command, log));
}

Result<ProcessInfo*> FakeGuest::process(const ProcessId& id) {
  for (auto& info : processes) {
    if (info.id == id) return &info;
  }
  return Error(ErrorCode::kNotFound, "there is no process with such an id");
}

Task<Result<ProcessInfo>> FakeGuest::start_process(const std::string& session, const ExecSpec& spec,
                                                   const ProcessOptions& options,
                                                   const CallContext& call) {
  COVE_CO_TRY_VOID(begin("start_process", call));
  const std::string number = std::to_string(processes.size() + 1);
  ProcessInfo info;
  info.id = ProcessId(std::string(32 - number.size(), '0') + number);
  info.name = options.name;
  info.command = spec.argv.empty() ? spec.shell_line : spec.argv.front();
  info.cwd = session;
  info.keep_alive = options.keep_alive;
  info.stdin_open = true;
  for (const auto& chunk : command.output) {
    (chunk.stream == OutputStream::kOut ? info.out_bytes : info.err_bytes) += chunk.bytes.size();
  }
  if (command.ends) info.end = command.result;
  processes.push_back(info);
  co_return info;
}

Task<Result<std::vector<ProcessInfo>>> FakeGuest::list_processes(const CallContext& call) {
  COVE_CO_TRY_VOID(begin("list_processes", call));
  co_return processes;
}

Task<Result<ProcessInfo>> FakeGuest::find_process(const ProcessId& id, const CallContext& call) {
  COVE_CO_TRY_VOID(begin("find_process", call));
  COVE_CO_TRY(ProcessInfo* const found, process(id));
  if (log.process_cancelled && !found->end) {
    found->end.emplace();
    found->end->outcome = Cancelled{};
  }
  co_return *found;
}

Task<Result<OutputSlice>> FakeGuest::process_output(const ProcessId& id,
                                                    const OutputRequest& request,
                                                    const CallContext& call) {
  COVE_CO_TRY_VOID(begin("process_output", call));
  COVE_CO_TRY(const ProcessInfo* const found, process(id));
  std::string text;
  for (const auto& chunk : command.output) {
    if (chunk.stream == request.stream) text += text_of(chunk.bytes);
  }
  if (request.offset > text.size()) {
    co_return Error(ErrorCode::kInvalidArgument, "the offset lies past what was written");
  }
  OutputSlice slice;
  slice.offset = request.offset;
  slice.bytes = bytes_of(std::string_view(text).substr(request.offset, request.limit));
  slice.next = slice.offset + slice.bytes.size();
  slice.at_end = found->end && slice.next == text.size();
  co_return slice;
}

Task<Result<std::shared_ptr<GuestProcess>>> FakeGuest::attach(const ProcessId& id,
                                                              const AttachOptions& /*options*/,
                                                              const CallContext& call) {
  COVE_CO_TRY_VOID(begin("attach", call));
  COVE_CO_TRY_VOID(process(id));
  co_return std::shared_ptr<GuestProcess>(std::make_shared<FakeProcess>(scheduler_, command, log));
}

Task<Result<void>> FakeGuest::remove_process(const ProcessId& id, const CallContext& call) {
  COVE_CO_TRY_VOID(begin("remove_process", call));
  COVE_CO_TRY(const ProcessInfo* const found, process(id));
  if (!found->end) co_return Error(ErrorCode::kFailedPrecondition, "the process runs");
  std::erase_if(processes, [&](const ProcessInfo& info) { return info.id == id; });
  co_return ok();
}

Task<Result<void>> FakeGuest::sync(const CallContext& call) {
  COVE_CO_TRY_VOID(begin("sync", call));
  co_return ok();
}

}  // namespace cove::testing
