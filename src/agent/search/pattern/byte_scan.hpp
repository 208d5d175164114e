/// Looks for needles in a block of text, many bytes at a time where the machine can.
///
/// A needle is a short run of byte classes. Its rarest bytes are its probes: a place where all
/// probes hold is then looked at in full.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "agent/search/pattern/byte_class.hpp"

namespace cove::agent {

constexpr std::size_t kLongestNeedle = 16;

struct ByteProbe {
  static constexpr std::size_t kMostRanges = 4;
  struct Range {
    std::uint8_t low = 0;
    std::uint8_t span = 0;  ///< the last byte less the first
  };

  std::uint32_t offset = 0;  ///< in the needle
  std::uint32_t ranges = 0;
  std::array<Range, kMostRanges> range{};
};

struct ByteNeedle {
  static constexpr std::size_t kMostProbes = 3;

  std::uint32_t length = 0;  ///< 1 to kLongestNeedle
  std::uint32_t probes = 0;  ///< at least 1
  bool plain = false;        ///< every probe is one byte
  std::array<ByteProbe, kMostProbes> probe{};
  std::array<std::uint16_t, 256> places{};  ///< bit i: the byte may be the needle's i-th

  /// How many of 100,000 places in text pass the probes.
  double hits = 0;
};

/// REQUIRES: 1 to kLongestNeedle classes, none of them empty.
ByteNeedle make_needle(const ByteRun& run);

/// The first place in [at, end) where one of the needles is, whole; `end` where there is none.
const char* find_needle(const ByteNeedle* needles, std::size_t count, const char* at,
                        const char* end);

/// How many line ends are in [at, end).
std::uint64_t count_lines(const char* at, const char* end);

}  // namespace cove::agent
