#include "cli/machine/home.hpp"

#include <cerrno>
#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "base/system/system_error.hpp"
#include "base/text/display_text.hpp"
#include "base/text/json.hpp"

namespace cove::cli {
namespace {

constexpr std::size_t kMaxConfigBytes = 1U << 20U;

std::string absolute(const std::string& path, const Surroundings& surroundings) {
  return path.starts_with('/') ? path : surroundings.directory + "/" + path;
}

/// A variable's value; none where it is empty.
std::optional<std::string> set_variable(const Surroundings& surroundings, const char* name) {
  std::optional<std::string> value = surroundings.variable(name);
  return value && !value->empty() ? value : std::nullopt;
}

Result<std::string> read_text(const std::string& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return base::system_error(errno, "read the configuration " + base::quoted(path));
  std::string text;
  for (char c = 0; text.size() <= kMaxConfigBytes && in.get(c);) text += c;
  if (in.bad()) return base::system_error(EIO, "read the configuration " + base::quoted(path));
  if (text.size() <= kMaxConfigBytes) return text;
  return Error(ErrorCode::kTooLarge,
               "the configuration " + base::quoted(path) + " has more than 1 MiB");
}

}  // namespace

Result<std::string> state_directory(const Request& request, const Surroundings& surroundings) {
  if (request.home) {
    if (!request.home->empty()) return absolute(*request.home, surroundings);
    return Error(ErrorCode::kInvalidArgument, "--home is empty");
  }
  if (const auto home = set_variable(surroundings, "COVE_HOME")) {
    return absolute(*home, surroundings);
  }
  if (surroundings.root) return std::string("/var/lib/cove");
  const auto state = set_variable(surroundings, "XDG_STATE_HOME");
  if (state && state->starts_with('/')) return *state + "/cove";  // a relative one is not valid
  if (const auto home = set_variable(surroundings, "HOME")) {
    return absolute(*home, surroundings) + "/.local/state/cove";
  }
  return Error(ErrorCode::kFailedPrecondition,
               "nothing says where to keep the state: set COVE_HOME, or give --home DIR");
}

Result<Config> load_config(const Request& request, const Surroundings& surroundings) {
  if (!request.config) {
    Config config;
    COVE_TRY(config.state_dir, state_directory(request, surroundings));
    return config;
  }
  const std::string shown = base::quoted(*request.config);
  COVE_TRY(const std::string text, read_text(*request.config));
  Result<nlohmann::json> document = base::parse_json(text);
  if (!document) {
    return Error(ErrorCode::kInvalidArgument, shown + " is " + document.error().message());
  }
  const bool has_own = !document->is_object() || document->contains("state_dir");
  // What stands in the file is checked also where another directory wins over it.
  if (!has_own) (*document)["state_dir"] = "/";
  Result<Config> config = parse_config(base::dump_json(*document));
  if (!config) return config.error().with_context("file", *request.config);
  if (request.home || !has_own) {
    COVE_TRY(config->state_dir, state_directory(request, surroundings));
  }
  return config;
}

}  // namespace cove::cli
