#include "prepare/mirrors/formats/scan.hpp"

#include <algorithm>

namespace cove::prepare {
namespace {

bool is_indented(std::string_view text) { return text.starts_with(' ') || text.starts_with('\t'); }

bool is_comment(std::string_view text, std::string_view marks) {
  return !text.empty() && marks.find(text.front()) != std::string_view::npos;
}

void add_item(Scanned& scanned, std::size_t line, std::string key, std::string value) {
  const std::string section = scanned.sections.empty() ? "" : scanned.sections.back().name;
  scanned.items.push_back({section, std::move(key), std::move(value), line, line + 1});
}

/// "[name]": a section begins.
bool take_section(Scanned& scanned, std::size_t line, std::string_view text) {
  if (!text.starts_with('[') || !text.ends_with(']')) return false;
  scanned.sections.push_back({std::string(trimmed(text.substr(1, text.size() - 2))), line, false});
  return true;
}

Scanned scan_flat(const Lines& lines, bool has_sections) {
  Scanned scanned;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view text = trimmed(lines.at(i));
    if (text.empty() || is_comment(text, "#;")) continue;
    if (has_sections && take_section(scanned, i, text)) continue;
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string_view value = text.substr(std::min(equals + 1, text.size()));
    add_item(scanned, i, unquoted(text.substr(0, equals)), unquoted(value));
  }
  return scanned;
}

Scanned scan_yarnrc(const Lines& lines) {
  Scanned scanned;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view text = trimmed(lines.at(i));
    if (text.empty() || is_comment(text, "#")) continue;
    if (is_indented(lines.at(i)) && !scanned.items.empty()) {
      scanned.items.back().end = i + 1;
      continue;
    }
    const std::size_t close = text.starts_with('"') ? text.find('"', 1) : std::string_view::npos;
    const std::size_t cut = close != std::string_view::npos
                                ? close + 1
                                : std::min(text.find_first_of(" \t:"), text.size());
    std::string_view rest = trimmed(text.substr(cut));
    if (rest.starts_with(':')) rest.remove_prefix(1);
    add_item(scanned, i, unquoted(text.substr(0, cut)), unquoted(rest));
  }
  return scanned;
}

/// pip takes `Index_URL` and `--index-url` for the same.
std::string pip_key(std::string_view text) {
  std::string key(trimmed(text));
  for (char& c : key) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_') c = '-';
  }
  return key.starts_with("--") ? key.substr(2) : key;
}

Result<Scanned> scan_pip(const Lines& lines) {
  Scanned scanned;
  bool in_item = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines.at(i);
    const std::string_view text = trimmed(line);
    if (text.empty() || is_comment(text, "#;")) continue;
    if (is_indented(line) && in_item) {
      ScannedItem& item = scanned.items.back();
      item.end = i + 1;
      item.value += (item.value.empty() ? "" : "\n") + std::string(text);
      continue;
    }
    in_item = false;
    if (take_section(scanned, i, text)) continue;
    const std::size_t cut = text.find_first_of("=:");
    if (cut == std::string_view::npos || scanned.sections.empty()) {
      return not_edited(i, "it is no setting of a section");
    }
    add_item(scanned, i, pip_key(text.substr(0, cut)), std::string(trimmed(text.substr(cut + 1))));
    in_item = true;
  }
  return scanned;
}

/// Where a key of YAML ends: at a colon with a space or nothing behind it. A key of Ruby's begins
/// with one (`:sources:`).
std::size_t yaml_key_end(std::string_view text) {
  if (text.starts_with('"') || text.starts_with('\'')) {
    const std::size_t close = text.find(text.front(), 1);
    if (close == std::string_view::npos || text.substr(close + 1, 1) != ":") {
      return std::string_view::npos;
    }
    return close + 1;
  }
  for (std::size_t at = text.find(':', 1); at != std::string_view::npos;
       at = text.find(':', at + 1)) {
    if (at + 1 == text.size() || text[at + 1] == ' ' || text[at + 1] == '\t') return at;
  }
  return std::string_view::npos;
}

Result<Scanned> scan_yaml(const Lines& lines) {
  Scanned scanned;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines.at(i);
    const std::string_view text = trimmed(line);
    if (text.empty() || text.starts_with('#')) continue;
    const bool goes_on = is_indented(line) || text == "-" || text.starts_with("- ");
    if (goes_on) {
      if (scanned.items.empty()) return not_edited(i, "it belongs to no setting");
      ScannedItem& item = scanned.items.back();
      item.end = i + 1;
      item.value += (item.value.empty() ? "" : "\n") + std::string(text);
      continue;
    }
    if (text == "---" && scanned.items.empty()) continue;
    const std::size_t end = yaml_key_end(text);
    const bool plain =
        std::string_view("{[}]%!&*|>?@`,").find(text.front()) == std::string_view::npos;
    if (!plain || end == std::string_view::npos || text.starts_with("---") ||
        text.starts_with("...")) {
      return not_edited(i, "it is no 'key: value' of the top level");
    }
    add_item(scanned, i, unquoted(text.substr(0, end)), unquoted(text.substr(end + 1)));
  }
  return scanned;
}

}  // namespace

Error not_edited(std::size_t line, const std::string& why) {
  return {ErrorCode::kUnsupported,
          "line " + std::to_string(line + 1) + " has a form that is not edited: " + why};
}

Result<Scanned> scan(Language language, const Lines& lines) {
  switch (language) {
    case Language::kNpmrc: return scan_flat(lines, true);
    case Language::kEnv: return scan_flat(lines, false);
    case Language::kYarnrc: return scan_yarnrc(lines);
    case Language::kPipConf: return scan_pip(lines);
    case Language::kToml: return scan_toml(lines);
    case Language::kYaml: return scan_yaml(lines);
  }
  return Error(ErrorCode::kInternal, "no such language");
}

}  // namespace cove::prepare
