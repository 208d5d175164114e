/// The environment of an acquire's commands, from its inputs.
#pragma once

#include <map>
#include <string>

#include <cove/prepare_inputs.hpp>

namespace cove::prepare {

/// Variables, then time zone and locale, then secrets: the later ones win.
std::map<std::string, std::string> environment_of(const PrepareEnvironment& environment);

/// kInvalidArgument names the variable and the rule, never a value.
Result<void> check(const PrepareEnvironment& environment);

}  // namespace cove::prepare
