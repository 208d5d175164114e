/// cove_buffer: bytes that the host owns.
#pragma once

#include <string>
#include <utility>

#include <cove/bytes.hpp>

#include "abi.hpp"

/// A string keeps the NUL behind the last byte that the header promises.
struct cove_buffer {
  std::string bytes;
};

namespace cove::capi {

inline cove_buffer* make_buffer(std::string bytes) { return new cove_buffer{std::move(bytes)}; }

inline cove_buffer* make_buffer(const Bytes& bytes) {
  return make_buffer(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

}  // namespace cove::capi
