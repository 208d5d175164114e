/// A guest call made through a client's reach: waiting, or with a callback.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "client/exchange.hpp"
#include "client/sandbox_reach.hpp"

namespace cove::client {

template <class Call>
Result<typename Call::Value> wait_for(const SandboxFiles::Reach& reach, Call guest_call,
                                      const CallContext& call) {
  return exchange<typename Call::Value>(*reach.link, Call::kRepeat, call, std::move(guest_call));
}

template <class Call>
void begin(const std::shared_ptr<const SandboxFiles::Reach>& reach, Call guest_call,
           const CallContext& call, std::function<void(Result<typename Call::Value>)> done) {
  run_async<typename Call::Value>(
      reach->link, call,
      [reach, guest_call = std::move(guest_call)](const CallContext& inner) {
        return ask_call(*reach->link, guest_call, inner);
      },
      std::move(done));
}

}  // namespace cove::client
