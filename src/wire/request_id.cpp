#include "wire/request_id.hpp"

#include <algorithm>
#include <string>

#include "base/text/hex.hpp"
#include "wire/cbor.hpp"

namespace cove::wire {
namespace {

unsigned digit_of(char c) {
  return c <= '9' ? static_cast<unsigned>(c - '0') : static_cast<unsigned>(c - 'a') + 10U;
}

}  // namespace

nlohmann::json id_field(const RequestId& id) {
  // SAFETY: bytes seen as characters.
  return byte_string({reinterpret_cast<const char*>(id.data()), id.size()});
}

RequestId read_id(Fields& fields, const char* name) {
  RequestId id{};
  const std::string bytes = fields.bytes(name);
  if (bytes.size() != id.size()) {
    fields.fail(std::string(name) + " is not 16 bytes");
    return id;
  }
  std::transform(bytes.begin(), bytes.end(), id.begin(),
                 [](char c) { return static_cast<std::byte>(c); });
  return id;
}

std::optional<RequestId> id_from_hex(std::string_view text) {
  RequestId id{};
  if (!base::is_hex(text, 2 * id.size())) return std::nullopt;
  for (std::size_t i = 0; i < id.size(); ++i) {
    id[i] = static_cast<std::byte>(digit_of(text[2 * i]) << 4U | digit_of(text[2 * i + 1]));
  }
  return id;
}

}  // namespace cove::wire
