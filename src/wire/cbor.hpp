/// Control payloads: CBOR (RFC 8949), checked before nlohmann's decoder sees it.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <cove/bytes.hpp>
#include <cove/result.hpp>

namespace cove::wire {

constexpr int kMaxCborDepth = 16;

/// Decodes exactly one item: at most 64 KiB and 16 levels, definite lengths, no tags, text keys.
/// kIntegrity says what is wrong.
Result<nlohmann::json> decode_cbor(ByteView bytes);

Bytes encode_cbor(const nlohmann::json& value);

/// A CBOR byte string: paths, arguments and the like are bytes, not text.
nlohmann::json byte_string(std::string_view bytes);

}  // namespace cove::wire
