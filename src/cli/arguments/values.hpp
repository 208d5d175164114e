/// Values of options that are more than a text.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments/request.hpp"

namespace cove::cli {

/// kInvalidArgument: `what`, and where help is.
Error usage_error(const std::string& what, const std::string& command);

/// Each reads the option's text, where it was given, into the request. kInvalidArgument says what
/// would be right.
Result<void> take_env(const std::vector<std::string>& pairs, const std::string& command,
                      Request& request);
Result<void> take_mode(const std::string& text, Request& request);
Result<void> take_type(const std::string& text, FindQuery& query);
Result<void> take_format(const std::string& text, Request& request);
Result<void> take_mirrors(const std::vector<std::string>& pairs, Mirrors& mirrors);

}  // namespace cove::cli
