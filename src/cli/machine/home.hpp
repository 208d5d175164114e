/// Where the command keeps everything, and the configuration that follows from it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <cove/config.hpp>
#include <cove/result.hpp>

#include "cli/arguments/request.hpp"

namespace cove::cli {

/// What the command reads of its surroundings, so that tests can bring their own.
struct Surroundings {
  std::function<std::optional<std::string>(const char* name)> variable;
  bool root = false;      ///< the effective user is uid 0
  std::string directory;  ///< the current one, absolute
};

/// The state directory, absolute: --home, else COVE_HOME, else /var/lib/cove for root, else
/// $XDG_STATE_HOME/cove, else $HOME/.local/state/cove. An empty variable counts as none.
/// kFailedPrecondition: nothing says where.
Result<std::string> state_directory(const Request& request, const Surroundings& surroundings);

/// The configuration: --config FILE, with the state directory filled in where it has none; else the
/// default one for it. An explicit --home wins over the file.
Result<Config> load_config(const Request& request, const Surroundings& surroundings);

}  // namespace cove::cli
