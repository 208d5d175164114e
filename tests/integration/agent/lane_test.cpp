// Lanes: the same guest, driven by the thread that waits.
#include "guest/lane.hpp"

#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <stop_token>
#include <thread>

#include <catch2/catch.hpp>

#include "base/async/byte_sources.hpp"
#include "runtime/use/lanes.hpp"
#include "support/fixtures/agent_fixture.hpp"

using namespace cove;
using namespace std::chrono_literals;
using cove::test::AgentFixture;

namespace {

/// A fixture whose guest can be reached once more.
class LaneFixture {
 public:
  AgentFixture fixture;
  bool is_current = true;
  int dialled = 0;
  std::shared_ptr<Guest> guest = connect();
  const InstanceRef instance{{DeploymentId("d"), SandboxId("s"), Generation("g")}, Epoch{1}};

  std::unique_ptr<guest::Lane> open() { return guest::Lane::open(*guest, {}).value(); }

  static Result<ExecResult> run(guest::Lane& lane, const std::string& line,
                                const CallContext& call = {}) {
    const ExecSpec spec{.argv = {"/bin/sh", "-c", line}};
    std::optional<Result<ExecResult>> result;
    lane.run([](guest::Lane& on, const ExecSpec& what, const CallContext& inner,
                std::optional<Result<ExecResult>>& answer) -> Task<void> {
      const std::string session;
      Task<Result<ExecResult>> running = on.guest().run(session, what, inner);
      answer.emplace(co_await running);
    }(lane, spec, call, result));
    return *std::move(result);
  }

 private:
  std::shared_ptr<Guest> connect() {
    const guest::AnotherWay again{.dial = [this]() -> Result<base::UniqueFd> {
                                    ++dialled;
                                    return fixture.agent.connect();
                                  },
                                  .is_current = [this] { return is_current; }};
    const guest::GuestRuntime runtime{fixture.loop, fixture.clock, fixture.ids, nullptr, again};
    return fixture
        .wait(guest::connect_agent(runtime, fixture.agent.connect(), fixture.agent.identity(), {}))
        .value();
  }
};

}  // namespace

TEST_CASE("Lane: commands and files on the caller's own thread", "[integration][agent]") {
  LaneFixture f;
  const auto lane = f.open();
  CHECK(lane->is_good());
  CHECK(LaneFixture::run(*lane, "echo hi; exit 3").value().out.text() == "hi\n");
  const std::string big(3'000'000, 'x');
  std::optional<Result<FileInfo>> written;
  lane->run([](guest::Lane& on, const std::string& text,
               std::optional<Result<FileInfo>>& answer) -> Task<void> {
    base::ViewSource source(std::as_bytes(std::span(text)));
    const GuestPath path{"", "big"};
    const WriteOptions options;
    const CallContext call;
    Task<Result<FileInfo>> writing = on.guest().write_file(path, source, options, call);
    answer.emplace(co_await writing);
  }(*lane, big, written));
  REQUIRE(*written);
  CHECK(f.fixture.agent.get("big") == big);
  CHECK(LaneFixture::run(*lane, "wc -c < big").value().out.text() == "3000000\n");
}

TEST_CASE("Lane: a call that ends early is ended inside, and the lane goes on",
          "[integration][agent]") {
  LaneFixture f;
  const auto lane = f.open();
  SECTION("its deadline") {
    const CallContext call{.deadline = f.fixture.clock.now() + 100ms, .stop = {}};
    const auto result = LaneFixture::run(*lane, "echo $$ > pid; exec sleep 100", call);
    CHECK(std::holds_alternative<TimedOut>(result.value().outcome));
  }
  SECTION("a stop from another thread") {
    std::stop_source stop;
    const CallContext call{.deadline = std::nullopt, .stop = stop.get_token()};
    const std::jthread later([&] {
      while (f.fixture.agent.get("pid").empty()) std::this_thread::yield();
      stop.request_stop();
    });
    const auto result = LaneFixture::run(*lane, "echo $$ > pid; exec sleep 100", call);
    CHECK(std::holds_alternative<Cancelled>(result.value().outcome));
  }
  CHECK(LaneFixture::run(*lane, "echo on").value().out.text() == "on\n");
  const std::string pid = f.fixture.agent.get("pid");
  CHECK_FALSE(std::filesystem::exists("/proc/" + pid.substr(0, pid.size() - 1)));
}

TEST_CASE("Lane: what is gone is seen before the next call", "[integration][agent]") {
  LaneFixture f;
  const auto lane = f.open();
  f.is_current = false;
  CHECK_FALSE(lane->is_good());
  f.is_current = true;
  CHECK(lane->is_good());
  f.fixture.agent.kill();
  CHECK_FALSE(lane->is_good());
  CHECK(LaneFixture::run(*lane, "true").error().code() == ErrorCode::kUnavailable);
}

TEST_CASE("Lanes: they are lent, kept, bounded and closed", "[integration][agent]") {
  LaneFixture f;
  runtime::Lanes lanes;
  const runtime::Pass::Way way{f.instance, f.guest};
  const auto before = f.fixture.agent.open_descriptors();
  {
    const auto first = lanes.borrow(way, {});
    REQUIRE(first);
    CHECK(LaneFixture::run(**first, "echo 1").value().out.text() == "1\n");
    const auto second = lanes.borrow(way, {});
    REQUIRE(second);
    CHECK(f.dialled == 2);
  }
  CHECK(lanes.borrow(way, {}));
  CHECK(f.dialled == 2);

  std::vector<std::unique_ptr<runtime::Lanes::Loan>> all;
  while (auto one = lanes.borrow(way, {})) all.push_back(std::move(one));
  CHECK(all.size() == 8);
  all.clear();

  // One of another instance takes the place of the one that was used longest ago.
  const runtime::Pass::Way other{{f.instance.volume, Epoch{2}}, f.guest};
  CHECK(lanes.borrow(other, {}));
  lanes.close(f.instance);
  lanes.close_all();
  // The agent hears of it in its own time.
  while (f.fixture.agent.open_descriptors() > before) std::this_thread::yield();

  const auto dialled = f.dialled;
  const runtime::Pass::Way without{f.instance, f.fixture.guest};
  CHECK_FALSE(lanes.borrow(without, {}));
  CHECK(f.dialled == dialled);
}

TEST_CASE("Lanes: one that broke is replaced", "[integration][agent]") {
  LaneFixture f;
  runtime::Lanes lanes;
  const runtime::Pass::Way way{f.instance, f.guest};
  CHECK(lanes.borrow(way, {}));
  f.is_current = false;  // looked at when it is lent
  CHECK(lanes.borrow(way, {}));
  CHECK(f.dialled == 2);
  f.fixture.agent.kill();
  f.is_current = true;
}
