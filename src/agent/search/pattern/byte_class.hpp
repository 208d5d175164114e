/// ByteClass: a set of byte values, and how often text has one of them.
#pragma once

#include <bitset>
#include <cstdint>
#include <vector>

namespace cove::agent {

using ByteClass = std::bitset<256>;

/// A fixed number of bytes in a row, each of its class.
using ByteRun = std::vector<ByteClass>;

inline ByteClass class_of(unsigned char byte) {
  ByteClass set;
  set.set(byte);
  return set;
}

/// How many of 100,000 bytes of source code and English text are in the set.
std::uint32_t commonness(const ByteClass& set);

}  // namespace cove::agent
