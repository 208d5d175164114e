/// Streams of bytes between the parts: who wants them asks, so nothing piles up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <cove/call_context.hpp>
#include <cove/result.hpp>
#include <cove/task.hpp>

namespace cove {

/// Bytes that are owned.
using Bytes = std::vector<std::byte>;
/// Bytes that are lent, as a rule for the call.
using ByteView = std::span<const std::byte>;

/// A stream that is read once, from front to end. One reader at a time.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Gives the next piece, 1 byte to some 256 KiB as suits the source; empty = the end, which
  /// stays so. After an error the source is of no more use. Cancellation: only destroy it.
  virtual Task<Result<Bytes>> next(const CallContext& call) = 0;
};

}  // namespace cove
