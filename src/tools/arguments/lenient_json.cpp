#include "tools/arguments/lenient_json.hpp"

#include <set>

#include "base/text/hex.hpp"
#include "base/text/json.hpp"

namespace cove::tools {
namespace {

using nlohmann::json;

constexpr std::string_view kSpace = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

/// Takes a fence of three backticks away.
bool unfence(std::string_view& text) {
  constexpr std::string_view kFence = "```";
  const std::size_t line = text.find('\n');
  const bool fenced = text.starts_with(kFence) && text.ends_with(kFence) &&
                      line != std::string_view::npos && line + kFence.size() < text.size();
  if (!fenced) return false;
  text = trimmed(text.substr(line, text.size() - kFence.size() - line));
  return true;
}

void append_control(std::string& out, char c) {
  out += "\\u00";
  base::append_hex(out, c);
}

/// A copy of a JSON text in which what JSON does not allow, but is clear, is put right.
class Tidied {
 public:
  explicit Tidied(std::string_view all) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (in_text_) {
        take_inside(all, i);
      } else {
        take_outside(all, i);
      }
    }
  }

  std::string text;
  bool dropped_commas = false;
  bool escaped_controls = false;

 private:
  void take_inside(std::string_view all, std::size_t& i) {
    const char c = all[i];
    if (static_cast<unsigned char>(c) < 0x20) {
      escaped_controls = true;
      append_control(text, c);
      return;
    }
    text += c;
    if (c == '"') in_text_ = false;
    if (c == '\\' && i + 1 < all.size()) text += all[++i];
  }

  void take_outside(std::string_view all, std::size_t i) {
    const char c = all[i];
    if (c == '"') in_text_ = true;
    const std::size_t next = c == ',' ? all.find_first_not_of(kSpace, i + 1) : i;
    const bool is_last =
        c == ',' && next != std::string_view::npos && (all[next] == '}' || all[next] == ']');
    if (!is_last) text += c;
    dropped_commas = dropped_commas || is_last;
  }

  bool in_text_ = false;
};

bool is_cut_off(std::string_view text) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_text && text[i] == '\\') ++i;
    if (i < text.size() && text[i] == '"') in_text = !in_text;
    if (in_text || i >= text.size()) continue;
    if (text[i] == '{' || text[i] == '[') ++depth;
    if (text[i] == '}' || text[i] == ']') --depth;
  }
  return in_text || depth > 0;
}

Error refusal(std::string_view text, const Error& error) {
  const Error told(ErrorCode::kInvalidArgument, "the arguments are " + error.message());
  if (is_cut_off(text)) {
    return told.with_context("hint",
                             "They end in the middle, so they were probably cut off for their "
                             "length; nothing was done. Send less at once: write a long file in "
                             "several parts.");
  }
  return told.with_context("hint",
                           "Send one JSON object; inside a text, quotes are \\\" and "
                           "backslashes \\\\.");
}

/// Says which keys an object has twice. `text` is valid.
void note_repeated(std::string_view text, std::vector<std::string>& notes) {
  constexpr std::size_t kMostTold = 8;
  std::vector<std::set<std::string>> keys;
  std::set<std::string> told;
  const auto look = [&](int, json::parse_event_t event, const json& value) {
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event != json::parse_event_t::key) return true;
    const auto& key = value.get_ref<const std::string&>();
    const bool is_again = !keys.back().insert(key).second;
    if (is_again && told.size() < kMostTold && told.insert(key).second) {
      notes.push_back("`" + key + "` was given twice; the last is used");
    }
    return true;
  };
  const json ignored = json::parse(text, look, false);
}

Result<json> parse_tidied(std::string_view text, const Error& first,
                          std::vector<std::string>& notes) {
  const Tidied tidied(text);
  Result<json> parsed = base::parse_json(tidied.text);
  if (!parsed) return refusal(text, first);
  note_repeated(tidied.text, notes);
  if (tidied.dropped_commas) {
    notes.emplace_back("a comma before a closing bracket was passed over");
  }
  if (tidied.escaped_controls) {
    notes.emplace_back(
        "line ends and other control characters inside a text were taken as they "
        "stand; JSON wants them as escapes such as \\n");
  }
  return parsed;
}

/// An object that was written into a text once more.
Result<json> unwrapped(json value, std::vector<std::string>& notes) {
  if (value.is_string()) {
    Result<json> inner = base::parse_json(value.get_ref<const std::string&>());
    if (inner && inner->is_object()) {
      note_repeated(value.get_ref<const std::string&>(), notes);
      notes.emplace_back("they were a text that holds an object, and were taken as that object");
      return inner;
    }
  }
  if (value.is_object()) return value;
  return Error(ErrorCode::kInvalidArgument, "the arguments are no JSON object")
      .with_context("hint", "Send one object with the parameters as its keys.");
}

}  // namespace

Result<json> parse_leniently(std::string_view text, std::vector<std::string>& notes) {
  text = trimmed(text);
  if (text.empty()) {
    notes.emplace_back("there were none, which was taken as {}");
    return json::object();
  }
  if (unfence(text)) notes.emplace_back("the Markdown fence around them was passed over");
  Result<json> parsed = base::parse_json(text);
  if (parsed) note_repeated(text, notes);
  if (!parsed) parsed = parse_tidied(text, parsed.error(), notes);
  if (!parsed) return parsed.error();
  return unwrapped(*std::move(parsed), notes);
}

}  // namespace cove::tools
