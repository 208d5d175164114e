#include "callbacks.hpp"

#include "callback_gate.hpp"

namespace cove::capi {
namespace {

thread_local int depth = 0;

}  // namespace

void UserData::end() noexcept {
  const auto drop = std::exchange(drop_, nullptr);
  if (drop == nullptr) return;
  const CallbackScope scope;
  drop(data_);
}

CallbackScope::CallbackScope() noexcept {
  if (depth == 0) CallbackGate::instance().enter();
  ++depth;
}

CallbackScope::~CallbackScope() {
  if (--depth == 0) CallbackGate::instance().leave();
}

bool CallbackScope::active() noexcept { return depth > 0; }

Result<void> check_callbacks() {
  if (!CallbackGate::instance().ended()) return ok();
  return Error(ErrorCode::kFailedPrecondition,
               "the callbacks of this process were ended by cove_end_callbacks: none would come");
}

}  // namespace cove::capi
