#include "guest/lane.hpp"

#include <chrono>

#include "guest/agent_client.hpp"

namespace cove::guest {
namespace {

constexpr std::chrono::seconds kGreetingTime{1};

}  // namespace

Lane::Lane(const Clock& clock) : loop_(base::IoLoop::Driven(), &clock) {}

Lane::~Lane() {
  guest_.reset();
  settle();  // the connection ends on its loop
}

bool Lane::is_possible(const Guest& guest) {
  const auto* agent = dynamic_cast<const AgentGuest*>(&guest);
  return agent != nullptr && agent->link().runtime.again.dial != nullptr;
}

Result<std::unique_ptr<Lane>> Lane::open(const Guest& guest, const CallContext& call) {
  const Link& link = static_cast<const AgentGuest&>(guest).link();
  COVE_TRY(base::UniqueFd socket, link.runtime.again.dial());
  std::unique_ptr<Lane> lane(new Lane(link.runtime.clock));
  // The agent's proxy keeps to the guest's own connection: a lane is deaf between calls.
  const GuestRuntime runtime{lane->loop_, link.runtime.clock, link.runtime.ids, nullptr,
                             link.runtime.again};
  const Instant limit = runtime.clock.now() + kGreetingTime;
  CallContext bounded = call;
  if (!bounded.deadline || *bounded.deadline > limit) bounded.deadline = limit;
  Result<void> greeted = ok();
  lane->run([](Task<Result<std::shared_ptr<Guest>>> connecting, std::shared_ptr<Guest>& reached,
               Result<void>& outcome) -> Task<void> {
    auto connected = co_await connecting;
    if (connected) reached = *std::move(connected);
    if (!connected) outcome = connected.error();
  }(connect_agent(runtime, std::move(socket), link.identity, bounded), lane->guest_, greeted));
  if (!greeted) return greeted.error();
  return lane;
}

bool Lane::is_good() const {
  const auto& agent = static_cast<const AgentGuest&>(*guest_);
  const auto& is_current = agent.link().runtime.again.is_current;
  return agent.is_connected() && (!is_current || is_current());
}

void Lane::settle() { loop_.run_ready(); }

}  // namespace cove::guest
