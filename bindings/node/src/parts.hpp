/// Parts that a program in JavaScript brings: a clock that it sets ahead, and a metadata store.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "function_reference.hpp"
#include "handles.hpp"

namespace cove_node {

/// The machine's clock, set ahead. Shared by its JavaScript object and the Coves that go by it.
struct ClockState {
  std::atomic<std::int64_t> ahead_ns{0};
};

/// The struct for cove_open, which ends it.
cove_clock clock_slots(std::shared_ptr<ClockState> state);

/// The same of a store: `ask`(slot, argument, done) is called for each question.
cove_metadata_store metadata_slots(const Environment& environment, napi_value ask);

}  // namespace cove_node
