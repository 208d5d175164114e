/// ClassReader: the words of RE2's syntax, one at a time, as sets of bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "agent/search/pattern/byte_class.hpp"

namespace cove::agent {

/// With the ASCII letters in either case.
ByteClass with_other_case(ByteClass set);

class ClassReader {
 public:
  ClassReader(std::string_view text, bool utf8) : text_(text), utf8_(utf8) {}

  bool at_end() const noexcept { return at_ == text_.size(); }
  bool sees(char c) const noexcept { return !at_end() && text_[at_] == c; }
  bool take(char c) noexcept {
    if (!sees(c)) return false;
    ++at_;
    return true;
  }
  /// The next byte; NUL at the end.
  char next() noexcept { return at_end() ? '\0' : text_[at_++]; }

  /// One character: of UTF-8, or one byte.
  std::string_view take_character();

  struct Repetition {
    std::size_t least = 0;
    bool more = false;  ///< it may be oftener than that
  };
  std::optional<Repetition> take_repetition();
  bool sees_repetition() const;

  struct Flags {
    std::optional<bool> fold;
    bool closes = false;  ///< `(?i)`: no group follows
    bool other = false;   ///< something that changes what anchors mean, or is not known
  };
  /// What follows `(?`.
  std::optional<Flags> take_flags();

  bool take_end_of_quote();
  bool skip_property();

  /// What `\` and `kind` stand for: a set or one byte. None: not known.
  std::optional<ByteClass> escaped_set(char kind);

  /// A class from its `[` on. None: it has characters of more than one byte, or is not known; then
  /// it is passed over all the same.
  std::optional<ByteClass> take_class(bool fold_case);

  /// Both cases of the letters, as RE2 folds them. None: a letter has a third form, of more bytes.
  std::optional<ByteClass> fold(const ByteClass& set) const;

 private:
  std::optional<ByteClass> take_hex();
  std::optional<ByteClass> take_posix_class();
  struct Item {
    ByteClass set;
    bool known = false;
    bool single = false;
    unsigned char byte = 0;
  };
  Item take_item();

  std::string_view text_;
  std::size_t at_ = 0;
  bool utf8_;
};

}  // namespace cove::agent
