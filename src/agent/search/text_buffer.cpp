#include "agent/search/text_buffer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <unistd.h>

namespace cove::agent {
namespace {

constexpr std::size_t kUsualSize = 128U * 1024;
constexpr std::size_t kShrinkAbove = 512U * 1024;
constexpr std::size_t kRawSize = 32U * 1024;
constexpr std::size_t kBinaryCheck = 8U * 1024;
constexpr std::uint32_t kReplacement = 0xFFFD;

bool is_high(std::uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low(std::uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

/// Bytes read; -1: errno says why.
ssize_t read_some(int fd, void* to, std::size_t room) {
  for (;;) {
    const ssize_t got = ::read(fd, to, room);
    if (got >= 0 || errno != EINTR) return got;
  }
}

}  // namespace

TextBuffer::TextBuffer(bool short_is_end) : short_is_end_(short_is_end), text_(kUsualSize) {}

int TextBuffer::begin(int fd) {
  fd_ = fd;
  size_ = 0;
  raw_size_ = 0;
  at_end_ = binary_ = false;
  encoding_ = TextEncoding::kBytes;
  const int error_number = fill();
  if (error_number != 0) return error_number;
  look_at_mark();
  if (encoding_ != TextEncoding::kBytes) return convert_mark(2);
  binary_ = std::memchr(text_.data(), '\0', std::min(size_, kBinaryCheck)) != nullptr;
  return 0;
}

void TextBuffer::look_at_mark() {
  const std::string_view start(text_.data(), std::min<std::size_t>(size_, 3));
  if (start.starts_with("\xFF\xFE")) encoding_ = TextEncoding::kUtf16Le;
  if (start.starts_with("\xFE\xFF")) encoding_ = TextEncoding::kUtf16Be;
  if (start != "\xEF\xBB\xBF") return;
  std::memmove(text_.data(), text_.data() + 3, size_ - 3);
  size_ -= 3;
}

/// What was read already becomes the first raw part; the end is found where the rest is converted.
int TextBuffer::convert_mark(std::size_t length) {
  raw_.assign(text_.begin() + static_cast<std::ptrdiff_t>(length),
              text_.begin() + static_cast<std::ptrdiff_t>(size_));
  raw_size_ = raw_.size();
  size_ = 0;
  at_end_ = false;
  convert(raw_size_);
  raw_.resize(std::max(raw_size_, kRawSize));
  binary_ = std::memchr(text_.data(), '\0', std::min(size_, kBinaryCheck)) != nullptr;
  return 0;
}

int TextBuffer::more(std::size_t keep) {
  if (keep > 0) {
    std::memmove(text_.data(), text_.data() + keep, size_ - keep);
    size_ -= keep;
  }
  return encoding_ == TextEncoding::kBytes ? fill() : fill_converted();
}

void TextBuffer::make_room(std::size_t room) {
  if (text_.size() - size_ >= room) return;
  text_.resize(std::max(text_.size() * 2, size_ + room));
}

int TextBuffer::fill() {
  make_room(kUsualSize / 2);
  const std::size_t room = text_.size() - size_;
  const ssize_t got = read_some(fd_, text_.data() + size_, room);
  if (got < 0) return errno;
  at_end_ = got == 0 || (short_is_end_ && static_cast<std::size_t>(got) < room);
  size_ += static_cast<std::size_t>(got);
  return 0;
}

int TextBuffer::fill_converted() {
  const ssize_t got = read_some(fd_, raw_.data() + raw_size_, raw_.size() - raw_size_);
  if (got < 0) return errno;
  if (got == 0) {
    if (raw_size_ > 0) put_character(kReplacement);  // half a character
    raw_size_ = 0;
    at_end_ = true;
    return 0;
  }
  raw_size_ += static_cast<std::size_t>(got);
  convert(raw_size_);
  return 0;
}

/// Converts the first `end` raw bytes but for half a character at their end, which stays.
void TextBuffer::convert(std::size_t end) {
  const bool big = encoding_ == TextEncoding::kUtf16Be;
  const auto unit_at = [&](std::size_t at) {
    return std::uint32_t{raw_[at + (big ? 1U : 0U)]} | std::uint32_t{raw_[at + (big ? 0U : 1U)]}
                                                           << 8U;
  };
  make_room(end / 2 * 3 + 4);
  std::size_t at = 0;
  while (at + 2 <= end) {
    const std::uint32_t unit = unit_at(at);
    if (is_high(unit)) {
      if (at + 4 > end) break;
      const std::uint32_t low = unit_at(at + 2);
      if (is_low(low)) {
        put_character(0x10000U + ((unit - 0xD800U) << 10U) + (low - 0xDC00U));
        at += 4;
        continue;
      }
    }
    put_character(is_high(unit) || is_low(unit) ? kReplacement : unit);
    at += 2;
  }
  std::memmove(raw_.data(), raw_.data() + at, end - at);
  raw_size_ = end - at;
}

void TextBuffer::put_character(std::uint32_t character) {
  make_room(4);
  const auto put = [this](std::uint32_t byte) { text_[size_++] = static_cast<char>(byte); };
  if (character < 0x80) {
    put(character);
  } else if (character < 0x800) {
    put(0xC0U | character >> 6U);
    put(0x80U | (character & 0x3FU));
  } else if (character < 0x10000) {
    put(0xE0U | character >> 12U);
    put(0x80U | (character >> 6U & 0x3FU));
    put(0x80U | (character & 0x3FU));
  } else {
    put(0xF0U | character >> 18U);
    put(0x80U | (character >> 12U & 0x3FU));
    put(0x80U | (character >> 6U & 0x3FU));
    put(0x80U | (character & 0x3FU));
  }
}

void TextBuffer::shrink() {
  if (text_.size() <= kShrinkAbove) return;
  text_ = std::vector<char>(kUsualSize);
}

}  // namespace cove::agent
