#include "network/resolver.hpp"

#include <atomic>
#include <future>
#include <thread>

#include <catch2/catch.hpp>

#include "base/async/io_loop.hpp"
#include "base/async/spawn.hpp"
#include "base/system/system_clock.hpp"

using namespace cove;
using namespace std::chrono_literals;
using network::IpAddress;
using network::Resolver;

TEST_CASE("Resolver: the system knows localhost", "[unit][network]") {
  const auto found = Resolver::ask_system("localhost");
  REQUIRE(found);
  for (const IpAddress& address : *found) {
    CHECK(network::kind_of(address) == network::AddressKind::kLoopback);
  }
}

TEST_CASE("Resolver: a name that hangs keeps no other one waiting", "[unit][network][threads]") {
  std::promise<void> let_go;
  const std::shared_future<void> gate = let_go.get_future().share();
  base::IoLoop loop;
  Resolver resolver(
      loop,
      [gate](const std::string& name) -> Result<std::vector<IpAddress>> {
        if (name == "slow") gate.wait();
        return std::vector{*IpAddress::parse("1.2.3.4")};
      },
      2);
  std::atomic<bool> slow_done = false;
  base::spawn(loop, [](Resolver& names, std::atomic<bool>& done) -> Task<void> {
    const CallContext call;
    CHECK(co_await names.resolve("slow", call));
    done = true;
  }(resolver, slow_done));
  const CallContext call;
  CHECK(base::sync_wait(loop, resolver.resolve("quick", call)));
  CHECK_FALSE(slow_done);
  let_go.set_value();
  while (!slow_done) std::this_thread::yield();
}

TEST_CASE("Resolver: its end answers who waits in line, and waits for no lookup",
          "[unit][network][threads]") {
  std::promise<void> let_go;
  const std::shared_future<void> gate = let_go.get_future().share();
  std::promise<void> looked;
  base::SystemClock clock;
  base::IoLoop loop;
  auto resolver = std::make_unique<Resolver>(
      loop,
      [gate, &looked](const std::string&) -> Result<std::vector<IpAddress>> {
        looked.set_value();
        gate.wait();
        return std::vector{*IpAddress::parse("1.2.3.4")};
      },
      1);
  const CallContext brief{.deadline = clock.now() + 20ms, .stop = {}};
  CHECK(base::sync_wait(loop, resolver->resolve("first", brief)).error().code() ==
        ErrorCode::kTimeout);
  looked.get_future().wait();
  // The one thread is busy for good: this one stays in line.
  std::promise<ErrorCode> heard;
  base::spawn(loop, [](Resolver& names, std::promise<ErrorCode>& code) -> Task<void> {
    const CallContext call;
    const auto found = co_await names.resolve("second", call);
    code.set_value(found ? ErrorCode::kInternal : found.error().code());
  }(*resolver, heard));
  base::sync_wait(loop, []() -> Task<int> { co_return 0; }());
  resolver.reset();
  CHECK(heard.get_future().get() == ErrorCode::kUnavailable);
  let_go.set_value();
}
