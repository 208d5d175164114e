#include "agent/edits/text_edits.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "agent/edits/nearest_lines.hpp"

namespace cove::agent {
namespace {

constexpr std::size_t kMaxEdits = 1000;
constexpr std::size_t kMaxEditBytes = 16U << 20U;
constexpr std::size_t kMaxResult = 128U << 20U;
constexpr std::size_t kShownMatches = 20;

std::size_t count_lines(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

bool has_crlf(std::string_view text) { return text.find("\r\n") != std::string_view::npos; }

/// `text` with an LF for every CRLF.
std::string with_lf(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (;;) {
    const std::size_t end = text.find("\r\n");
    if (end == std::string_view::npos) break;
    out += text.substr(0, end);
    text.remove_prefix(end + 1);  // the LF comes with what follows
  }
  return out += text;
}

/// A file's text with the line ends it has, and the same with LF only, in which texts are looked
/// for.
class LineEnds {
 public:
  explicit LineEnds(std::string_view text) : text_(text), has_crlf_(has_crlf(text)) {
    if (!has_crlf_) return;
    plain_ = with_lf(text);
  }

  bool is_plain() const noexcept { return !has_crlf_; }
  std::string_view plain() const noexcept { return has_crlf_ ? plain_ : text_; }

  /// Where a place of `plain` is in the text. Places come in rising order.
  std::size_t place(std::size_t plain_place) {
    if (!has_crlf_) return plain_place;
    while (at_plain_ < plain_place) {
      at_text_ += text_[at_text_] == '\r' && text_.substr(at_text_, 2) == "\r\n" ? 2 : 1;
      ++at_plain_;
    }
    return at_text_;
  }

  /// `text` with LF only, but as it is where the file has no line ends at all.
  std::string plain_of(const std::string& text) const {
    const bool ends_lines = has_crlf_ || text_.find('\n') != std::string_view::npos;
    return ends_lines ? with_lf(text) : text;
  }

 private:
  std::string_view text_;
  std::string plain_;
  bool has_crlf_ = false;
  std::size_t at_plain_ = 0;
  std::size_t at_text_ = 0;
};

/// Gives a replacement, which has LF only, the line ends of what it replaces.
class Restyled {
 public:
  Restyled(std::string_view text, std::string_view wanted, std::string_view replacement)
      : text_(text), replacement_(replacement), ends_(count_lines(replacement)) {
    const auto same =
        std::mismatch(wanted.begin(), wanted.end(), replacement.begin(), replacement.end());
    const auto head = static_cast<std::size_t>(same.first - wanted.begin());
    const auto back =
        std::mismatch(wanted.rbegin(), wanted.rend(), replacement.rbegin(), replacement.rend());
    const auto tail = std::min(static_cast<std::size_t>(back.first - wanted.rbegin()),
                               std::min(wanted.size(), replacement.size()) - head);
    same_after_ = count_lines(wanted.substr(wanted.size() - tail));
  }

  /// For the place from `begin` to `end` of the text. Places come in rising order.
  std::string at(std::size_t begin, std::size_t end) {
    const std::vector<bool> old_ends = crlf_in(text_.substr(begin, end - begin));
    const bool other = old_ends.empty() ? crlf_near(end) : old_ends.back();
    std::string out;
    std::size_t number = 0;
    for (const char c : replacement_) {
      if (c == '\n' && is_crlf(number++, old_ends, other)) out += '\r';
      out += c;
    }
    return out;
  }

  std::size_t most_bytes() const noexcept { return replacement_.size() + ends_; }

 private:
  static std::vector<bool> crlf_in(std::string_view part) {
    std::vector<bool> ends;
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part[i] == '\n') ends.push_back(i > 0 && part[i - 1] == '\r');
    }
    return ends;
  }

  /// Lines that both have keep their ends; between them the old ones count as far as they go.
  bool is_crlf(std::size_t number, const std::vector<bool>& old_ends, bool other) const {
    if (ends_ - number <= same_after_) return old_ends[old_ends.size() - (ends_ - number)];
    const std::size_t usable = old_ends.size() - same_after_;
    if (number < usable) return old_ends[number];
    return usable > 0 ? bool{old_ends[usable - 1]} : other;
  }

  /// The end of the line in which a place ends; of the last one, that of the line before.
  bool crlf_near(std::size_t place) {
    if (near_ < place || near_ == 0) near_ = text_.find('\n', place);
    const std::size_t end = near_ == std::string_view::npos ? last_ : near_;
    return end != std::string_view::npos && end > 0 && text_[end - 1] == '\r';
  }

  std::string_view text_;
  std::string_view replacement_;
  std::size_t ends_;
  std::size_t same_after_ = 0;
  std::size_t last_ = text_.rfind('\n');
  std::size_t near_ = 0;
};

std::vector<std::size_t> find_all(std::string_view text, std::string_view part) {
  std::vector<std::size_t> found;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (at < end) {
    // memmem, not find: its time grows with the text's length whatever the part is.
    const void* match = ::memmem(at, static_cast<std::size_t>(end - at), part.data(), part.size());
    if (match == nullptr) break;
    found.push_back(static_cast<std::size_t>(static_cast<const char*>(match) - text.data()));
    at = static_cast<const char*>(match) + part.size();
  }
  return found;
}

Error many_matches(std::string_view text, const std::vector<std::size_t>& found,
                   const std::string& shown) {
  std::string lines;
  std::size_t line = 1;
  std::size_t from = 0;
  for (std::size_t i = 0; i < std::min(found.size(), kShownMatches); ++i) {
    line += count_lines(text.substr(from, found[i] - from));
    from = found[i];
    lines += (i == 0 ? "" : ", ") + std::to_string(line);
  }
  if (found.size() > kShownMatches) lines += ", ...";
  return {ErrorCode::kInvalidArgument,
          "old_text is in " + shown + " " + std::to_string(found.size()) + " times, at lines " +
              lines + "; give more of the text around it, or set replace_all"};
}

Result<EditOutcome> apply(std::string& text, const Edit& edit, const std::string& shown) {
  LineEnds ends(text);
  const std::string wanted = has_crlf(edit.old_text) ? with_lf(edit.old_text) : edit.old_text;
  const std::vector<std::size_t> found = find_all(ends.plain(), wanted);
  if (found.empty()) {
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
      return Error(ErrorCode::kFailedPrecondition,
                   "old_text is not in " + shown +
                       ", which is UTF-16: turn it into UTF-8 first (iconv -f UTF-16 -t UTF-8)");
    }
    return Error(ErrorCode::kFailedPrecondition,
                 "old_text is not in " + shown + ": " + describe_nearest(ends.plain(), wanted));
  }
  if (found.size() > 1 && !edit.replace_all) return many_matches(ends.plain(), found, shown);
  const EditOutcome outcome{found.size(), 1 + count_lines(ends.plain().substr(0, found.front()))};
  const std::string replacement = ends.plain_of(edit.new_text);
  Restyled restyled(text, wanted, replacement);
  const std::size_t most_bytes = ends.is_plain() ? replacement.size() : restyled.most_bytes();
  if (text.size() + found.size() * most_bytes > kMaxResult) {
    return Error(ErrorCode::kTooLarge, "the edit would make " + shown + " larger than 128 MiB");
  }
  std::string result;
  result.reserve(text.size() + found.size() * most_bytes);
  std::size_t kept = 0;
  for (const std::size_t match : found) {
    const std::size_t begin = ends.place(match);
    result.append(text, kept, begin - kept);
    kept = ends.place(match + wanted.size());
    result += ends.is_plain() ? replacement : restyled.at(begin, kept);
  }
  result.append(text, kept);
  text = std::move(result);
  return outcome;
}

}  // namespace

Result<void> check_edits(const std::vector<Edit>& edits) {
  if (edits.empty()) return Error(ErrorCode::kInvalidArgument, "there is no edit to make");
  if (edits.size() > kMaxEdits) {
    return Error(ErrorCode::kTooLarge,
                 std::to_string(edits.size()) + " edits of one file; at most 1000 go at once");
  }
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (edits[i].old_text.empty()) {
      return Error(ErrorCode::kInvalidArgument,
                   "old_text is empty: give the text to replace, or write the whole file")
          .with_context("edit", std::to_string(i + 1));
    }
    bytes += edits[i].old_text.size() + edits[i].new_text.size();
  }
  if (bytes > kMaxEditBytes) {
    return Error(ErrorCode::kTooLarge,
                 "the texts of the edits have " + std::to_string(bytes) +
                     " bytes, more than 16 MiB; write the whole file instead");
  }
  return ok();
}

Result<EditedText> apply_edits(std::string text, const std::vector<Edit>& edits,
                               const std::string& shown) {
  EditedText edited{std::move(text), {}};
  for (std::size_t i = 0; i < edits.size(); ++i) {
    Result<EditOutcome> outcome = apply(edited.text, edits[i], shown);
    if (!outcome) return outcome.error().with_context("edit", std::to_string(i + 1));
    edited.outcomes.push_back(*outcome);
  }
  return edited;
}

}  // namespace cove::agent
