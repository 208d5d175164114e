#include "prepare/skills/text/front_matter.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <sstream>
#include <utility>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "base/text/display_text.hpp"
#include "base/text/utf8.hpp"

namespace cove::prepare {
namespace {

constexpr std::size_t kMostBytes = 64 * 1024;
constexpr int kMostLevels = 16;
constexpr int kMostAnchors = 64;
constexpr int kMostAliases = 64;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

Error refusal(const std::string& file, int line, const std::string& why) {
  return {ErrorCode::kInvalidArgument, file + ":" + std::to_string(line) + ": " + why};
}

/// Ends yaml-cpp's parsing from within a handler, and never leaves this file.
struct Stop {
  int line;
  std::string why;
};

/// Takes a line off the front of `text`, without its end.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool is_fence(std::string_view line, std::string_view fence) {
  if (!line.starts_with(fence)) return false;
  return line.find_first_not_of(" \t", fence.size()) == std::string_view::npos;
}

/// The text between the fences.
Result<std::string_view> between_fences(const std::string& file, std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (!is_fence(take_line(text), "---")) {
    return refusal(file, 1, "no front matter: the first line must be '---'");
  }
  const std::string_view begin = text;
  for (int line = 2; !text.empty(); ++line) {
    const auto taken = static_cast<std::size_t>(text.data() - begin.data());
    if (taken > kMostBytes) return refusal(file, line, "the front matter has more than 64 KiB");
    const std::string_view content = take_line(text);
    if (is_fence(content, "---") || is_fence(content, "...")) return begin.substr(0, taken);
  }
  return refusal(file, 1, "the front matter has no end: a line '---' after it");
}

/// Builds the top level of the document from yaml-cpp's events. The tree itself is never built, so
/// there is nothing for an alias to multiply.
class TopLevel final : public YAML::EventHandler {
 public:
  explicit TopLevel(FrontMatter& values) : values_(values) {}

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    take(mark, anchor, FrontMatterValue());
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (++aliases_ > kMostAliases) stop(mark, "there are more than 64 aliases");
    const auto known = anchors_.find(anchor);
    FrontMatterValue value;
    value.kind = FrontMatterValue::Kind::kMap;  // of what an alias of no text is, nothing is kept
    if (known != anchors_.end()) value = known->second;
    take(mark, 0, std::move(value));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                const std::string& text) override {
    FrontMatterValue value;
    value.kind = FrontMatterValue::Kind::kText;
    value.text = text;
    take(mark, anchor, std::move(value));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    begin(mark, anchor, FrontMatterValue::Kind::kList);
  }
  void OnSequenceEnd() override { --level_; }

  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    begin(mark, anchor, FrontMatterValue::Kind::kMap);
  }
  void OnMapEnd() override { --level_; }

 private:
  [[noreturn]] static void stop(const YAML::Mark& mark, const std::string& why) {
    throw Stop{line_of(mark), why};
  }
  static int line_of(const YAML::Mark& mark) { return mark.line + 2; }  // behind the first fence

  void begin(const YAML::Mark& mark, YAML::anchor_t anchor, FrontMatterValue::Kind kind) {
    if (level_ == 0 && kind != FrontMatterValue::Kind::kMap) {
      stop(mark, "the front matter must be a map: 'name: ...'");
    }
    if (level_ > 0) {
      FrontMatterValue value;
      value.kind = kind;
      take(mark, anchor, std::move(value));
    }
    if (++level_ > kMostLevels) stop(mark, "nested deeper than 16 levels");
  }

  /// A value at the present level: of the top level a key or what belongs to one.
  void take(const YAML::Mark& mark, YAML::anchor_t anchor, FrontMatterValue value) {
    if (anchor != 0 && ++anchor_count_ > kMostAnchors) stop(mark, "there are more than 64 anchors");
    if (anchor != 0 && value.kind == FrontMatterValue::Kind::kText) anchors_[anchor] = value;
    value.line = line_of(mark);
    if (level_ == 0) stop(mark, "the front matter must be a map: 'name: ...'");
    if (level_ == 2 && current_ != nullptr && current_->kind == FrontMatterValue::Kind::kList &&
        value.kind == FrontMatterValue::Kind::kText) {
      current_->items.push_back(std::move(value.text));
    }
    if (level_ != 1) return;
    if (!key_) {
      if (value.kind != FrontMatterValue::Kind::kText) stop(mark, "a key must be a text");
      key_ = std::move(value.text);
      key_line_ = value.line;
      return;
    }
    value.line = key_line_;
    const auto [at, added] = values_.emplace(*key_, std::move(value));
    if (!added) stop(mark, "the key " + base::quoted(*key_) + " is there twice");
    current_ = &at->second;
    key_.reset();
  }

  FrontMatter& values_;
  std::map<YAML::anchor_t, FrontMatterValue> anchors_;
  std::optional<std::string> key_;       // of the top level, whose value comes next
  FrontMatterValue* current_ = nullptr;  // the top level's value that came last
  int key_line_ = 0;
  int level_ = 0;
  int anchor_count_ = 0;
  int aliases_ = 0;
};

}  // namespace

Result<FrontMatter> read_front_matter(const std::string& file, std::string_view text) {
  COVE_TRY(const std::string_view yaml, between_fences(file, text));
  if (!base::is_utf8(yaml)) return refusal(file, 1, "the front matter is not UTF-8");
  if (yaml.find('\0') != std::string_view::npos) {
    return refusal(file, 1, "the front matter has a NUL byte");
  }
  FrontMatter values;
  try {
    std::istringstream stream{std::string(yaml)};
    YAML::Parser parser(stream);
    TopLevel handler(values);
    while (parser.HandleNextDocument(handler)) {
    }
  } catch (const Stop& stopped) {
    return refusal(file, stopped.line, stopped.why);
  } catch (const YAML::Exception& error) {
    // The usual fault of a description that was not written as YAML.
    const bool colon = error.msg == YAML::ErrorMsg::MAP_VALUE;
    return refusal(file, std::max(0, error.mark.line) + 2,
                   "no YAML: " + base::escaped(error.msg) +
                       (colon ? " (a text with ': ' in it needs quotes)" : ""));
  } catch (const std::exception& error) {
    return refusal(file, 1, std::string("no YAML: ") + base::escaped(error.what()));
  }
  return values;
}

}  // namespace cove::prepare
