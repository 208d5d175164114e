#include <catch2/catch.hpp>

#include "support/fixtures/prepare_fixture.hpp"

using namespace std::chrono_literals;
using namespace cove;
using namespace cove::testing;

TEST_CASE("Prepare: of ten chats at once one prepares and the others find it done",
          "[unit][prepare]") {
  PrepareFixture fixture;
  int begun = 0;
  const auto steps = preparation_of({slow_step("slow", StepPolicy::kRequired, 20s, begun)});
  std::vector<PendingPrepare> pending;
  for (int i = 0; i < 10; ++i) pending.push_back(fixture.start(fixture.pipeline, steps, {}));
  std::size_t applied = 0;
  for (const auto& one : pending) {
    const auto outcome = fixture.wait(one);
    REQUIRE(outcome.done);
    const bool was_it = outcome.report.path == PreparePath::kRun;
    applied += was_it ? 1 : 0;
    CHECK(outcome.report.waited == (was_it ? 0s : 20s));
  }
  CHECK(applied == 1);
  CHECK(begun == 1);
  CHECK(fixture.gate.entered == 1);
}

TEST_CASE("Prepare: chats with inputs of their own are prepared in the order they came",
          "[unit][prepare]") {
  PrepareFixture fixture;
  std::string order;
  std::vector<prepare::Preparation> all;
  for (const char* name : {"a", "b", "c"}) {
    PrepareStep step;
    step.name = name;
    step.fingerprint = "1";
    step.apply = [&order, name](PrepareContext& context) -> Task<Result<void>> {
      order += name;
      const Instant when = context.clock.now() + 1s;
      co_return co_await base::sleep_until(context.scheduler, when, context.call);
    };
    all.push_back(preparation_of({step}));
  }
  std::vector<PendingPrepare> pending;
  for (const auto& steps : all) pending.push_back(fixture.start(fixture.pipeline, steps, {}));
  for (const auto& one : pending) CHECK(fixture.wait(one).done);
  CHECK(order == "abc");
}

TEST_CASE("Prepare: a warm chat does not wait for another chat's preparation", "[unit][prepare]") {
  PrepareFixture fixture;
  int begun = 0;
  int count = 0;
  const auto warm = preparation_of({counting_step("warm", "1", count)});
  REQUIRE(fixture.elsewhere(warm).done);
  const auto slow = preparation_of({slow_step("slow", StepPolicy::kRequired, 20s, begun)});
  const auto pending = fixture.start(fixture.pipeline, slow, {});
  const Instant began = fixture.scheduler.now();
  CHECK(fixture.prepare(warm).report.path == PreparePath::kUnchanged);
  CHECK(fixture.scheduler.now() == began);
  CHECK(fixture.wait(pending).done);
}

TEST_CASE("Prepare: who waits leaves at its own deadline, and the line goes on without it",
          "[unit][prepare]") {
  PrepareFixture fixture;
  int begun = 0;
  std::vector<std::string> heard;
  auto steps = preparation_of({slow_step("slow", StepPolicy::kRequired, 20s, begun)});
  auto listening = steps;
  listening.observer = [&heard](const PrepareEvent& event) {
    heard.emplace_back(name_of(event.kind));
  };
  const auto first = fixture.start(fixture.pipeline, steps, {});
  const CallContext hurried{.deadline = fixture.scheduler.now() + 5s, .stop = {}};
  const auto second = fixture.start(fixture.pipeline, listening, hurried);
  const auto third = fixture.start(fixture.pipeline, steps, {});
  const auto left = fixture.wait(second);
  REQUIRE_FALSE(left.done);
  CHECK(left.done.error().code() == ErrorCode::kTimeout);
  CHECK(left.done.error().context().at(0).second == "another chat's preparation of the workspace");
  CHECK(heard == std::vector<std::string>{"waiting"});
  CHECK(fixture.wait(first).done);
  CHECK(fixture.wait(third).report.path == PreparePath::kRemembered);
}

TEST_CASE("Prepare: who waited for a required step that failed gets its error, and no second try",
          "[unit][prepare]") {
  PrepareFixture fixture;
  int tries = 0;
  PrepareStep step;
  step.name = "must";
  step.fingerprint = "1";
  step.apply = [&tries](PrepareContext& context) -> Task<Result<void>> {
    ++tries;
    const Instant when = context.clock.now() + 10s;
    COVE_CO_TRY_VOID(co_await base::sleep_until(context.scheduler, when, context.call));
    co_return Error(ErrorCode::kProvider, "broken");
  };
  const auto steps = preparation_of({step});
  std::vector<PendingPrepare> pending;
  for (int i = 0; i < 10; ++i) pending.push_back(fixture.start(fixture.pipeline, steps, {}));
  for (const auto& one : pending) {
    const auto outcome = fixture.wait(one);
    REQUIRE_FALSE(outcome.done);
    CHECK(outcome.done.error().cause()->message() == "broken");
  }
  CHECK(tries == 1);
  CHECK_FALSE(fixture.prepare(steps).done);
  CHECK(tries == 2);
}

TEST_CASE("Prepare: where the first chat is called off the next one prepares", "[unit][prepare]") {
  PrepareFixture fixture;
  int begun = 0;
  const auto steps = preparation_of({slow_step("slow", StepPolicy::kRequired, 20s, begun)});
  std::stop_source stop;
  const auto first =
      fixture.start(fixture.pipeline, steps, {.deadline = {}, .stop = stop.get_token()});
  const auto second = fixture.start(fixture.pipeline, steps, {});
  fixture.scheduler.call_at(fixture.scheduler.now() + 5s, [&stop] { stop.request_stop(); });
  CHECK(fixture.wait(first).done.error().code() == ErrorCode::kCancelled);
  const auto outcome = fixture.wait(second);
  CHECK(outcome.report.path == PreparePath::kRun);
  CHECK(outcome.report.waited == 5s);
  CHECK(begun == 2);
}
