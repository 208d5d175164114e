/// Values of another type than the schema's that can only be meant in one way.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace cove::tools {

/// Makes of `object` what `schema` wants where that is clear, and says so in `notes`: numbers and
/// booleans that are texts, texts that are numbers, null for what is not required, one item in
/// place of an array, an array inside a text. Then fills in what is missing and has a default.
void coerce(nlohmann::json& object, const nlohmann::json& schema, std::vector<std::string>& notes);

}  // namespace cove::tools
