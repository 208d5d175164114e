/// JSON and CBOR without exceptions: the one place that calls nlohmann's parser.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include <cove/result.hpp>

namespace cove::base {

/// Parses one JSON text of at most 64 levels. kInvalidArgument says where it is wrong.
Result<nlohmann::json> parse_json(std::string_view text);

/// Writes JSON on one line; bytes that are no UTF-8 become U+FFFD.
std::string dump_json(const nlohmann::json& value);

/// The same over several lines, for people.
std::string dump_json_pretty(const nlohmann::json& value);

}  // namespace cove::base
