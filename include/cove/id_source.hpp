/// The seam that random names come from, so that a simulation can repeat a run.
#pragma once

#include <cstddef>
#include <span>

namespace cove {

/// Gives the bytes that ids are made of.
class IdSource {
 public:
  virtual ~IdSource() = default;

  /// Fills `bytes` with unpredictable values (getrandom in a real Cove). From any thread.
  virtual void fill(std::span<std::byte> bytes) = 0;
};

}  // namespace cove
