#include "prepare/skills/text/front_matter.hpp"

#include <algorithm>
#include <new>
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

/// What a plain text without quotes means nothing by.
bool is_null(const yaml_event_t& event, std::string_view text) {
  if (event.data.scalar.plain_implicit == 0) return false;
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

std::string text_of(const yaml_char_t* text) {
  // SAFETY: bytes seen as characters.
  return text == nullptr ? std::string() : reinterpret_cast<const char*>(text);
}

/// Builds the top level of the document from libyaml's events. The tree itself is never built, so
/// there is nothing for an alias to multiply.
class TopLevel {
 public:
  TopLevel(const std::string& file, FrontMatter& values) : file_(file), values_(values) {}

  Result<void> take(const yaml_event_t& event) {
    line_ = static_cast<int>(event.start_mark.line) + 2;  // behind the first fence
    switch (event.type) {
      case YAML_SCALAR_EVENT: return take_scalar(event);
      case YAML_ALIAS_EVENT: return take_alias(text_of(event.data.alias.anchor));
      case YAML_SEQUENCE_START_EVENT:
        return begin(text_of(event.data.sequence_start.anchor), FrontMatterValue::Kind::kList);
      case YAML_MAPPING_START_EVENT:
        return begin(text_of(event.data.mapping_start.anchor), FrontMatterValue::Kind::kMap);
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT: --level_; return ok();
      default: return ok();
    }
  }

 private:
  Error stop(const std::string& why) const { return refusal(file_, line_, why); }

  Result<void> take_scalar(const yaml_event_t& event) {
    FrontMatterValue value;
    // SAFETY: bytes seen as characters.
    const std::string_view text(reinterpret_cast<const char*>(event.data.scalar.value),
                                event.data.scalar.length);
    if (!is_null(event, text)) {
      value.kind = FrontMatterValue::Kind::kText;
      value.text = text;
    }
    return take(text_of(event.data.scalar.anchor), std::move(value));
  }

  Result<void> take_alias(const std::string& name) {
    if (++aliases_ > kMostAliases) return stop("there are more than 64 aliases");
    const auto known = anchors_.find(name);
    if (known == anchors_.end()) {
      return stop("the alias " + base::quoted(name) + " names nothing before it");
    }
    return take({}, known->second);
  }

  Result<void> begin(const std::string& anchor, FrontMatterValue::Kind kind) {
    if (level_ == 0 && kind != FrontMatterValue::Kind::kMap) return stop(kNoMap);
    if (level_ > 0) {
      FrontMatterValue value;
      value.kind = kind;
      COVE_TRY_VOID(take(anchor, std::move(value)));
    }
    if (++level_ > kMostLevels) return stop("nested deeper than 16 levels");
    return ok();
  }

  /// A value at the present level: of the top level a key or what belongs to one.
  Result<void> take(const std::string& anchor, FrontMatterValue value) {
    if (!anchor.empty() && ++anchor_count_ > kMostAnchors) {
      return stop("there are more than 64 anchors");
    }
    if (!anchor.empty()) anchors_[anchor] = value;  // of a list or map only its kind
    if (level_ == 0) return stop(kNoMap);
    if (level_ == 2 && current_ != nullptr && current_->kind == FrontMatterValue::Kind::kList &&
        value.kind == FrontMatterValue::Kind::kText) {
      current_->items.push_back(std::move(value.text));
    }
    return level_ == 1 ? take_top(std::move(value)) : ok();
  }

  Result<void> take_top(FrontMatterValue value) {
    if (!key_) {
      if (value.kind != FrontMatterValue::Kind::kText) return stop("a key must be a text");
      key_ = std::move(value.text);
      key_line_ = line_;
      return ok();
    }
    value.line = key_line_;
    const auto [at, added] = values_.emplace(*key_, std::move(value));
    if (!added) {
      return refusal(file_, key_line_, "the key " + base::quoted(*key_) + " is there twice");
    }
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

/// libyaml's parser, and the event that it gave last.
class Parser {
 public:
  explicit Parser(std::string_view text) {
    if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
    // SAFETY: characters seen as bytes.
    const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
    yaml_parser_set_input_string(&parser_, bytes, text.size());
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
  }
  ~Parser() {
    yaml_event_delete(&event_);
    yaml_parser_delete(&parser_);
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  /// Null where the text is no YAML.
  const yaml_event_t* next() {
    yaml_event_delete(&event_);
    return yaml_parser_parse(&parser_, &event_) != 0 ? &event_ : nullptr;
  }

  Error failure(const std::string& file) const {
    const std::string why = parser_.problem != nullptr ? parser_.problem : "it cannot be read";
    // The usual fault of a description that was not written as YAML.
    const bool colon = why.starts_with("mapping values are not allowed");
    return refusal(
        file, static_cast<int>(parser_.problem_mark.line) + 2,
        "no YAML: " + base::escaped(why) + (colon ? " (a text with ': ' in it needs quotes)" : ""));
  }

 private:
  yaml_parser_t parser_{};
  yaml_event_t event_{};
};

}  // namespace

Result<FrontMatter> read_front_matter(const std::string& file, std::string_view text) {
  COVE_TRY(const std::string_view yaml, between_fences(file, text));
  if (!base::is_utf8(yaml)) return refusal(file, 1, "the front matter is not UTF-8");
  if (yaml.find('\0') != std::string_view::npos) {
    return refusal(file, 1, "the front matter has a NUL byte");
  }
  FrontMatter values;
  Parser parser(yaml);
  TopLevel top(file, values);
  for (;;) {
    const yaml_event_t* const event = parser.next();
    if (event == nullptr) return parser.failure(file);
    if (event->type == YAML_STREAM_END_EVENT) break;
    COVE_TRY_VOID(top.take(*event));
  }
  return values;
}

}  // namespace cove::prepare
