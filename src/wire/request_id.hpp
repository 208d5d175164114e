/// RequestId: names one request, and the command that it started.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

#include "wire/fields.hpp"

namespace cove::wire {

/// Made by the host at random and unique over reconnects: a repeat of an id is answered from what
/// the agent remembers, not done again.
using RequestId = std::array<std::byte, 16>;

/// The id as a CBOR byte string.
nlohmann::json id_field(const RequestId& id);

/// Reads what id_field made; an error stays in `fields`.
RequestId read_id(Fields& fields, const char* name);

/// Reads 32 lower-case hexadecimal digits, the form in which a ProcessId names its request.
std::optional<RequestId> id_from_hex(std::string_view text);

}  // namespace cove::wire
