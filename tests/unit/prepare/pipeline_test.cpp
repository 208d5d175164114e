#include <catch2/catch.hpp>

#include "support/fixtures/prepare_fixture.hpp"

using namespace std::chrono_literals;
using namespace cove;
using namespace cove::testing;

namespace {

/// Three steps that count.
struct Three {
  int a = 0;
  int b = 0;
  int c = 0;
  prepare::Preparation steps(const std::string& of_b = "1") {
    return preparation_of(
        {counting_step("a", "1", a), counting_step("b", of_b, b), counting_step("c", "1", c)});
  }
  int all() const { return a + b + c; }
};

}  // namespace

TEST_CASE("Prepare: applies the steps in their order and says so", "[unit][prepare]") {
  PrepareFixture fixture;
  std::string order;
  const auto note = [&order](const char* name) {
    return answering_step(name, StepPolicy::kRequired, [&order, name](PrepareContext& context) {
      order += name;
      context.reason = "as asked";
      return ok();
    });
  };
  const auto outcome = fixture.prepare(preparation_of({note("x"), note("y"), note("z")}));
  REQUIRE(outcome.done);
  CHECK(order == "xyz");
  CHECK(outcome.report.path == PreparePath::kRun);
  CHECK(summary(outcome.report) == "x applied, y applied, z applied");
  CHECK(outcome.report.steps[1].reason == "as asked");
  CHECK(fixture.gate.entered == 1);
  CHECK(fixture.gate.held == 0);
}

TEST_CASE("Prepare: what is unchanged costs one round trip, and none in the process that did it",
          "[unit][prepare]") {
  PrepareFixture fixture;
  Three three;
  const auto steps = three.steps();
  REQUIRE(fixture.prepare(steps).done);
  fixture.guest.log.calls.clear();

  const auto again = fixture.prepare(steps);
  CHECK(again.report.path == PreparePath::kRemembered);
  CHECK(summary(again.report) == "a skipped, b skipped, c skipped");
  CHECK(fixture.guest.log.calls.empty());

  const auto elsewhere = fixture.elsewhere(steps);
  CHECK(elsewhere.report.path == PreparePath::kUnchanged);
  CHECK(elsewhere.report.steps[0].reason == "unchanged");
  CHECK(fixture.guest.log.calls == std::vector<std::string>{"read_file"});
  CHECK(fixture.gate.entered == 1);
  CHECK(three.all() == 3);

  CHECK(fixture.elsewhere(steps).report.path == PreparePath::kRemembered);
  CHECK(fixture.guest.log.calls.size() == 1);
}

TEST_CASE("Prepare: another fingerprint applies that step alone", "[unit][prepare]") {
  PrepareFixture fixture;
  Three three;
  REQUIRE(fixture.prepare(three.steps()).done);
  const auto changed = fixture.prepare(three.steps("2"));
  REQUIRE(changed.done);
  CHECK(summary(changed.report) == "a skipped, b applied, c skipped");
  CHECK(three.all() == 4);
  // Back again is a change too: only the last one counts, here and elsewhere.
  CHECK(summary(fixture.prepare(three.steps()).report) == "a skipped, b applied, c skipped");
  CHECK(fixture.elsewhere(three.steps("2")).done);
  CHECK(three.b == 4);
}

TEST_CASE("Prepare: a step without a fingerprint is applied at every acquire", "[unit][prepare]") {
  PrepareFixture fixture;
  int once = 0;
  int always = 0;
  const auto steps =
      preparation_of({counting_step("once", "1", once), counting_step("always", "", always)});
  REQUIRE(fixture.prepare(steps).done);
  REQUIRE(fixture.prepare(steps).done);
  REQUIRE(fixture.elsewhere(steps).done);
  CHECK(once == 1);
  CHECK(always == 3);
}

TEST_CASE("Prepare: another start of the instance is asked once, a new volume is prepared again",
          "[unit][prepare]") {
  PrepareFixture fixture;
  Three three;
  const auto steps = three.steps();
  REQUIRE(fixture.prepare(steps).done);
  fixture.guest.log.calls.clear();
  fixture.instance.epoch = Epoch{2};
  CHECK(fixture.prepare(steps).report.path == PreparePath::kUnchanged);
  CHECK(fixture.guest.log.calls.size() == 1);

  fixture.instance = {{DeploymentId("d"), SandboxId("app-1"), Generation("g2")}, Epoch{3}};
  fixture.guest.files.clear();
  CHECK(fixture.prepare(steps).report.path == PreparePath::kRun);
  CHECK(three.all() == 6);
}

TEST_CASE("Prepare: nothing to prepare asks nobody", "[unit][prepare]") {
  PrepareFixture fixture;
  const auto outcome = fixture.prepare(preparation_of({}));
  CHECK(outcome.done);
  CHECK(fixture.guest.log.calls.empty());
  CHECK(fixture.gate.entered == 0);
}

TEST_CASE("Prepare: a step keeps a note until it is applied again", "[unit][prepare]") {
  PrepareFixture fixture;
  std::vector<std::string> found;
  auto step = answering_step("x", StepPolicy::kRequired, [&found](PrepareContext& context) {
    found.push_back(context.note);
    context.note += "n";
    return ok();
  });
  REQUIRE(fixture.prepare(preparation_of({step})).done);
  step.fingerprint = "2";
  REQUIRE(fixture.elsewhere(preparation_of({step})).done);
  CHECK(found == std::vector<std::string>{"", "n"});
}

TEST_CASE("Prepare: a step that finds nothing to do is done, and reported as skipped",
          "[unit][prepare]") {
  PrepareFixture fixture;
  int asked = 0;
  const auto steps =
      preparation_of({answering_step("x", StepPolicy::kRequired, [&asked](PrepareContext& context) {
        ++asked;
        context.nothing_to_do = true;
        context.reason = "no script";
        return ok();
      })});
  const auto outcome = fixture.prepare(steps);
  CHECK(summary(outcome.report) == "x skipped");
  CHECK(outcome.report.steps[0].reason == "no script");
  CHECK(fixture.elsewhere(steps).report.path == PreparePath::kUnchanged);
  CHECK(asked == 1);
}

TEST_CASE("Prepare: a broken state file is an empty one", "[unit][prepare]") {
  PrepareFixture fixture;
  Three three;
  const auto steps = three.steps();
  for (const char* text : {"", "{", "[]", R"({"version":2,"steps":[]})", R"({"version":1})",
                           R"({"version":1,"steps":[{"name":7}, 3, {"name":"a","done":"x"}]})"}) {
    fixture.set_state(text);
    fixture.instance.epoch = next(fixture.instance.epoch);
    const int before = three.all();
    CHECK(fixture.prepare(steps).done);
    CHECK(three.all() == before + 3);
  }
  fixture.set_state(std::string(300 * 1024, ' ') + fixture.state());
  CHECK(fixture.elsewhere(steps).report.path == PreparePath::kRun);
}

TEST_CASE("Prepare: a state file that cannot be read or written costs time only",
          "[unit][prepare]") {
  PrepareFixture fixture;
  int count = 0;
  const auto steps = preparation_of({counting_step("a", "1", count)});
  const Error escape(ErrorCode::kPathEscape, "a link");
  fixture.guest.faults = {escape, escape, escape};  // two reads, one write
  REQUIRE(fixture.prepare(steps).done);
  REQUIRE(fixture.gate.complaints.size() == 1);
  CHECK(fixture.gate.complaints[0] == "prepare of app-1: a link (file: ~/.cove/state.json)");
  CHECK(fixture.prepare(steps).report.path == PreparePath::kRemembered);
  CHECK(count == 1);
}

TEST_CASE("Prepare: a guest that is gone ends it, and is no step's failure", "[unit][prepare]") {
  PrepareFixture fixture;
  int count = 0;
  const auto steps = preparation_of({counting_step("a", "1", count)});
  fixture.guest.faults = {Error(ErrorCode::kUnavailable, "gone")};
  const auto outcome = fixture.prepare(steps);
  REQUIRE_FALSE(outcome.done);
  CHECK(outcome.done.error().code() == ErrorCode::kUnavailable);
  CHECK(outcome.done.error().context().empty());
  CHECK(count == 0);

  const auto broken = preparation_of(
      {answering_step("b", StepPolicy::kBestEffort, [&fixture](PrepareContext& /*context*/) {
        fixture.guest.faults = {Error(ErrorCode::kUnavailable, "gone now")};
        return Result<void>(Error(ErrorCode::kUnavailable, "the connection broke"));
      })});
  const auto second = fixture.prepare(broken);
  REQUIRE_FALSE(second.done);
  CHECK(second.done.error().message() == "gone now");
  CHECK(fixture.gate.complaints.empty());
}

TEST_CASE("Prepare: tells of each step as it begins and ends", "[unit][prepare]") {
  PrepareFixture fixture;
  std::string heard;
  auto steps =
      preparation_of({answering_step("x", StepPolicy::kRequired, [](PrepareContext& context) {
        context.tell("half");
        return ok();
      })});
  steps.observer = [&heard](const PrepareEvent& event) {
    heard += std::string(name_of(event.kind)) + ":" + event.step + event.text;
    if (event.report) heard += std::string(name_of(event.report->outcome));
    heard += " ";
    throw std::runtime_error("a listener's own fault");
  };
  REQUIRE(fixture.prepare(steps).done);
  CHECK(heard == "started:x progress:xhalf finished:xapplied ");
}
