#include "prepare/steps/input_content.hpp"

#include <algorithm>
#include <utility>

#include "base/async/byte_sources.hpp"
#include "base/sha256.hpp"
#include "base/text/byte_text.hpp"
#include "prepare/inputs/host_file.hpp"
#include "prepare/steps/input_names.hpp"

namespace cove::prepare {
namespace {

constexpr std::size_t kKeyDigits = 16;

/// One of two streams that are compared, and what of its last piece was not compared yet.
class Compared {
 public:
  explicit Compared(ByteSource& source) : source_(source) {}

  /// Makes `rest` empty only at the end.
  Task<Result<void>> fill(const CallContext& call) {
    if (!rest_.empty()) co_return ok();
    COVE_CO_TRY(piece_, co_await source_.next(call));
    rest_ = piece_;
    co_return ok();
  }
  ByteView rest() const noexcept { return rest_; }
  void pass(std::size_t count) { rest_ = rest_.subspan(count); }

 private:
  ByteSource& source_;
  Bytes piece_;
  ByteView rest_;
};

}  // namespace

std::string InputContent::key() const {
  return base::sha256_hex(name + '\0' + fingerprint).substr(0, kKeyDigits);
}

Result<InputContent> make_content(InputFile file) {
  InputContent content;
  content.name = safe_name(file.name);
  content.fingerprint = file.fingerprint;
  if (const auto* bytes = std::get_if<Bytes>(&file.content)) {
    content.size = bytes->size();
    if (content.fingerprint.empty()) content.fingerprint = base::sha256_hex(base::text_of(*bytes));
  }
  if (const auto* path = std::get_if<HostPath>(&file.content)) {
    COVE_TRY(const HostFileFacts facts, look_at_host_file(path->path));
    content.size = facts.size;
    if (content.fingerprint.empty()) content.fingerprint = facts.fingerprint;
  }
  content.file = std::move(file);
  return content;
}

Task<Result<std::unique_ptr<ByteSource>>> open_content(const InputContent& content, HostParts host,
                                                       const CallContext& call) {
  if (const auto* bytes = std::get_if<Bytes>(&content.file.content)) {
    co_return std::unique_ptr<ByteSource>(std::make_unique<base::ViewSource>(*bytes));
  }
  if (const auto* path = std::get_if<HostPath>(&content.file.content)) {
    co_return co_await open_host_file(path->path, host.executor, host.scheduler);
  }
  const ByteOpener& open = std::get<ByteOpener>(content.file.content);
  Result<std::unique_ptr<ByteSource>> source = co_await open(call);
  if (source && *source == nullptr) {
    co_return Error(ErrorCode::kInvalidArgument, "the opener of an input file gave nothing");
  }
  co_return source;
}

Task<Result<bool>> are_equal(ByteSource& one, ByteSource& other, const CallContext& call) {
  Compared first(one);
  Compared second(other);
  for (;;) {
    COVE_CO_TRY_VOID(co_await first.fill(call));
    COVE_CO_TRY_VOID(co_await second.fill(call));
    const std::size_t both = std::min(first.rest().size(), second.rest().size());
    if (both == 0) co_return first.rest().empty() && second.rest().empty();
    if (!std::ranges::equal(first.rest().first(both), second.rest().first(both))) co_return false;
    first.pass(both);
    second.pass(both);
  }
}

}  // namespace cove::prepare
