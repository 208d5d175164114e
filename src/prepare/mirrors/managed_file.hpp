/// One configuration file of the user that Cove sets something in, and how what was there comes
/// back. Pure functions of bytes.
///
/// There is nothing of Cove's in the file but the settings: npm, pip and others write their files
/// anew when a setting changes and drop comments, so marks in them would be lost. What Cove did is
/// known from two copies beside it: the file as it was, and as Cove wrote it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cove/prepare_inputs.hpp>
#include <cove/result.hpp>

#include "prepare/mirrors/formats/apt_sources.hpp"
#include "prepare/mirrors/formats/settings.hpp"

namespace cove::prepare {

/// A setting that Cove manages, and what it should be.
struct ManagedSetting {
  SettingKey key;
  std::string lines;  ///< as it is written; empty = it is not wanted

  /// It is a list of the user's: this is added as one more element. Empty: it is replaced.
  std::string element = {};
};

struct ManagedFile {
  enum class Kind : unsigned char { kSettings, kMaven, kAptOneLine, kAptDeb822 };

  std::string id;    ///< names the copies: "npmrc"
  std::string path;  ///< below HOME, or absolute
  Kind kind = Kind::kSettings;
  Language language = Language::kNpmrc;
  std::vector<ManagedSetting> settings;
  std::string maven_url;
  AptMirror apt;  ///< without `main`: not wanted

  /// Of apt: what the file is where no file names an official archive.
  std::string apt_new_text = {};
};

/// The copies.
struct FileMemory {
  std::optional<std::string> before;  ///< none = there was no file
  std::string written;

  friend bool operator==(const FileMemory&, const FileMemory&) = default;
};

/// What a file should be, and what is to be remembered of it.
struct FilePlan {
  std::optional<std::string> content;  ///< none = no file
  std::optional<FileMemory> memory;    ///< none = nothing of Cove's is in it
};

/// Takes out what is Cove's. Where nobody changed the file since, it is byte for byte what it was;
/// else each setting that still has Cove's value gets the user's back, and the rest stays.
Result<std::optional<std::string>> restored(const ManagedFile& file,
                                            const std::optional<std::string>& present,
                                            const std::optional<FileMemory>& memory);

/// What the file should be now. The same again where it is given what it gave. kUnsupported: the
/// file is in a form that is not edited; it stays as it is.
Result<FilePlan> plan_file(const ManagedFile& file, const std::optional<std::string>& present,
                           const std::optional<FileMemory>& memory);

/// The files below HOME for these mirrors; those for which none is given are among them, without a
/// wanted setting.
std::vector<ManagedFile> home_files(const Mirrors& mirrors);

/// kInvalidArgument: a mirror is no http(s) URL of plain characters.
Result<void> validate_mirrors(const Mirrors& mirrors);

}  // namespace cove::prepare
