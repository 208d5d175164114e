/// Found: what a piece of a walk found, packed for the wire (wire/search_batch.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include <cove/bytes.hpp>
#include <cove/search.hpp>

namespace cove::agent {

/// Stays whole on its way, or is cut behind a match.
struct FoundSegment {
  enum class Kind : bool { kLines, kEntries };

  Bytes bytes;
  std::uint32_t matches = 0;
  Kind kind = Kind::kLines;
  std::vector<std::uint32_t> cuts;  ///< where it may be cut to keep 1, 2, ... matches; or empty
};

/// Cuts a segment behind its `matches`-th match.
void shorten(FoundSegment& segment, std::uint64_t matches);

struct Found {
  std::vector<FoundSegment> segments;
  SearchSummary counts;  ///< what to add to the search's own

  std::size_t size() const noexcept {
    std::size_t sum = 0;
    for (const auto& segment : segments) sum += segment.bytes.size();
    return sum;
  }
};

/// Adds everything but `ended` and `matches`; of the problems the first few are kept.
void add_counts(SearchSummary& sum, SearchSummary&& more);

/// Notes something that could not be read.
void add_problem(SearchSummary& counts, std::string path, const Error& error);

}  // namespace cove::agent
