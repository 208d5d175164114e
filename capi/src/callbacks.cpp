#include "callbacks.hpp"

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

CallbackScope::CallbackScope() noexcept { ++depth; }
CallbackScope::~CallbackScope() { --depth; }
bool CallbackScope::active() noexcept { return depth > 0; }

}  // namespace cove::capi
