/// What an acquire asks to be prepared.
///
///     PrepareInputs inputs;
///     inputs.mirrors.npm = "https://npm.example.org/";
///     inputs.files.push_back({.name = "report.pdf", .content = bytes});
///     inputs.init = InitScript{.text = "pip install -r requirements.txt"};
///     inputs.environment.secrets["API_KEY"] = key;
///
/// Plain values; `validate` says what is wrong with them. A Workspace keeps them for as long as it
/// lives: where it wakes on another instance, it is prepared again.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <cove/bytes.hpp>
#include <cove/ids.hpp>
#include <cove/object_store.hpp>
#include <cove/prepare.hpp>
#include <cove/result.hpp>
#include <cove/task.hpp>

namespace cove {

/// Where package managers get their packages: each an http(s) URL, empty = as the image has it. See
/// docs/mirrors.md.
struct Mirrors {
  std::string npm;       ///< registry of npm, yarn, pnpm and bun
  std::string pypi;      ///< index of pip and uv
  std::string apt;       ///< Debian's or Ubuntu's archive; only with a writable system layer
  std::string go;        ///< GOPROXY
  std::string cargo;     ///< sparse index
  std::string maven;     ///< mirror of central
  std::string rubygems;  ///< source

  friend bool operator==(const Mirrors&, const Mirrors&) = default;
};

/// Opens something to be read from its beginning, as often as it is asked. On Cove's scheduler;
/// must not block. `call` lives until the task ends.
using ByteOpener =
    std::function<Task<Result<std::unique_ptr<ByteSource>>>(const CallContext& call)>;

/// A file or directory of the host's machine, read by Cove without following a link at its end.
struct HostPath {
  std::string path;
};

/// A file that the user gave in this chat; it comes to `user_files` of the session.
struct InputFile {
  /// As the user's machine called it. What follows the last slash (or backslash) is kept, without
  /// control characters, and cut to 200 bytes; where another file has the name already it becomes
  /// `name-1.ext`.
  std::string name;

  std::variant<Bytes, HostPath, ByteOpener> content;

  /// Changes with the content (an etag, an object key). Needed with a ByteOpener; else computed.
  std::string fingerprint;
};

/// A program text for bash (sh where the image has no bash; the report says so).
struct InitScript {
  std::string text;     ///< at most 96 KiB
  std::string version;  ///< another one, and the script runs again with the same text
  std::string cwd;      ///< absolute, or relative to /workspace; empty = /workspace
  std::chrono::milliseconds timeout{std::chrono::seconds(30)};  ///< 1 s to 600 s
};

/// A published skill: zip, tar, tar.gz or tar.zst with a SKILL.md, or a directory like that.
struct SkillPackage {
  std::string version_id;  ///< `[A-Za-z0-9_][A-Za-z0-9._-]{0,63}`; never another content later
  std::variant<Bytes, HostPath, ObjectKey> content;  ///< HostPath: a package file or a directory
  std::string sha256;  ///< 64 hex of the package's bytes, checked; empty = not known
};

/// The one that Cove::add_skill keeps under this version id; an acquire finds it, or fails with
/// kNotFound.
SkillPackage published_skill(std::string version_id);

/// A skill that the platform brings, outside the workspace.
struct BuiltinSkill {
  std::string name;  ///< as a version id
  std::variant<Bytes, HostPath> content;
};

/// What commands of this Workspace find in their environment, over the sandbox's own; a command's
/// own ExecSpec::env goes over this.
struct PrepareEnvironment {
  std::map<std::string, std::string> variables;

  /// As variables, but never written to a disk, a log, the record, an error or a report: what
  /// programs print of them there is replaced by `***`. Empty or at least 4 bytes each.
  std::map<std::string, std::string> secrets;

  std::string time_zone;  ///< TZ: "Europe/Berlin"
  std::string locale;     ///< LANG and LC_ALL: "de_DE.UTF-8"
};

/// All that is to be made ready; each part may be empty.
struct PrepareInputs {
  Mirrors mirrors;
  std::vector<InputFile> files;
  std::vector<SkillPackage> skills;
  std::vector<BuiltinSkill> builtin_skills;
  std::optional<InitScript> init;

  /// A skill's own init script is `entrypoint.sh` at its top, run there; its failure does not stop
  /// the acquire. 1 s to 600 s each; 0 = none is run.
  std::chrono::milliseconds skill_init_timeout{std::chrono::seconds(30)};

  PrepareEnvironment environment;
  std::vector<PrepareStep> steps;  ///< the host's own
  PrepareObserver observer;        ///< hears of progress
};

/// kInvalidArgument names the input and its rule, never a secret's value.
Result<void> validate(const PrepareInputs& inputs);

}  // namespace cove
