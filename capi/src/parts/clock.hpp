/// A clock of the host's, as Cove's seam; and the clock that the calls of a thread go by.
#pragma once

#include <memory>

#include <cove/clock.hpp>

#include "parts/given.hpp"

namespace cove::capi {

/// Checks the slots. kInvalidArgument, kUnsupported.
Result<void> check_given(const cove_clock& slots);

/// REQUIRES: check_given.
std::shared_ptr<const Clock> make_host_clock(GivenPtr<cove_clock> given);

/// The machine's.
std::shared_ptr<const Clock> system_clock();

/// Stands while a function of the ABI reads what it was given: its time limit counts from now by
/// the clock of its Cove.
class ClockScope {
 public:
  explicit ClockScope(const Clock& clock) noexcept;
  ~ClockScope();
  ClockScope(const ClockScope&) = delete;
  ClockScope& operator=(const ClockScope&) = delete;

  /// The innermost scope's of this thread; the machine's where there is none.
  static Instant now();

 private:
  const Clock* const outer_;
};

}  // namespace cove::capi
