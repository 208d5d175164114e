/// Checks JSON against a JSON Schema, and says in a person's words what is wrong: the one place
/// that calls valijson.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cove/result.hpp>

namespace cove::base {

/// kInvalidArgument names every wrong or unknown key by its path ("lifecycle.stop_after_s",
/// "entries[1].path"), and what would be right there. `schema` is one of ours: objects of named
/// properties, or of any with one rule, arrays of one kind of item, no references.
Result<void> check_against_schema(const nlohmann::json& document, const nlohmann::json& schema);

}  // namespace cove::base
