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

  Task<Result<void>> write_stdin(ByteView /*bytes*/, const CallContext& /*call*/) override {
    co_return ok();
  }
  Task<Result<void>> close_stdin(const CallContext& /*call*/) override { co_return ok(); }
  Task<Result<void>> signal(std::int32_t /*signal*/, const CallContext& /*call*/) override {
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

/// A file's bytes in small pieces.
class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string text) : rest_(std::move(text)) {}

  Task<Result<Bytes>> next(const CallContext& /*call*/) override {
    constexpr std::size_t kPiece = 64 * 1024;
    Bytes piece = bytes_of(std::string_view(rest_).substr(0, kPiece));
    rest_.erase(0, piece.size());
    co_return piece;
  }

 private:
  std::string rest_;
};

std::string name_of_path(const GuestPath& path) { return path.session + "/" + path.path; }

}  // namespace

Bytes bytes_of(std::string_view text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

std::string text_of(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<void> FakeGuest::begin(const char* name) {
  log.calls.emplace_back(name);
  if (faults.empty()) return ok();
  const Error fault = faults.front();
  faults.pop_front();
  return fault;
}

Task<Result<GuestStatus>> FakeGuest::status(const CallContext& /*call*/) {
  COVE_CO_TRY_VOID(begin("status"));
  co_return GuestStatus{};
}

Task<Result<ExecResult>> FakeGuest::run(const std::string& session, const ExecSpec& spec,
                                        const CallContext& call) {
  COVE_CO_TRY_VOID(begin("run"));
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
                                                             bool /*keep_stdin*/,
                                                             const CallContext& /*call*/) {
  COVE_CO_TRY_VOID(begin("start"));
  co_return std::shared_ptr<GuestProcess>(std::make_shared<FakeProcess>(scheduler_, command, log));
}

Task<Result<std::unique_ptr<ByteSource>>> FakeGuest::read_file(const GuestPath& path,
                                                               const ReadRange& range,
                                                               const CallContext& /*call*/) {
  COVE_CO_TRY_VOID(begin("read_file"));
  const auto found = files.find(name_of_path(path));
  if (found == files.end()) co_return Error(ErrorCode::kNotFound, "no file " + path.path);
  const std::size_t from = std::min<std::size_t>(range.offset, found->second.size());
  const std::size_t most = range.length ? *range.length : std::string::npos;
  co_return std::unique_ptr<ByteSource>(
      std::make_unique<TextSource>(found->second.substr(from, most)));
}

Task<Result<FileInfo>> FakeGuest::write_file(const GuestPath& path, ByteSource& content,
                                             const WriteOptions& /*options*/,
                                             const CallContext& call) {
  COVE_CO_TRY_VOID(begin("write_file"));
  std::string text;
  for (;;) {
    COVE_CO_TRY(const Bytes piece, co_await content.next(call));
    if (piece.empty()) break;
    text += text_of(piece);
  }
  files[name_of_path(path)] = text;
  co_return FileInfo{.path = path.path, .type = FileType::kRegular, .size = text.size()};
}

Task<Result<FileInfo>> FakeGuest::stat(const GuestPath& path, const CallContext& /*call*/) {
  COVE_CO_TRY_VOID(begin("stat"));
  const auto found = files.find(name_of_path(path));
  if (found == files.end()) co_return Error(ErrorCode::kNotFound, "no file " + path.path);
  co_return FileInfo{.path = path.path, .type = FileType::kRegular, .size = found->second.size()};
}

Task<Result<FilePage>> FakeGuest::list(const GuestPath& /*path*/, const ListOptions& /*options*/,
                                       const CallContext& /*call*/) {
  COVE_CO_TRY_VOID(begin("list"));
  FilePage page;
  for (const auto& [name, text] : files) {
    page.entries.push_back({.path = name, .type = FileType::kRegular, .size = text.size()});
  }
  co_return page;
}

Task<Result<void>> FakeGuest::make_directory(const GuestPath& path, const CallContext& /*call*/) {
  COVE_CO_TRY_VOID(begin("make_directory"));
  files[name_of_path(path)] = "";
  co_return ok();
}

Task<Result<void>> FakeGuest::remove(const GuestPath& path, bool /*recursive*/,
                                     const CallContext& /*call*/) {
  COVE_CO_TRY_VOID(begin("remove"));
  if (files.erase(name_of_path(path)) == 0) {
    co_return Error(ErrorCode::kNotFound, "no file " + path.path);
  }
  co_return ok();
}

Task<Result<void>> FakeGuest::sync(const CallContext& /*call*/) {
  COVE_CO_TRY_VOID(begin("sync"));
  co_return ok();
}

}  // namespace cove::testing
