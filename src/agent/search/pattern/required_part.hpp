/// What is known of a part of a regular expression, and of parts put together.
#pragma once

#include <cstddef>
#include <vector>

#include "agent/search/pattern/byte_class.hpp"

namespace cove::agent {

struct RequiredPart {
  bool exact = true;          ///< it matches exactly `prefix`, which is then also `suffix`
  ByteRun prefix;             ///< what every match begins with
  ByteRun suffix;             ///< what every match ends with
  std::vector<ByteRun> best;  ///< of these every match has one in it; empty = nothing is known

  /// What matches nothing but the empty text: an anchor.
  static RequiredPart empty() { return {}; }
  static RequiredPart of(ByteRun run);

  /// What may match anything.
  static RequiredPart anything();
};

/// How many of 100,000 places in text have one of the runs; 100,000 for none.
double expected_hits(const std::vector<ByteRun>& runs);

RequiredPart in_a_row(const std::vector<RequiredPart>& parts);
RequiredPart one_of(const std::vector<RequiredPart>& parts);

/// `part`, `least` times or, where `more`, oftener.
RequiredPart repeated(const RequiredPart& part, std::size_t least, bool more);

}  // namespace cove::agent
