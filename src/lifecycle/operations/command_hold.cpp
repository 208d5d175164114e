#include "lifecycle/operations/command_hold.hpp"

#include <memory>
#include <utility>

namespace cove::lifecycle {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kHold = 10s;  // asked for again four times a second
constexpr auto kForLettingIn = 2s;                // a user waits

}  // namespace

Task<Result<void>> hold_commands(Guest& guest, OperationId stop, const CallContext& call) {
  const std::string by = stop.str();
  co_return co_await guest.hold_commands(by, kHold, call);
}

Task<void> let_commands_in(Core& core, std::shared_ptr<Guest> guest, OperationId stop) {
  const CallContext call{core.parts.clock.now() + kForLettingIn, {}};
  const std::string by = stop.str();
  static_cast<void>(co_await guest->hold_commands(by, 0ms, call));
}

Task<void> let_commands_in(Core& core, Record running, OperationId stop) {
  const CallContext call{core.parts.clock.now() + kForLettingIn, {}};
  const auto provider = core.provider_of(running);
  if (!provider) co_return;
  const InstanceRef instance = core.instance_of(running);
  auto guest = co_await (*provider)->connect(instance, call);
  if (guest) co_await let_commands_in(core, *std::move(guest), std::move(stop));
}

}  // namespace cove::lifecycle
