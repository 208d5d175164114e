#include "prepare/mirrors/managed_file.hpp"

#include <algorithm>

#include "prepare/mirrors/formats/maven_settings.hpp"

namespace cove::prepare {
namespace {

using Kind = ManagedFile::Kind;

constexpr std::size_t kLargest = 256 * 1024;

Result<void> check_editable(std::string_view text) {
  if (text.size() > kLargest) {
    return Error(ErrorCode::kUnsupported, "it has more than 256 KiB");
  }
  if (text.find('\0') != std::string_view::npos) {
    return Error(ErrorCode::kUnsupported, "it has a NUL byte");
  }
  return ok();
}

bool is_wanted(const ManagedFile& file) {
  switch (file.kind) {
    case Kind::kMaven: return !file.maven_url.empty();
    case Kind::kAptOneLine:
    case Kind::kAptDeb822: return !file.apt.main.empty();
    case Kind::kSettings: break;
  }
  return std::any_of(file.settings.begin(), file.settings.end(),
                     [](const ManagedSetting& setting) { return !setting.lines.empty(); });
}

/// The user's list with one more element.
Result<std::string> with_element(Language language, const FoundSetting& found,
                                 const ManagedSetting& setting) {
  if (found.value.find(setting.element) != std::string::npos) return found.lines;
  if (language == Language::kPipConf) return found.lines + "\n    " + setting.element;
  const Lines lines(found.lines);
  for (const Line& line : lines.all()) {
    const std::size_t dash = line.text.find_first_not_of(" \t");
    if (dash == std::string::npos || line.text.compare(dash, 2, "- ") != 0) continue;
    return found.lines + "\n" + line.text.substr(0, dash) + "- \"" + setting.element + "\"";
  }
  const std::size_t close = found.lines.rfind(']');
  if (lines.size() == 1 && close != std::string::npos) {
    const std::string comma = found.lines[close - 1] == '[' ? "" : ", ";
    return found.lines.substr(0, close) + comma + "\"" + setting.element + "\"" +
           found.lines.substr(close);
  }
  return Error(ErrorCode::kUnsupported,
               "'" + setting.key.key + "' is a list in a form that is not edited");
}

Result<std::string> merged_settings(const ManagedFile& file, std::string text) {
  for (const ManagedSetting& setting : file.settings) {
    if (setting.lines.empty()) continue;
    std::string lines = setting.lines;
    COVE_TRY(const auto found, find_setting(file.language, text, setting.key));
    if (found && !setting.element.empty()) {
      COVE_TRY(lines, with_element(file.language, *found, setting));
    }
    COVE_TRY(text, put_setting(file.language, text, setting.key, lines));
  }
  return text;
}

Result<std::string> merged(const ManagedFile& file, const std::optional<std::string>& base) {
  switch (file.kind) {
    case Kind::kMaven: return put_maven_mirror(base.value_or(""), file.maven_url);
    case Kind::kAptOneLine:
    case Kind::kAptDeb822:
      if (!base) return file.apt_new_text;
      return merged_sources(*base, file.kind == Kind::kAptDeb822, file.apt);
    case Kind::kSettings: break;
  }
  return merged_settings(file, base.value_or(""));
}

Result<std::string> restored_settings(const ManagedFile& file, const std::string& present,
                                      const FileMemory& memory) {
  std::string text = present;
  const std::string before = memory.before.value_or("");
  for (const ManagedSetting& setting : file.settings) {
    COVE_TRY(const auto now, find_setting(file.language, text, setting.key));
    COVE_TRY(const auto ours, find_setting(file.language, memory.written, setting.key));
    COVE_TRY(const auto old, find_setting(file.language, before, setting.key));
    const bool is_ours = now && ours && now->value == ours->value;
    if (!is_ours || (old && old->value == ours->value)) continue;
    const auto lines = old ? std::optional(old->lines) : std::nullopt;
    COVE_TRY(text, put_setting(file.language, text, setting.key, lines));
    if (setting.key.section.empty()) continue;
    COVE_TRY(text, drop_new_section(file.language, text, before, setting.key.section));
  }
  return text;
}

Result<std::string> restored_maven(const std::string& present, const FileMemory& memory) {
  COVE_TRY(const auto now, find_maven_mirror(present));
  COVE_TRY(const auto ours, find_maven_mirror(memory.written));
  if (!now || now != ours) return present;
  return put_maven_mirror(present, std::nullopt);
}

}  // namespace

Result<std::optional<std::string>> restored(const ManagedFile& file,
                                            const std::optional<std::string>& present,
                                            const std::optional<FileMemory>& memory) {
  if (!present || !memory) return present;
  if (*present == memory->written) return memory->before;
  std::string text;
  switch (file.kind) {
    case Kind::kMaven: {
      COVE_TRY(text, restored_maven(*present, *memory));
      break;
    }
    case Kind::kAptOneLine:
    case Kind::kAptDeb822:
      text = restored_sources(*present, file.kind == Kind::kAptDeb822, memory->before.value_or(""),
                              memory->written);
      break;
    case Kind::kSettings: {
      COVE_TRY(text, restored_settings(file, *present, *memory));
      break;
    }
  }
  const bool blank = text.find_first_not_of(" \t\r\n") == std::string::npos;
  if (blank && !memory->before) return std::optional<std::string>();
  return std::optional(std::move(text));
}

Result<FilePlan> plan_file(const ManagedFile& file, const std::optional<std::string>& present,
                           const std::optional<FileMemory>& memory) {
  if (present) COVE_TRY_VOID(check_editable(*present));
  COVE_TRY(auto base, restored(file, present, memory));
  if (!is_wanted(file)) return FilePlan{std::move(base), std::nullopt};
  COVE_TRY(std::string text, merged(file, base));
  if (base && *base == text) return FilePlan{std::move(base), std::nullopt};
  FilePlan plan;
  plan.content = text;
  plan.memory = FileMemory{std::move(base), std::move(text)};
  return plan;
}

}  // namespace cove::prepare
