// Commands whose output is given away as it comes, on a real agent.
#include <future>

#include <catch2/catch.hpp>

#include "support/fixtures/live_cove.hpp"

using namespace std::chrono_literals;
using namespace cove;
using namespace cove::testing;

namespace {

const WorkspaceKey kAna{"app", "demo", "ana"};

}  // namespace

TEST_CASE("exec_async: a pause holds the command back and loses nothing [pain-64]",
          "[integration][runtime][threads]") {
  LiveCove live;
  auto cove = live.open();
  const auto client = cove.acquire(kAna).value().client();
  constexpr std::uint64_t kTotal = 64ULL << 20;
  std::atomic<std::uint64_t> got{0};
  std::promise<void> paused;
  std::promise<Result<ExecResult>> done;
  const auto handle = client.exec_async(
      {.argv = {"sh", "-c", "head -c 67108864 /dev/zero; echo $? > ended"}},
      {.on_output =
           [&](OutputStream, ByteView bytes) {
             const bool first = got.fetch_add(bytes.size()) == 0;
             if (first) paused.set_value();
             return first ? Flow::kPause : Flow::kContinue;
           },
       .on_done = [&](Result<ExecResult> result) { done.set_value(std::move(result)); }});
  paused.get_future().get();
  const std::uint64_t held = got;
  // Other calls go on meanwhile, and the command cannot end: it waits for credit.
  for (int i = 0; i < 20; ++i) CHECK(shell(client, "echo ok") == "ok");
  CHECK(got == held);
  CHECK(client.stat("ended").error().code() == ErrorCode::kNotFound);
  handle.resume();
  const auto result = done.get_future().get();
  REQUIRE(result);
  CHECK(result->succeeded());
  CHECK(got == kTotal);
  CHECK(result->out.total_bytes == kTotal);
  CHECK(shell(client, "cat ended") == "0");
}

TEST_CASE("exec_async: cancel ends the whole tree and keeps the output [pain-40]",
          "[integration][runtime][threads]") {
  LiveCove live;
  auto cove = live.open();
  const auto client = cove.acquire(kAna).value().client();
  std::promise<void> begun;
  std::promise<Result<ExecResult>> done;
  bool told = false;
  const auto handle = client.exec_async(
      {.argv = {"sh", "-c", "setsid sleep 1001 & sleep 1002 & echo begun; wait"}},
      {.on_output =
           [&](OutputStream, ByteView) {
             if (!std::exchange(told, true)) begun.set_value();
             return Flow::kContinue;
           },
       .on_done = [&](Result<ExecResult> result) { done.set_value(std::move(result)); }});
  begun.get_future().get();
  handle.cancel();
  const auto result = done.get_future().get();
  REQUIRE(result);
  CHECK(std::holds_alternative<Cancelled>(result->outcome));
  CHECK(result->out.head == "begun\n");
  CHECK(shell(client,
              "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c 'sleep 100[12]' "
              "|| true") == "0");
}

TEST_CASE("exec: the call's deadline ends the tree and the result says so [pain-38]",
          "[integration][runtime]") {
  LiveCove live;
  auto cove = live.open();
  const auto client = cove.acquire(kAna).value().client();
  const auto record = cove.status(sandbox_id_of(kAna)).value();
  // An Instant is the time since boot; a host takes it from its own clock.
  timespec now{};
  REQUIRE(::clock_gettime(CLOCK_BOOTTIME, &now) == 0);
  const Instant deadline{std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec) +
                         500ms};
  const auto result = client.exec({.argv = {"sh", "-c", "echo begun; sleep 1003"}},
                                  {.deadline = deadline, .stop = {}});
  REQUIRE(result);
  CHECK(std::holds_alternative<TimedOut>(result->outcome));
  CHECK(result->out.head == "begun\n");
  CHECK(cove.status(sandbox_id_of(kAna)).value().epoch == record.epoch);
}

TEST_CASE("close: ends no sandbox, cancels what runs and calls back first",
          "[integration][runtime][threads]") {
  LiveCove live;
  std::string instance;
  std::promise<Result<ExecResult>> done;
  auto ended = done.get_future();
  {
    auto cove = live.open();
    const auto client = cove.acquire(kAna).value().client();
    instance = instance_name(client);
    client.exec_async({.argv = {"sleep", "1004"}},
                      {.on_output = [](OutputStream, ByteView) { return Flow::kContinue; },
                       .on_done = [&](Result<ExecResult> r) { done.set_value(std::move(r)); }});
    REQUIRE(cove.close());
  }
  CHECK(ended.wait_for(0s) == std::future_status::ready);
  CHECK_FALSE(processes_in(instance).empty());
  auto again = live.open();
  const auto workspace = again.acquire(kAna).value();
  CHECK(workspace.work() == AcquireWork::kNone);
  CHECK(instance_name(workspace.client()) == instance);
}
