#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include <cove/prepare_inputs.hpp>

#include "base/text/display_text.hpp"
#include "base/text/hex.hpp"
#include "prepare/inputs/environment.hpp"
#include "prepare/inputs/limits.hpp"
#include "prepare/mirrors/managed_file.hpp"

namespace cove {
namespace {

using namespace std::chrono_literals;

Error wrong(const std::string& what) { return Error(ErrorCode::kInvalidArgument, what); }

bool is_plain(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/// `[A-Za-z0-9_][A-Za-z0-9._-]{0,63}`
bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= 64 && is_plain(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_plain(c) || c == '.' || c == '-'; });
}

Result<void> check_id(const char* what, const std::string& id, std::set<std::string>& seen) {
  if (!is_id(id)) {
    return wrong(std::string(what) + " " + base::quoted(id) +
                 " must be 1 to 64 of A-Z a-z 0-9 . _ - and not begin with . or -");
  }
  if (!seen.insert(id).second) {
    return wrong(std::string(what) + " " + base::quoted(id) + " is there twice");
  }
  return ok();
}

Result<void> check_timeout(const std::string& what, std::chrono::milliseconds timeout) {
  if (timeout >= 1s && timeout <= 600s) return ok();
  return wrong("the timeout of " + what + " is " + std::to_string(timeout.count()) +
               " ms; it must be 1 s to 600 s");
}

bool is_missing(const HostPath* path) { return path != nullptr && path->path.empty(); }

Result<void> check_files(const std::vector<InputFile>& files) {
  if (files.size() > prepare::kMaxInputFiles) {
    return wrong(std::to_string(files.size()) + " input files; at most " +
                 std::to_string(prepare::kMaxInputFiles) + " come with one acquire");
  }
  for (const InputFile& file : files) {
    const auto* opener = std::get_if<ByteOpener>(&file.content);
    if (opener != nullptr && (!*opener || file.fingerprint.empty())) {
      return wrong("the input file " + base::quoted(file.name) +
                   " comes as a stream, so it needs an opener and a fingerprint");
    }
    if (is_missing(std::get_if<HostPath>(&file.content))) {
      return wrong("the input file " + base::quoted(file.name) + " has an empty path");
    }
  }
  return ok();
}

Result<void> check_init(const InitScript& init) {
  if (init.text.size() > prepare::kMaxScriptBytes) {
    return wrong("the init script has " + std::to_string(init.text.size()) +
                 " bytes; at most 96 KiB are possible");
  }
  if (init.text.find('\0') != std::string::npos) return wrong("the init script has a NUL byte");
  if (init.cwd.find('\0') != std::string::npos) {
    return wrong("the init script's directory has a NUL byte");
  }
  return check_timeout("the init script", init.timeout);
}

Result<void> check_skills(const PrepareInputs& inputs) {
  std::set<std::string> versions;
  for (const SkillPackage& skill : inputs.skills) {
    COVE_TRY_VOID(check_id("the skill version", skill.version_id, versions));
    if (!skill.sha256.empty() && !base::is_hex(skill.sha256, 64)) {
      return wrong("the sha256 of the skill version " + base::quoted(skill.version_id) +
                   " must be 64 lower-case hex digits");
    }
    const auto* const key = std::get_if<ObjectKey>(&skill.content);
    if (key != nullptr && !key->empty()) {  // an empty one is looked up by the version id
      COVE_TRY_VOID(validate(*key));
    }
    if (is_missing(std::get_if<HostPath>(&skill.content))) {
      return wrong("the skill version " + base::quoted(skill.version_id) + " has an empty path");
    }
  }
  std::set<std::string> names;
  for (const BuiltinSkill& skill : inputs.builtin_skills) {
    COVE_TRY_VOID(check_id("the builtin skill", skill.name, names));
    if (is_missing(std::get_if<HostPath>(&skill.content))) {
      return wrong("the builtin skill " + base::quoted(skill.name) + " has an empty path");
    }
  }
  if (inputs.skill_init_timeout == 0ms) return ok();
  return check_timeout("the skills' init scripts", inputs.skill_init_timeout);
}

Result<void> check_steps(const std::vector<PrepareStep>& steps) {
  std::set<std::string> names;
  for (const PrepareStep& step : steps) {
    COVE_TRY_VOID(check_id("the prepare step", step.name, names));
    COVE_TRY_VOID(check_timeout("the prepare step " + base::quoted(step.name), step.timeout));
    if (!step.apply) return wrong("the prepare step " + base::quoted(step.name) + " does nothing");
    const bool is_known = name_of(step.after) != "unknown" && name_of(step.policy) != "unknown";
    if (!is_known) {
      return wrong("the prepare step " + base::quoted(step.name) + " has no known stage or policy");
    }
  }
  return ok();
}

}  // namespace

Result<void> validate(const PrepareInputs& inputs) {
  COVE_TRY_VOID(prepare::validate_mirrors(inputs.mirrors));
  COVE_TRY_VOID(check_files(inputs.files));
  COVE_TRY_VOID(check_skills(inputs));
  if (inputs.init) COVE_TRY_VOID(check_init(*inputs.init));
  COVE_TRY_VOID(prepare::check(inputs.environment));
  return check_steps(inputs.steps);
}

}  // namespace cove
