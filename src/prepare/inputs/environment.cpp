#include "prepare/inputs/environment.hpp"

#include <algorithm>
#include <string_view>

#include "base/text/display_text.hpp"
#include "prepare/inputs/redactor.hpp"

namespace cove::prepare {
namespace {

constexpr std::size_t kMaxName = 200;
constexpr std::size_t kMaxValue = 64 * 1024;

Error wrong(const std::string& what) { return Error(ErrorCode::kInvalidArgument, what); }

bool is_name(std::string_view name) {
  const auto is_good = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (name.empty() || name.size() > kMaxName || (name[0] >= '0' && name[0] <= '9')) return false;
  return std::all_of(name.begin(), name.end(), is_good);
}

/// Both of these the sandbox itself has, and other parts rely on them.
bool is_ours(std::string_view name) { return name == "HOME" || name == "COVE_SANDBOX"; }

Result<void> check_variable(const std::string& name, const std::string& value) {
  if (!is_name(name)) {
    return wrong("the environment variable " + base::quoted(name) +
                 " must have a name of letters, digits and _, not beginning with a digit");
  }
  if (is_ours(name)) return wrong("the environment variable " + name + " is the sandbox's own");
  if (value.size() > kMaxValue || value.find('\0') != std::string::npos) {
    return wrong("the value of the environment variable " + name +
                 " must have at most 64 KiB and no NUL");
  }
  return ok();
}

/// Time zones and locales are names of files to the programs that read them.
Result<void> check_word(const char* what, const std::string& text) {
  const auto is_good = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           std::string_view("_+-/.:@,<>").find(c) != std::string_view::npos;
  };
  const bool is_path = text.starts_with('/') || text.find("..") != std::string::npos;
  if (text.size() <= 100 && !is_path && std::all_of(text.begin(), text.end(), is_good)) return ok();
  return wrong(std::string(what) + " " + base::quoted(text) + " is no name of one");
}

}  // namespace

std::map<std::string, std::string> environment_of(const PrepareEnvironment& environment) {
  std::map<std::string, std::string> all = environment.variables;
  if (!environment.time_zone.empty()) all["TZ"] = environment.time_zone;
  if (!environment.locale.empty()) all["LANG"] = all["LC_ALL"] = environment.locale;
  for (const auto& [name, value] : environment.secrets) all[name] = value;
  return all;
}

Result<void> check(const PrepareEnvironment& environment) {
  for (const auto& [name, value] : environment.variables) {
    COVE_TRY_VOID(check_variable(name, value));
  }
  for (const auto& [name, value] : environment.secrets) {
    COVE_TRY_VOID(check_variable(name, value));
    if (!value.empty() && value.size() < kLeastSecret) {
      return wrong("the secret " + name +
                   " has fewer than 4 bytes, so it cannot be told from other text");
    }
  }
  COVE_TRY_VOID(check_word("the time zone", environment.time_zone));
  return check_word("the locale", environment.locale);
}

}  // namespace cove::prepare
