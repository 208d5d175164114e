#include "agent/search/pattern/class_reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/text/utf8.hpp"

namespace cove::agent {
namespace {

ByteClass range(unsigned char first, unsigned char last) {
  ByteClass set;
  for (unsigned byte = first; byte <= last; ++byte) set.set(byte);
  return set;
}

ByteClass digits() { return range('0', '9'); }
ByteClass letters() { return range('a', 'z') | range('A', 'Z'); }
ByteClass word() { return digits() | letters() | class_of('_'); }
ByteClass spaces() { return range('\t', '\n') | range('\f', '\r') | class_of(' '); }

std::optional<ByteClass> posix_class(std::string_view name) {
  if (name == "alnum") return digits() | letters();
  if (name == "alpha") return letters();
  if (name == "ascii") return range(0, 0x7F);
  if (name == "blank") return class_of('\t') | class_of(' ');
  if (name == "digit") return digits();
  if (name == "lower") return range('a', 'z');
  if (name == "space") return range('\t', '\r') | class_of(' ');
  if (name == "upper") return range('A', 'Z');
  if (name == "word") return word();
  if (name == "xdigit") return digits() | range('a', 'f') | range('A', 'F');
  return std::nullopt;
}

}  // namespace

ByteClass with_other_case(ByteClass set) {
  for (std::size_t byte = 'a'; byte <= 'z'; ++byte) {
    const bool either = set[byte] || set[byte - 0x20];
    set.set(byte, either);
    set.set(byte - 0x20, either);
  }
  return set;
}

std::string_view ClassReader::take_character() {
  if (at_end()) return {};
  std::size_t length = 1;
  if (utf8_) length = std::max<std::size_t>(1, base::cut_after(text_.substr(at_), 1));
  const std::string_view character = text_.substr(at_, length);
  at_ += character.size();
  return character;
}

bool ClassReader::sees_repetition() const {
  ClassReader ahead = *this;
  return ahead.take_repetition().has_value();
}

std::optional<ClassReader::Repetition> ClassReader::take_repetition() {
  Repetition result;
  if (take('*')) {
    result = {0, true};
  } else if (take('+')) {
    result = {1, true};
  } else if (take('?')) {
    result = {0, true};
  } else if (sees('{')) {
    // Anything but {n}, {n,} and {n,m} is plain text.
    const std::size_t close = text_.find('}', at_);
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view inner = text_.substr(at_ + 1, close - at_ - 1);
    const char* const end = inner.data() + inner.size();
    const auto first = std::from_chars(inner.data(), end, result.least);
    if (first.ec != std::errc()) return std::nullopt;
    if (first.ptr != end) {
      if (*first.ptr != ',') return std::nullopt;
      std::size_t most = 0;
      const auto second = std::from_chars(first.ptr + 1, end, most);
      if (first.ptr + 1 != end && (second.ec != std::errc() || second.ptr != end)) {
        return std::nullopt;
      }
      result.more = true;
    }
    at_ = close + 1;
  } else {
    return std::nullopt;
  }
  take('?');  // the lazy form matches the same texts
  return result;
}

std::optional<ClassReader::Flags> ClassReader::take_flags() {
  Flags flags;
  if (take('P')) {
    const std::size_t close = text_.find('>', at_);
    if (close == std::string_view::npos) return std::nullopt;
    at_ = close + 1;
    return flags;
  }
  bool on = true;
  for (;;) {
    switch (next()) {
      case 'i': flags.fold = on; break;
      case 's':
      case 'U': break;
      case '-': on = false; break;
      case ':': return flags;
      case ')': flags.closes = true; return flags;
      default: flags.other = true; return flags;
    }
  }
}

bool ClassReader::take_end_of_quote() {
  if (text_.substr(at_).substr(0, 2) != "\\E") return false;
  at_ += 2;
  return true;
}

bool ClassReader::skip_property() {
  if (take('{')) {
    const std::size_t close = text_.find('}', at_);
    if (close == std::string_view::npos) return false;
    at_ = close + 1;
    return true;
  }
  return !take_character().empty();
}

std::optional<ByteClass> ClassReader::escaped_set(char kind) {
  switch (kind) {
    case 'd': return digits();
    case 'w': return word();
    case 's': return spaces();
    case 'n': return class_of('\n');
    case 't': return class_of('\t');
    case 'r': return class_of('\r');
    case 'f': return class_of('\f');
    case 'v': return class_of('\v');
    case 'a': return class_of('\a');
    case 'x': return take_hex();
    default: break;
  }
  const auto byte = static_cast<unsigned char>(kind);
  const bool plain = byte > 0x20 && byte < 0x7F && !word()[byte];
  if (plain || kind == '_') return class_of(byte);
  return std::nullopt;
}

std::optional<ByteClass> ClassReader::take_hex() {
  std::string_view digits_text = text_.substr(at_).substr(0, 2);
  std::size_t length = 2;
  if (take('{')) {
    const std::size_t close = text_.find('}', at_);
    if (close == std::string_view::npos) return std::nullopt;
    digits_text = text_.substr(at_, close - at_);
    length = digits_text.size() + 1;
  }
  unsigned value = 0;
  const char* const end = digits_text.data() + digits_text.size();
  const auto parsed = std::from_chars(digits_text.data(), end, value, 16);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  at_ += length;
  if (value >= (utf8_ ? 0x80U : 0x100U)) return std::nullopt;
  return class_of(static_cast<unsigned char>(value));
}

std::optional<ByteClass> ClassReader::take_posix_class() {
  const std::size_t close = text_.find(":]", at_);
  if (close == std::string_view::npos) return std::nullopt;
  const auto set = posix_class(text_.substr(at_ + 2, close - at_ - 2));
  at_ = close + 2;
  return set;
}

ClassReader::Item ClassReader::take_item() {
  Item item;
  if (text_.substr(at_).substr(0, 2) == "[:") {
    const auto set = take_posix_class();
    item.known = set.has_value();
    item.set = set.value_or(ByteClass());
    return item;
  }
  if (take('\\')) {
    const char kind = next();
    if (kind == 'p' || kind == 'P') {
      skip_property();
      return item;
    }
    const auto set = escaped_set(kind);
    item.known = set.has_value();
    item.set = set.value_or(ByteClass());
    item.single = set && set->count() == 1;
  } else {
    const std::string_view character = take_character();
    if (character.size() != 1) return item;
    item.byte = static_cast<unsigned char>(character.front());
    item.known = item.single = !utf8_ || item.byte < 0x80;
    item.set = class_of(item.byte);
  }
  for (unsigned byte = 0; item.single && byte < 256; ++byte) {
    if (item.set[byte]) item.byte = static_cast<unsigned char>(byte);
  }
  return item;
}

std::optional<ByteClass> ClassReader::take_class(bool fold_case) {
  take('[');
  bool known = true;
  if (take('^')) known = !utf8_;
  const bool negated = text_[at_ - 1] == '^';
  ByteClass all;
  for (bool first = true; !at_end() && (first || !sees(']')); first = false) {
    Item low = take_item();
    known = known && low.known;
    const bool dash = sees('-') && at_ + 1 < text_.size() && text_[at_ + 1] != ']';
    if (!dash) {
      all |= low.set;
      continue;
    }
    take('-');
    const Item high = take_item();
    known = known && high.known && low.single && high.single && low.byte <= high.byte;
    if (known) all |= range(low.byte, high.byte);
  }
  if (!take(']')) return std::nullopt;
  if (!known) return std::nullopt;
  if (!fold_case) return negated ? ~all : all;
  const auto both = fold(all);
  if (!both) return std::nullopt;
  return negated ? ~*both : *both;
}

std::optional<ByteClass> ClassReader::fold(const ByteClass& set) const {
  for (std::size_t byte = 0; byte < set.size(); ++byte) {
    if (!set[byte]) continue;
    // U+212A and U+017F are `k` and `s` in another case; of bytes over 0x7F nothing is known here.
    const bool third = utf8_ && (byte == 'k' || byte == 'K' || byte == 's' || byte == 'S');
    if (third || byte >= 0x80) return std::nullopt;
  }
  return with_other_case(set);
}

}  // namespace cove::agent
