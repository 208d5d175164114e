/// JSON as models write it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <cove/result.hpp>

namespace cove::tools {

/// Parses a JSON object. What is common and can only be meant in one way is taken so, and said in
/// `notes`: nothing at all, a Markdown fence, a comma before a closing bracket, a control character
/// inside a text, an object inside a text. kInvalidArgument: anything else; what is cut off is
/// never completed.
Result<nlohmann::json> parse_leniently(std::string_view text, std::vector<std::string>& notes);

}  // namespace cove::tools
