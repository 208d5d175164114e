/// Paths in control payloads: byte strings, with the session that they are seen from and the root
/// beneath which they are resolved.
#pragma once

#include <cove/guest_files.hpp>

#include "wire/cbor.hpp"
#include "wire/fields.hpp"

namespace cove::wire {

inline void put_path(nlohmann::json& map, const GuestPath& path) {
  map["session"] = byte_string(path.session);
  map["path"] = byte_string(path.path);
  if (path.root != GuestRoot::kWorkspace) map["root"] = static_cast<std::uint32_t>(path.root);
}

inline GuestRoot read_root(Fields& fields) {
  const std::uint32_t root = fields.small("root");
  if (root > static_cast<std::uint32_t>(GuestRoot::kHome)) fields.fail("there is no such root");
  return root == 0 ? GuestRoot::kWorkspace : GuestRoot::kHome;
}

inline GuestPath read_path(Fields& fields) {
  return {fields.bytes("session"), fields.bytes("path"), read_root(fields)};
}

}  // namespace cove::wire
