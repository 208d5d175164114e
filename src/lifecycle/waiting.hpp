/// Waiting for what somebody else does with a sandbox.
#pragma once

#include <chrono>
#include <optional>

#include "lifecycle/core.hpp"

namespace cove::lifecycle {

/// Asks again after 2 ms, then twice as long each time, up to 200 ms; until the call ends, or for
/// five minutes where it has no deadline of its own.
class Patience {
 public:
  Patience(const Core& core, const CallContext& call);

  /// Waits a turn. kUnavailable says what is going on, and when to try again; kTimeout and
  /// kCancelled are the call's.
  Task<Result<void>> wait(Record record, const CallContext& call);

 private:
  const Core& core_;
  std::optional<Instant> give_up_;
  std::chrono::milliseconds turn_{2};
};

}  // namespace cove::lifecycle
