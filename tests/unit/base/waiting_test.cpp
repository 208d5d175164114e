// A thread that waits is asked whether it may wait on.
#include "base/async/waiting.hpp"

#include <chrono>
#include <thread>

#include <catch2/catch.hpp>

#include <cove/wait_check.hpp>

#include "base/async/drive.hpp"
#include "base/async/timing.hpp"
#include "base/system/system_clock.hpp"

using namespace cove;
using namespace std::chrono_literals;
using cove::base::drive;
using cove::base::IoLoop;
using cove::base::sync_wait;
using cove::base::Waiting;

namespace {

struct Asked {
  explicit Asked(std::function<bool()> check) { set_wait_check(std::move(check)); }
  ~Asked() { set_wait_check(nullptr); }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;
};

Instant far() { return base::SystemClock().now() + 1h; }

Result<void> sleep_long(IoLoop& loop, const CallContext& call) {
  const Waiting waiting(call);
  return sync_wait(loop, base::sleep_until(loop, far(), waiting.call()));
}

Task<void> sleep_into(IoLoop& loop, CallContext call, ErrorCode& code) {
  const auto slept = co_await base::sleep_until(loop, far(), call);
  if (!slept) code = slept.error().code();
}

}  // namespace

TEST_CASE("set_wait_check: a call that waits goes on until the answer is no",
          "[unit][base][threads]") {
  IoLoop loop;
  int asked = 0;
  const Asked asks([&] { return ++asked < 3; });
  CHECK(sleep_long(loop, CallContext()).error().code() == ErrorCode::kCancelled);
  CHECK(asked == 3);
}

TEST_CASE("set_wait_check: the same on a loop that the waiting thread drives",
          "[unit][base][threads]") {
  IoLoop loop(IoLoop::Driven{}, nullptr);
  const Asked asks([] { return false; });
  const CallContext call;
  const Waiting waiting(call);
  ErrorCode code{};
  drive(loop, sleep_into(loop, waiting.call(), code));
  CHECK(code == ErrorCode::kCancelled);
}

TEST_CASE("set_wait_check: the caller's own stop counts as before", "[unit][base][threads]") {
  IoLoop loop;
  std::stop_source stop;
  const Asked asks([&] { return stop.request_stop(); });
  const CallContext call{.stop = stop.get_token()};
  CHECK(sleep_long(loop, call).error().code() == ErrorCode::kCancelled);
}

TEST_CASE("set_wait_check: what the check calls may wait, and is not asked about",
          "[unit][base][threads]") {
  IoLoop loop;
  int asked = 0;
  const Asked asks([&] {
    ++asked;
    const CallContext call;
    const Waiting inner(call);
    CHECK(Waiting::current() == nullptr);
    const Instant soon = base::SystemClock().now() + 1ms;
    CHECK(sync_wait(loop, base::sleep_until(loop, soon, inner.call())).has_value());
    return false;
  });
  CHECK_FALSE(sleep_long(loop, CallContext()).has_value());
  CHECK(asked == 1);
}

TEST_CASE("set_wait_check: other threads are not asked, and none after its end",
          "[unit][base][threads]") {
  const CallContext call;
  {
    const Asked asks([] { return false; });
    const Waiting waiting(call);
    CHECK(Waiting::current() == &waiting);
    std::thread([&] {
      const Waiting elsewhere(call);
      CHECK(Waiting::current() == nullptr);
    }).join();
  }
  const Waiting after(call);
  CHECK(Waiting::current() == nullptr);
}
