/// Settings of a configuration file: found, set and taken out again, and everything else kept.
/// Pure functions of bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prepare/mirrors/formats/scan.hpp"

namespace cove::prepare {

struct SettingKey {
  std::string section;  ///< as ScannedItem
  std::string key;
};

struct FoundSetting {
  std::string value;  ///< for comparing
  std::string lines;  ///< as they are in the file, separated by LF
};

/// The setting that counts: where it is there more than once, the last. Errors: as scan;
/// kUnsupported - TOML that says it in another form (an inline table, a dotted key).
Result<std::optional<FoundSetting>> find_setting(Language language, std::string_view text,
                                                 const SettingKey& key);

/// The file with `lines` for the setting, in its place where it is there; without it where none are
/// given. Errors: as find_setting.
Result<std::string> put_setting(Language language, std::string_view text, const SettingKey& key,
                                const std::optional<std::string>& lines);

/// The file without the header of `section` where nothing is in it and `before` has none.
Result<std::string> drop_new_section(Language language, std::string_view text,
                                     std::string_view before, const std::string& section);

}  // namespace cove::prepare
