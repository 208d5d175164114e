/// Paths in control payloads: byte strings, with the session that they are seen from.
#pragma once

#include <cove/guest_files.hpp>

#include "wire/cbor.hpp"
#include "wire/fields.hpp"

namespace cove::wire {

inline void put_path(nlohmann::json& map, const GuestPath& path) {
  map["session"] = byte_string(path.session);
  map["path"] = byte_string(path.path);
}

inline GuestPath read_path(Fields& fields) {
  return {fields.bytes("session"), fields.bytes("path")};
}

}  // namespace cove::wire
