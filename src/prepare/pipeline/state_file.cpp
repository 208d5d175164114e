#include "prepare/pipeline/state_file.hpp"

#include <utility>

#include "base/async/byte_sources.hpp"
#include "base/text/byte_text.hpp"

namespace cove::prepare {
namespace {

using namespace std::chrono_literals;

constexpr auto kForAnAnswer = 10s;

GuestPath state_path() { return {"", ".cove/state.json", GuestRoot::kHome}; }

/// True where the file is at fault, which whoever is inside may be: a link, a FIFO, no HOME.
bool is_of_the_file(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotFound:
    case ErrorCode::kPathEscape:
    case ErrorCode::kPermissionDenied:
    case ErrorCode::kFailedPrecondition:
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kUnsupported: return true;
    default: return false;
  }
}

Task<Result<std::string>> read_text(Guest& guest, const CallContext& call) {
  const GuestPath path = state_path();
  const ReadRange range{.offset = 0, .length = kMaxStateBytes + 1};
  COVE_CO_TRY(GuestFile file, co_await guest.read_file(path, range, call));
  std::string text;
  while (text.size() <= kMaxStateBytes) {
    COVE_CO_TRY(const Bytes piece, co_await file.content->next(call));
    if (piece.empty()) break;
    text += base::text_of(piece);
  }
  co_return text;
}

}  // namespace

Task<Result<State>> load_state(Guest& guest, const Clock& clock, const CallContext& call) {
  const Instant bound = clock.now() + kForAnAnswer;
  const bool is_ours = !call.deadline || bound < *call.deadline;
  CallContext bounded = call;
  if (is_ours) bounded.deadline = bound;
  const Result<std::string> text = co_await read_text(guest, bounded);
  if (text) co_return State::parse(*text);
  const ErrorCode code = text.error().code();
  if (is_of_the_file(code)) co_return State();
  if (is_ours && code == ErrorCode::kTimeout) {
    co_return Error(ErrorCode::kUnavailable, "the guest gave no answer within 10 s");
  }
  co_return text.error();
}

Task<Result<void>> save_state(Guest& guest, const State& state, const CallContext& call) {
  base::TextSource source(state.text());
  const GuestPath path = state_path();
  const WriteOptions options{.mode = 0600};
  const Result<FileInfo> written = co_await guest.write_file(path, source, options, call);
  if (!written) co_return written.error().with_context("file", "~/.cove/state.json");
  co_return ok();
}

}  // namespace cove::prepare
