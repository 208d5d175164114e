#include <atomic>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "base/async/completion.hpp"
#include "base/async/io_loop.hpp"
#include "base/async/spawn.hpp"
#include "base/async/timing.hpp"
#include "base/async/worker_pool.hpp"
#include "base/system/system_clock.hpp"

using namespace std::chrono_literals;
using cove::CallContext;
using cove::Error;
using cove::ErrorCode;
using cove::Result;
using cove::Task;
using cove::base::IoLoop;
using cove::base::offload;
using cove::base::sync_wait;
using cove::base::WorkerPool;

namespace {

Task<Result<int>> add_one(IoLoop& loop, WorkerPool& pool, int n) {
  COVE_CO_TRY(const int sum, co_await offload(pool, loop, [n]() -> Result<int> { return n + 1; }));
  if (!loop.on_thread()) co_return Error(ErrorCode::kInternal, "resumed on the wrong thread");
  co_return sum;
}

}  // namespace

TEST_CASE("offload: works elsewhere and resumes on the loop", "[unit][base][threads]") {
  IoLoop loop;
  WorkerPool pool(2);
  CHECK(sync_wait(loop, add_one(loop, pool, 41)).value() == 42);
}

TEST_CASE("offload: many callers of many threads share a pool of two", "[unit][base][threads]") {
  IoLoop loop;
  WorkerPool pool(2);
  std::atomic<int> sum{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 16; ++i) {
    callers.emplace_back([&] {
      for (int n = 0; n < 50; ++n) sum += sync_wait(loop, add_one(loop, pool, n)).value();
    });
  }
  for (auto& caller : callers) caller.join();
  CHECK(sum == 16 * 1275);
}

TEST_CASE("sleep_until: ends early when the call is cancelled", "[unit][base][threads]") {
  IoLoop loop;
  std::stop_source stop;
  const CallContext call{.stop = stop.get_token()};
  const auto far = cove::base::SystemClock().now() + 1h;
  loop.post([&] { stop.request_stop(); });
  CHECK(sync_wait(loop, cove::base::sleep_until(loop, far, call)).error().code() ==
        ErrorCode::kCancelled);
}

TEST_CASE("sleep_until: ends with the call's deadline", "[unit][base][threads]") {
  IoLoop loop;
  const auto now = cove::base::SystemClock().now();
  const CallContext call{.deadline = now + 1ms};
  CHECK(sync_wait(loop, cove::base::sleep_until(loop, now + 1h, call)).error().code() ==
        ErrorCode::kTimeout);
}

TEST_CASE("IoLoop: a timer that was taken back does not run", "[unit][base][threads]") {
  IoLoop loop;
  bool ran = false;
  const auto past = cove::Instant{};
  const auto probe = [&]() -> Task<bool> {
    const auto timer = loop.call_at(past, [&] { ran = true; });
    loop.cancel(timer);
    const auto when = cove::base::SystemClock().now() + 1ms;
    const auto slept = co_await cove::base::sleep_until(loop, when, {});
    co_return ran || !slept;
  };
  CHECK_FALSE(sync_wait(loop, probe()));
}

TEST_CASE("IoLoop: stop leaves a stuck callback behind within its bound", "[unit][base][threads]") {
  // The thread that is left behind shares what it looks at: it may do so after the test's end.
  struct Stuck {
    std::atomic<bool> entered{false};
    std::atomic<bool> may_go_on{false};
    std::atomic<bool> went_on{false};
  };
  const auto stuck = std::make_shared<Stuck>();
  {
    IoLoop loop;
    loop.post([stuck] {
      stuck->entered = true;
      stuck->entered.notify_all();
      stuck->may_go_on.wait(false);
      stuck->went_on = true;
      stuck->went_on.notify_all();
    });
    stuck->entered.wait(false);
    CHECK_FALSE(loop.stop(10ms));
  }
  CHECK_FALSE(stuck->went_on);
  stuck->may_go_on = true;
  stuck->may_go_on.notify_all();
  stuck->went_on.wait(false);
}

TEST_CASE("Completion: only the first value counts", "[unit][base]") {
  IoLoop loop;
  const auto completion = cove::base::Completion<int>::make(loop);
  CHECK(completion->complete(1));
  CHECK_FALSE(completion->complete(2));
  const auto read = [&]() -> Task<int> { co_return co_await completion->wait(); };
  CHECK(sync_wait(loop, read()) == 1);
}
