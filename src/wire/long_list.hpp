/// Lists that may be too long for one payload: they go out as several, each a list of its own.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <cove/bytes.hpp>
#include <cove/result.hpp>

#include "wire/cbor.hpp"
#include "wire/fields.hpp"

namespace cove::wire {

/// `encode` gives an item's map, `bytes_of` about how many bytes that becomes.
template <class Item, class Encode, class BytesOf>
std::vector<Bytes> encode_long_list(const std::vector<Item>& items, const Encode& encode,
                                    const BytesOf& bytes_of) {
  constexpr std::size_t kPayload = 32 * 1024;
  std::vector<Bytes> payloads;
  nlohmann::json list = nlohmann::json::array();
  std::size_t bytes = 0;
  for (const Item& item : items) {
    list.push_back(encode(item));
    bytes += bytes_of(item);
    if (bytes < kPayload) continue;
    payloads.push_back(encode_cbor(list));
    list = nlohmann::json::array();
    bytes = 0;
  }
  if (!list.empty()) payloads.push_back(encode_cbor(list));
  return payloads;
}

/// Reads one payload of it: `read` gives the item of Fields. kIntegrity. `what` they are, for
/// people.
template <class Item, class Read>
Result<std::vector<Item>> parse_long_list(ByteView payload, const std::string& what,
                                          const Read& read) {
  COVE_TRY(const auto list, decode_cbor(payload));
  if (!list.is_array()) return Error(ErrorCode::kIntegrity, "wire: " + what + " that are no list");
  std::vector<Item> items;
  for (const auto& element : list) {
    Fields fields(element);
    items.push_back(read(fields));
    COVE_TRY_VOID(fields.result());
  }
  return items;
}

}  // namespace cove::wire
