/// From the text that a model wrote to arguments that a tool can use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <cove/result.hpp>

namespace cove::tools {

struct Arguments {
  nlohmann::json object;           ///< as the schema wants it, defaults filled in
  std::vector<std::string> notes;  ///< what was not taken as it stood
};

/// kInvalidArgument says everything that is wrong, and what would be right; kTooLarge - more than
/// 16 MiB.
Result<Arguments> read_arguments(std::string_view text, const nlohmann::json& schema);

}  // namespace cove::tools
