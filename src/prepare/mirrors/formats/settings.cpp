#include "prepare/mirrors/formats/settings.hpp"

#include <algorithm>

namespace cove::prepare {
namespace {

std::string joined(const std::string& section, const std::string& key) {
  return section.empty() ? key : section + "." + key;
}

/// TOML has many ways to say the same; only the plain one is edited, and none is added beside
/// another.
Result<void> check_form(const Scanned& scanned, const SettingKey& key) {
  const std::string wanted = joined(key.section, key.key);
  for (const ScannedItem& item : scanned.items) {
    if (item.section == key.section && item.key == key.key) continue;
    const std::string name = joined(item.section, item.key);
    const bool clashes =
        name == wanted || wanted.starts_with(name + ".") || name.starts_with(wanted + ".");
    if (clashes) return not_edited(item.begin, "it sets '" + wanted + "' in another form");
  }
  for (const ScannedSection& section : scanned.sections) {
    const bool clashes =
        section.name == wanted || section.name.starts_with(wanted + ".") ||
        (section.is_list && (wanted == section.name || wanted.starts_with(section.name + ".")));
    if (clashes) return not_edited(section.line, "it sets '" + wanted + "' in another form");
  }
  return ok();
}

Result<Scanned> scan_for(Language language, const Lines& lines, const SettingKey& key) {
  COVE_TRY(Scanned scanned, scan(language, lines));
  if (language == Language::kToml) COVE_TRY_VOID(check_form(scanned, key));
  return scanned;
}

const ScannedItem* last_of(const Scanned& scanned, const SettingKey& key) {
  const ScannedItem* found = nullptr;
  for (const ScannedItem& item : scanned.items) {
    if (item.section == key.section && item.key == key.key) found = &item;
  }
  return found;
}

const ScannedSection* section_of(const Scanned& scanned, const std::string& name) {
  for (const ScannedSection& section : scanned.sections) {
    if (section.name == name && !section.is_list) return &section;
  }
  return nullptr;
}

/// Where a new setting of a section that is there goes: behind its last one.
std::size_t place_in(const Scanned& scanned, const Lines& lines, const std::string& section) {
  std::size_t place = 0;
  const ScannedSection* const header = section.empty() ? nullptr : section_of(scanned, section);
  if (header != nullptr) place = header->line + 1;
  bool any = false;
  for (const ScannedItem& item : scanned.items) {
    if (item.section != section) continue;
    place = item.end;
    any = true;
  }
  // A file without sections grows at its end; before a section only the top is sure.
  if (section.empty() && !any && scanned.sections.empty()) place = lines.size();
  return place;
}

void append_section(Lines& lines, const std::string& section, const std::string& text) {
  const bool gap = lines.size() > 0 && !is_blank(lines.at(lines.size() - 1));
  lines.replace(lines.size(), lines.size(), (gap ? "\n[" : "[") + section + "]\n" + text);
}

}  // namespace

Result<std::optional<FoundSetting>> find_setting(Language language, std::string_view text,
                                                 const SettingKey& key) {
  const Lines lines(text);
  COVE_TRY(const Scanned scanned, scan_for(language, lines, key));
  const ScannedItem* const item = last_of(scanned, key);
  if (item == nullptr) return std::optional<FoundSetting>();
  return std::optional(FoundSetting{item->value, lines.part(item->begin, item->end)});
}

Result<std::string> put_setting(Language language, std::string_view text, const SettingKey& key,
                                const std::optional<std::string>& wanted) {
  Lines lines(text);
  COVE_TRY(const Scanned scanned, scan_for(language, lines, key));
  const ScannedItem* const item = last_of(scanned, key);
  if (item != nullptr && wanted) lines.replace(item->begin, item->end, *wanted);
  if (item != nullptr && !wanted) lines.erase(item->begin, item->end);
  if (item != nullptr || !wanted) return lines.text();
  const bool there = key.section.empty() || section_of(scanned, key.section) != nullptr;
  if (!there) {
    append_section(lines, key.section, *wanted);
    return lines.text();
  }
  const std::size_t place = place_in(scanned, lines, key.section);
  lines.replace(place, place, *wanted);
  return lines.text();
}

Result<std::string> drop_new_section(Language language, std::string_view text,
                                     std::string_view before, const std::string& section) {
  Lines lines(text);
  COVE_TRY(const Scanned scanned, scan(language, lines));
  const ScannedSection* const header = section_of(scanned, section);
  COVE_TRY(const Scanned old, scan(language, Lines(before)));
  if (header == nullptr || section_of(old, section) != nullptr) return std::string(text);
  std::size_t end = lines.size();
  for (const ScannedSection& other : scanned.sections) {
    if (other.line > header->line) end = std::min(end, other.line);
  }
  std::size_t begin = header->line;
  for (std::size_t i = begin + 1; i < end; ++i) {
    if (!is_blank(lines.at(i))) return std::string(text);
  }
  // The empty line before it came with it.
  if (begin > 0 && is_blank(lines.at(begin - 1))) --begin;
  lines.erase(begin, header->line + 1);
  return lines.text();
}

}  // namespace cove::prepare
