#include <catch2/catch.hpp>

#include "support/fixtures/prepare_fixture.hpp"

using namespace std::chrono_literals;
using namespace cove;
using namespace cove::testing;

namespace {

/// A step that fails for as long as `broken`, and counts its tries.
struct Fragile {
  bool broken = true;
  int tries = 0;

  PrepareStep step(StepPolicy policy, const std::string& name = "fragile") {
    return answering_step(name, policy, [this](PrepareContext& context) -> Result<void> {
      ++tries;
      context.output = "what it printed";
      if (broken) return Error(ErrorCode::kFailedPrecondition, "no luck");
      return ok();
    });
  }
};

std::optional<std::chrono::milliseconds> retry_of(const PrepareOutcome& outcome) {
  return outcome.report.steps.at(0).retry_after;
}

}  // namespace

TEST_CASE("Prepare: a required step that fails is the acquire's error, with its output",
          "[unit][prepare]") {
  PrepareFixture fixture;
  Fragile fragile;
  int before = 0;
  int after = 0;
  const auto steps =
      preparation_of({counting_step("before", "1", before), fragile.step(StepPolicy::kRequired),
                      counting_step("after", "1", after)});
  const auto outcome = fixture.prepare(steps);
  REQUIRE_FALSE(outcome.done);
  const Error& error = outcome.done.error();
  CHECK(error.code() == ErrorCode::kFailedPrecondition);
  CHECK(error.describe() ==
        "preparing the workspace failed in the step 'fragile' (step: fragile, output: what it "
        "printed): no luck");
  CHECK(summary(outcome.report) == "before applied, fragile failed");
  CHECK(after == 0);

  // What was done before it is kept; the step itself is not.
  fragile.broken = false;
  CHECK(summary(fixture.elsewhere(steps).report) ==
        "before skipped, fragile applied, after applied");
  CHECK(before == 1);
}

TEST_CASE("Prepare: a best-effort step that fails is reported, and left alone for longer each time",
          "[unit][prepare]") {
  PrepareFixture fixture;
  Fragile fragile;
  int after = 0;
  const auto steps =
      preparation_of({fragile.step(StepPolicy::kBestEffort), counting_step("after", "1", after)});
  const auto first = fixture.prepare(steps);
  REQUIRE(first.done);
  CHECK(summary(first.report) == "fragile failed, after applied");
  CHECK(first.report.steps[0].output == "what it printed");
  CHECK(first.report.steps[0].error->message() == "no luck");
  CHECK(retry_of(first) == 30s);
  REQUIRE(fixture.gate.complaints.size() == 1);
  CHECK(fixture.gate.complaints[0] == "prepare of app-1: step 'fragile' failed: no luck");
  CHECK(fixture.gate.held == 0);

  fixture.pass(29s);
  const auto soon = fixture.prepare(steps);
  CHECK(soon.report.path == PreparePath::kRemembered);
  CHECK(summary(soon.report) == "fragile skipped, after skipped");
  CHECK(soon.report.steps[0].reason == "no luck");
  CHECK(retry_of(soon) == 1s);
  CHECK(fragile.tries == 1);

  fixture.pass(1s);
  CHECK(retry_of(fixture.prepare(steps)) == 60s);
  fixture.pass(60s);
  CHECK(retry_of(fixture.prepare(steps)) == 120s);
  for (int i = 0; i < 10; ++i) {
    fixture.pass(1h);
    CHECK(fixture.prepare(steps).done);
  }
  fixture.pass(1h);
  CHECK(retry_of(fixture.prepare(steps)) == 1h);

  fragile.broken = false;
  fixture.pass(1h);
  CHECK(summary(fixture.prepare(steps).report) == "fragile applied, after skipped");
  CHECK(after == 1);
}

TEST_CASE("Prepare: another process leaves a failed step alone too", "[unit][prepare]") {
  PrepareFixture fixture;
  Fragile fragile;
  const auto steps = preparation_of({fragile.step(StepPolicy::kBestEffort)});
  REQUIRE(fixture.prepare(steps).done);
  fixture.pass(10s);
  const auto elsewhere = fixture.elsewhere(steps);
  CHECK(elsewhere.report.path == PreparePath::kUnchanged);
  CHECK(elsewhere.report.steps[0].reason == "it failed before");
  CHECK(retry_of(elsewhere) == 20s);
  CHECK(fragile.tries == 1);

  fixture.pass(20s);
  CHECK(retry_of(fixture.elsewhere(steps)) == 60s);
  CHECK(fragile.tries == 2);
}

TEST_CASE("Prepare: other inputs of a failed step are tried at once", "[unit][prepare]") {
  PrepareFixture fixture;
  Fragile fragile;
  auto step = fragile.step(StepPolicy::kBestEffort);
  REQUIRE(fixture.prepare(preparation_of({step})).done);
  step.fingerprint = "2";
  CHECK(retry_of(fixture.prepare(preparation_of({step}))) == 30s);
  CHECK(fragile.tries == 2);
}

TEST_CASE("Prepare: a hostile state file cannot put a step off for longer than an hour",
          "[unit][prepare][security]") {
  PrepareFixture fixture;
  Fragile fragile;
  fragile.broken = false;
  const auto steps = preparation_of({fragile.step(StepPolicy::kBestEffort)});
  prepare::State state;
  prepare::StepState never;
  never.name = "fragile";
  never.failed = prepare::hash_of("1");
  never.failures = 4'000'000'000U;
  never.retry_at = StoreTime(std::chrono::hours(24 * 365 * 1000));
  state.put(never);
  fixture.set_state(state.text());
  CHECK(retry_of(fixture.prepare(steps)) == 1h);
  fixture.pass(1h);
  CHECK(summary(fixture.prepare(steps).report) == "fragile applied");
}

TEST_CASE("Prepare: a step that takes too long failed", "[unit][prepare]") {
  PrepareFixture fixture;
  int begun = 0;
  auto slow = slow_step("slow", StepPolicy::kBestEffort, 1h, begun);
  slow.timeout = 30s;
  const auto outcome = fixture.prepare(preparation_of({slow}));
  REQUIRE(outcome.done);
  CHECK(outcome.report.steps[0].reason == "it took longer than its 30 s");
  CHECK(outcome.report.steps[0].duration == 30s);

  slow.policy = StepPolicy::kRequired;
  slow.name = "must";
  const auto required = fixture.prepare(preparation_of({slow}));
  REQUIRE_FALSE(required.done);
  CHECK(required.done.error().code() == ErrorCode::kUnavailable);
  CHECK(required.done.error().context().at(0).first == "step");
}

TEST_CASE("Prepare: the acquire's own deadline ends it, and a best-effort step is not begun by all",
          "[unit][prepare]") {
  PrepareFixture fixture;
  int begun = 0;
  const auto steps = preparation_of({slow_step("slow", StepPolicy::kBestEffort, 20s, begun)});
  const CallContext hurried{.deadline = fixture.scheduler.now() + 5s, .stop = {}};
  const auto cut = fixture.prepare(steps, hurried);
  REQUIRE_FALSE(cut.done);
  CHECK(cut.done.error().code() == ErrorCode::kTimeout);
  CHECK(begun == 1);
  const CallContext again{.deadline = fixture.scheduler.now() + 5s, .stop = {}};
  CHECK(fixture.prepare(steps, again).done);
  CHECK(begun == 1);
  fixture.pass(30s);
  CHECK(summary(fixture.prepare(steps).report) == "slow applied");
}

TEST_CASE("Prepare: a cancelled acquire is no failure of its step", "[unit][prepare]") {
  PrepareFixture fixture;
  int begun = 0;
  const auto steps = preparation_of({slow_step("slow", StepPolicy::kBestEffort, 20s, begun)});
  std::stop_source stop;
  fixture.scheduler.call_at(fixture.scheduler.now() + 1s, [&stop] { stop.request_stop(); });
  const auto cancelled = fixture.prepare(steps, {.deadline = {}, .stop = stop.get_token()});
  REQUIRE_FALSE(cancelled.done);
  CHECK(cancelled.done.error().code() == ErrorCode::kCancelled);
  CHECK(fixture.gate.complaints.empty());
  CHECK(summary(fixture.prepare(steps).report) == "slow applied");
  CHECK(begun == 2);
}

TEST_CASE("Prepare: a step acts under the lease's token, which only grows", "[unit][prepare]") {
  PrepareFixture fixture;
  std::vector<std::uint64_t> fences;
  const auto prepare = [&](const char* name) {
    const auto steps = preparation_of({answering_step(
        name, StepPolicy::kRequired, [&fences](PrepareContext& context) -> Result<void> {
          fences.push_back(context.call.fence);
          return ok();
        })});
    REQUIRE(fixture.prepare(steps).done);
  };
  prepare("x");
  prepare("y");
  REQUIRE(fences.size() == 2);
  CHECK(fences[0] > 0);
  CHECK(fences[1] > fences[0]);
}

TEST_CASE("Prepare: what a step throws is its failure", "[unit][prepare]") {
  PrepareFixture fixture;
  const auto steps = preparation_of(
      {answering_step("x", StepPolicy::kRequired, [](PrepareContext& /*context*/) -> Result<void> {
        throw std::runtime_error("oh");
      })});
  const auto outcome = fixture.prepare(steps);
  REQUIRE_FALSE(outcome.done);
  CHECK(outcome.done.error().code() == ErrorCode::kInternal);
  CHECK(outcome.done.error().cause()->message() == "the step threw: oh");
}

TEST_CASE("Prepare: a lease that is lost ends the steps", "[unit][prepare]") {
  PrepareFixture fixture;
  int begun = 0;
  int after = 0;
  const auto steps = preparation_of(
      {slow_step("slow", StepPolicy::kRequired, 20s, begun), counting_step("after", "1", after)});
  fixture.scheduler.call_at(fixture.scheduler.now() + 1s,
                            [&fixture] { fixture.gate.lost.request_stop(); });
  const auto outcome = fixture.prepare(steps);
  REQUIRE_FALSE(outcome.done);
  CHECK(outcome.done.error().code() == ErrorCode::kUnavailable);
  CHECK(outcome.done.error().retry_after() == 1s);
  CHECK(after == 0);
}

TEST_CASE("Prepare: a step that was cancelled by itself failed, and nobody else prepares",
          "[unit][prepare]") {
  PrepareFixture fixture;
  int tries = 0;
  const auto cancelled_by_itself = [&tries](PrepareContext& /*context*/) -> Result<void> {
    ++tries;
    return Error(ErrorCode::kCancelled, "the user closed the dialog");
  };
  SECTION("a required one is the acquire's error, with its step") {
    const auto steps =
        preparation_of({answering_step("ask", StepPolicy::kRequired, cancelled_by_itself)});
    const auto outcome = fixture.prepare(steps);
    REQUIRE_FALSE(outcome.done);
    const Error& error = outcome.done.error();
    CHECK(error.code() == ErrorCode::kCancelled);
    CHECK(error.describe() ==
          "preparing the workspace failed in the step 'ask' (step: ask): the user closed the "
          "dialog");
    CHECK(summary(outcome.report) == "ask failed");
  }
  SECTION("a best-effort one is reported, and left alone for a while") {
    const auto steps =
        preparation_of({answering_step("ask", StepPolicy::kBestEffort, cancelled_by_itself)});
    const auto outcome = fixture.prepare(steps);
    REQUIRE(outcome.done);
    CHECK(summary(outcome.report) == "ask failed");
    CHECK(retry_of(outcome) == 30s);
  }
  CHECK(tries == 1);
}

TEST_CASE("Prepare: secrets stay out of reports, errors, events, the log and the state file",
          "[unit][prepare][security]") {
  const std::string secret = "s3cr3t-value";
  PrepareFixture fixture;
  std::string events;
  const auto leak = [&secret](PrepareContext& context) -> Result<void> {
    context.output = std::string(9000, 'x') + secret + "\n";
    context.reason = "with " + secret;
    context.note = secret;
    context.tell(secret);
    return Error(ErrorCode::kProvider, "bad " + secret)
        .with_context("url", secret)
        .with_cause(Error(ErrorCode::kInternal, secret));
  };
  for (const StepPolicy policy : {StepPolicy::kBestEffort, StepPolicy::kRequired}) {
    auto steps = preparation_of(
        {answering_step(std::string(name_of(policy)), policy, leak),
         answering_step("kept", StepPolicy::kRequired, [&secret](PrepareContext& context) {
           context.note = secret;
           return ok();
         })});
    steps.redactor = prepare::Redactor({{"TOKEN", secret + "\n"}});
    steps.observer = [&events](const PrepareEvent& event) {
      events += event.text;
      if (event.report) events += event.report->reason + event.report->output;
    };
    const auto outcome = fixture.prepare(steps);
    std::string told = events + fixture.state();
    for (const auto& step : outcome.report.steps) {
      told += step.reason + step.output;
      if (step.error) told += step.error->describe();
    }
    for (const auto& complaint : fixture.gate.complaints) told += complaint;
    if (!outcome.done) told += outcome.done.error().describe();
    CHECK(told.find(secret) == std::string::npos);
    CHECK(told.find("bad ***") != std::string::npos);
    CHECK(outcome.report.steps[0].output.size() <= 8192);
  }
}
