/// The versioned structs of a host's parts: their sizes in the first release.
#pragma once

#include "options.hpp"

namespace cove::capi {

template <>
inline StructRule rule_of<cove_clock>() {
  return {"cove_clock", 40, sizeof(cove_clock)};
}
template <>
inline StructRule rule_of<cove_document>() {
  return {"cove_document", 88, sizeof(cove_document)};
}
template <>
inline StructRule rule_of<cove_metadata_store>() {
  return {"cove_metadata_store", 80, sizeof(cove_metadata_store)};
}
template <>
inline StructRule rule_of<cove_object>() {
  return {"cove_object", 24, sizeof(cove_object)};
}
template <>
inline StructRule rule_of<cove_byte_source>() {
  return {"cove_byte_source", 32, sizeof(cove_byte_source)};
}
template <>
inline StructRule rule_of<cove_object_store>() {
  return {"cove_object_store", 72, sizeof(cove_object_store)};
}
template <>
inline StructRule rule_of<cove_instance_ref>() {
  return {"cove_instance_ref", 40, sizeof(cove_instance_ref)};
}
template <>
inline StructRule rule_of<cove_offline_volume>() {
  return {"cove_offline_volume", 48, sizeof(cove_offline_volume)};
}
template <>
inline StructRule rule_of<cove_inventory>() {
  return {"cove_inventory", 56, sizeof(cove_inventory)};
}
template <>
inline StructRule rule_of<cove_provider>() {
  return {"cove_provider", 112, sizeof(cove_provider)};
}

}  // namespace cove::capi
