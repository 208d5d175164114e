#include "agent/search/pattern/required.hpp"

#include <cstddef>
#include <optional>
#include <utility>

#include "agent/search/pattern/class_reader.hpp"
#include "agent/search/pattern/required_part.hpp"

namespace cove::agent {
namespace {

constexpr int kDeepest = 100;

/// Reads an expression from left to right. What it does not understand ends it: `lost_`.
class Reader {
 public:
  Reader(std::string_view pattern, const PatternSyntax& syntax)
      : reader_(pattern, syntax.utf8), fold_(syntax.ignore_case) {}

  RequiredBytes read() {
    const RequiredPart part = alternatives(0);
    RequiredBytes result;
    if (lost_ || !reader_.at_end()) return result;
    result.any_of = part.best;
    result.by_block = !about_text_;
    result.line_end = about_line_end_;
    result.is_whole = part.exact && !has_anchor_ && !part.prefix.empty();
    if (result.is_whole) result.any_of = {part.prefix};
    return result;
  }

 private:
  RequiredPart alternatives(int depth) {
    std::vector<RequiredPart> parts;
    const bool outer_fold = fold_;
    do {
      parts.push_back(sequence(depth));
    } while (!lost_ && reader_.take('|'));
    fold_ = outer_fold;
    return one_of(parts);
  }

  RequiredPart sequence(int depth) {
    std::vector<RequiredPart> parts;
    while (!lost_ && !reader_.at_end() && !reader_.sees('|') && !reader_.sees(')')) {
      RequiredPart part = atom(depth);
      while (!lost_ && repeat(part)) {
      }
      parts.push_back(std::move(part));
    }
    return in_a_row(parts);
  }

  /// Takes one repetition after `part`, where there is one.
  bool repeat(RequiredPart& part) {
    const auto times = reader_.take_repetition();
    if (!times) return false;
    part = repeated(part, times->least, times->more);
    return true;
  }

  RequiredPart atom(int depth) {
    if (reader_.take('(')) return group(depth);
    if (reader_.sees('[')) return bytes(reader_.take_class(fold_));
    if (reader_.take('.')) return RequiredPart::anything();
    if (reader_.take('^')) return anchor();
    if (reader_.take('$')) return line_end();
    if (reader_.take('\\')) return escape();
    return literal(reader_.take_character());
  }

  RequiredPart group(int depth) {
    if (depth == kDeepest) return lose();
    if (reader_.take('?')) {
      const auto flags = reader_.take_flags();
      if (!flags || flags->other) return lose();
      if (flags->closes) {
        fold_ = flags->fold.value_or(fold_);
        return RequiredPart::empty();
      }
      const bool outer_fold = std::exchange(fold_, flags->fold.value_or(fold_));
      RequiredPart inner = alternatives(depth + 1);
      fold_ = outer_fold;
      if (!reader_.take(')')) return lose();
      return inner;
    }
    RequiredPart inner = alternatives(depth + 1);
    if (!reader_.take(')')) return lose();
    return inner;
  }

  RequiredPart escape() {
    const char kind = reader_.next();
    switch (kind) {
      case 'A':
      case 'z': about_text_ = true; return anchor();
      case 'B': about_line_end_ = true; return anchor();
      case 'b': return anchor();
      case 'Q': return quoted();
      case 'C': return RequiredPart::anything();
      case 'D':
      case 'S':
      case 'W': return RequiredPart::anything();
      case 'p':
      case 'P': return reader_.skip_property() ? RequiredPart::anything() : lose();
      default: break;
    }
    const auto set = reader_.escaped_set(kind);
    if (!set) return lose();
    return bytes(fold_ ? reader_.fold(*set) : set);
  }

  RequiredPart quoted() {
    std::vector<RequiredPart> parts;
    while (!reader_.at_end() && !reader_.take_end_of_quote()) {
      parts.push_back(literal(reader_.take_character()));
    }
    // A repetition after it is of its last character only.
    if (reader_.sees_repetition()) return lose();
    return in_a_row(parts);
  }

  RequiredPart literal(std::string_view character) {
    if (character.empty()) return lose();
    const auto first = static_cast<unsigned char>(character.front());
    if (character.size() == 1 && first < 0x80) {
      const ByteClass set = class_of(first);
      return bytes(fold_ ? reader_.fold(set) : set);
    }
    if (fold_) return RequiredPart::anything();
    ByteRun run;
    for (const char byte : character) run.push_back(class_of(static_cast<unsigned char>(byte)));
    return RequiredPart::of(std::move(run));
  }

  /// None: characters of more than one byte are among them.
  static RequiredPart bytes(std::optional<ByteClass> set) {
    if (!set) return RequiredPart::anything();
    set->reset('\n');
    return RequiredPart::of({*set});
  }

  RequiredPart anchor() {
    has_anchor_ = true;
    return RequiredPart::empty();
  }
  RequiredPart line_end() {
    about_line_end_ = true;
    return anchor();
  }
  RequiredPart lose() {
    lost_ = true;
    return RequiredPart::anything();
  }

  ClassReader reader_;
  bool fold_;
  bool lost_ = false;
  bool has_anchor_ = false;
  bool about_text_ = false;
  bool about_line_end_ = false;
};

}  // namespace

RequiredBytes required_bytes(std::string_view pattern, const PatternSyntax& syntax) {
  return Reader(pattern, syntax).read();
}

RequiredBytes required_of_literal(std::string_view literal, bool ignore_case) {
  ByteRun run;
  for (const char c : literal) {
    const ByteClass set = class_of(static_cast<unsigned char>(c));
    run.push_back(ignore_case ? with_other_case(set) : set);
  }
  RequiredBytes result;
  result.any_of.push_back(std::move(run));
  result.is_whole = true;
  result.by_block = true;
  return result;
}

}  // namespace cove::agent
