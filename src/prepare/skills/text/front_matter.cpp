#include "prepare/skills/text/front_matter.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <yaml.h>

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

/// libyaml's parser, and its present event.
class Events {
 public:
  explicit Events(std::string_view text) : begun_(yaml_parser_initialize(&parser_) == 1) {
    if (!begun_) return;
    // SAFETY: libyaml reads the text only, and the caller keeps it.
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
  }
  ~Events() {
    yaml_event_delete(&event_);
    if (begun_) yaml_parser_delete(&parser_);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  /// False: what follows is no YAML.
  bool next() {
    yaml_event_delete(&event_);
    return begun_ && yaml_parser_parse(&parser_, &event_) == 1;
  }

  const yaml_event_t& event() const { return event_; }
  std::size_t problem_line() const { return parser_.problem_mark.line; }
  std::string problem() const {
    if (parser_.problem == nullptr) return "there is no memory to read it";
    const std::string problem = parser_.problem;
    // What authors meet most.
    const bool is_colon = problem.starts_with("mapping values");
    return is_colon ? problem + "; a text with ': ' in it must be in quotes" : problem;
  }

 private:
  yaml_parser_t parser_{};
  yaml_event_t event_{};
  bool begun_;
};

std::string text_of(const yaml_char_t* text) {
  // SAFETY: libyaml's characters are bytes, ended by a NUL.
  return text == nullptr ? std::string() : reinterpret_cast<const char*>(text);
}

/// What a plain scalar is, by YAML's core schema.
bool is_null(const std::string& text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

/// Builds the top level of the document from libyaml's events. The tree itself is never built, so
/// there is nothing for an alias to multiply.
class TopLevel {
 public:
  TopLevel(const std::string& file, FrontMatter& values) : file_(file), values_(values) {}

  Result<void> take(const yaml_event_t& event) {
    using Kind = FrontMatterValue::Kind;
    line_ = static_cast<int>(event.start_mark.line) + 2;  // behind the first fence
    switch (event.type) {
      case YAML_ALIAS_EVENT: return alias(text_of(event.data.alias.anchor));
      case YAML_SCALAR_EVENT: return scalar(event);
      case YAML_SEQUENCE_START_EVENT:
        return begin(text_of(event.data.sequence_start.anchor), Kind::kList);
      case YAML_MAPPING_START_EVENT:
        return begin(text_of(event.data.mapping_start.anchor), Kind::kMap);
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT: --level_; return ok();
      default: return ok();
    }
  }

 private:
  Error refused(const std::string& why) const { return refusal(file_, line_, why); }

  Result<void> alias(const std::string& anchor) {
    if (++aliases_ > kMostAliases) return refused("there are more than 64 aliases");
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end()) {
      return refused("there is no anchor for the alias " + base::quoted(anchor));
    }
    return value("", known->second);
  }

  Result<void> scalar(const yaml_event_t& event) {
    const auto& scalar = event.data.scalar;
    FrontMatterValue found;
    // SAFETY: as in text_of; a scalar has a length of its own.
    found.text.assign(reinterpret_cast<const char*>(scalar.value), scalar.length);
    const bool plain = scalar.style == YAML_PLAIN_SCALAR_STYLE && scalar.plain_implicit != 0;
    const bool null = plain && is_null(found.text);
    found.kind = null ? FrontMatterValue::Kind::kNull : FrontMatterValue::Kind::kText;
    if (null) found.text.clear();
    return value(text_of(scalar.anchor), std::move(found));
  }

  Result<void> begin(const std::string& anchor, FrontMatterValue::Kind kind) {
    if (level_ == 0 && kind != FrontMatterValue::Kind::kMap) return refused(kNoMap);
    if (level_ > 0) {
      FrontMatterValue found;
      found.kind = kind;
      COVE_TRY_VOID(value(anchor, std::move(found)));
    }
    if (++level_ > kMostLevels) return refused("nested deeper than 16 levels");
    return ok();
  }

  /// A value at the present level: of the top level a key or what belongs to one.
  Result<void> value(const std::string& anchor, FrontMatterValue found) {
    if (!anchor.empty()) {
      if (++anchor_count_ > kMostAnchors) return refused("there are more than 64 anchors");
      anchors_[anchor] = found;  // of a list or a map nothing but its kind
    }
    found.line = line_;
    if (level_ == 0) return refused(kNoMap);
    const bool text = found.kind == FrontMatterValue::Kind::kText;
    if (level_ == 2 && text && current_ != nullptr &&
        current_->kind == FrontMatterValue::Kind::kList) {
      current_->items.push_back(std::move(found.text));
    }
    return level_ == 1 ? member(std::move(found), text) : ok();
  }

  Result<void> member(FrontMatterValue found, bool text) {
    if (!key_) {
      if (!text) return refused("a key must be a text");
      key_ = std::move(found.text);
      key_line_ = found.line;
      return ok();
    }
    found.line = key_line_;
    const auto [at, added] = values_.emplace(*key_, std::move(found));
    if (!added) return refused("the key " + base::quoted(*key_) + " is there twice");
    current_ = &at->second;
    key_.reset();
    return ok();
  }

  static constexpr const char* kNoMap = "the front matter must be a map: 'name: ...'";

  const std::string& file_;
  FrontMatter& values_;
  std::map<std::string, FrontMatterValue> anchors_;
  std::optional<std::string> key_;       // of the top level, whose value comes next
  FrontMatterValue* current_ = nullptr;  // the top level's value that came last
  int line_ = 0;
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
  TopLevel top(file, values);
  for (Events events(yaml); events.event().type != YAML_STREAM_END_EVENT;) {
    if (!events.next()) {
      const int line = static_cast<int>(events.problem_line()) + 2;
      return refusal(file, line, "no YAML: " + base::escaped(events.problem()));
    }
    COVE_TRY_VOID(top.take(events.event()));
  }
  return values;
}

}  // namespace cove::prepare
