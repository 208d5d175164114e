#include "agent/proxy/request_body.hpp"

#include <algorithm>

namespace cove::agent {
namespace {

constexpr std::uint32_t kMaxDigits = 15;          // of a size: less than 2^60
constexpr std::uint32_t kMaxFraming = 16 * 1024;  // of extensions and trailers

int digit_of(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

RequestBody RequestBody::of_length(std::uint64_t bytes) {
  RequestBody body;
  body.left_ = bytes;
  body.part_ = bytes == 0 ? Part::kOver : Part::kPlain;
  return body;
}

RequestBody RequestBody::chunked() {
  RequestBody body;
  body.part_ = Part::kSize;
  return body;
}

std::size_t RequestBody::take(std::string_view bytes) {
  std::size_t used = 0;
  while (used < bytes.size() && !is_over() && !is_broken()) {
    if (part_ == Part::kPlain || part_ == Part::kChunk) {
      used += take_counted(bytes.substr(used));
      continue;
    }
    take_framing(bytes[used]);
    ++used;
  }
  return used;
}

std::size_t RequestBody::take_counted(std::string_view bytes) {
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
  left_ -= count;
  if (left_ > 0) return count;
  part_ = part_ == Part::kPlain ? Part::kOver : Part::kChunkEnd;
  line_ = 0;
  return count;
}

void RequestBody::take_framing(char c) {
  if (++framing_ > kMaxFraming) {
    part_ = Part::kBroken;
    return;
  }
  switch (part_) {
    case Part::kSize: return take_size(c);
    case Part::kExtension:
      if (c == '\n') end_size_line();
      return;
    case Part::kChunkEnd:
      // Exactly CR LF: who reads "\n" as the end and who does not would see different requests.
      if (c != (line_ == 0 ? '\r' : '\n')) part_ = Part::kBroken;
      if (part_ == Part::kChunkEnd && ++line_ == 2) {
        part_ = Part::kSize;
        digits_ = 0;
        framing_ = 0;
      }
      return;
    case Part::kTrailer: return take_trailer(c);
    default: return;
  }
}

void RequestBody::take_size(char c) {
  const int digit = digit_of(c);
  if (digit >= 0) {
    left_ = left_ * 16 + static_cast<std::uint64_t>(digit);
    if (++digits_ > kMaxDigits) part_ = Part::kBroken;
    return;
  }
  if (digits_ == 0 || (c != ';' && c != '\r' && c != ' ' && c != '\t')) {
    part_ = Part::kBroken;
    return;
  }
  part_ = Part::kExtension;
}

void RequestBody::end_size_line() {
  digits_ = 0;
  line_ = 0;
  part_ = left_ == 0 ? Part::kTrailer : Part::kChunk;
}

void RequestBody::take_trailer(char c) {
  if (c == '\r') return;
  if (c != '\n') {
    ++line_;
    return;
  }
  if (line_ == 0) part_ = Part::kOver;
  line_ = 0;
}

}  // namespace cove::agent
