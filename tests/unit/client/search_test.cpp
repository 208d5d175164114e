#include <future>
#include <thread>

#include <catch2/catch.hpp>

#include "support/fakes/fake_link.hpp"

using namespace std::chrono_literals;
using namespace cove;
using cove::testing::FakeLink;

namespace {

struct Client {
  std::shared_ptr<FakeLink> link = std::make_shared<FakeLink>();
  SandboxClient client = client::make_client(link, "sessions/c1");
};

GrepLine line(std::uint64_t number) {
  GrepLine line;
  line.path = "f";
  line.line = number;
  line.column = 1;
  return line;
}

Error unavailable() { return Error(ErrorCode::kUnavailable, "the connection ended"); }

}  // namespace

TEST_CASE("SandboxClient: grep collects all lines and the summary", "[unit][client][search]") {
  Client c;
  c.link->fake->lines.batches = {{line(1), line(2)}, {line(3)}};
  c.link->fake->lines.summary.matches = 3;
  const auto result = c.client.grep(".", {.pattern = "a"}).value();
  REQUIRE(result.lines.size() == 3);
  CHECK(result.lines[2].line == 3);
  CHECK(result.summary.matches == 3);
}

TEST_CASE("SandboxClient: collecting needs a limit of at most 10,000; giving away does not",
          "[unit][client][search]") {
  Client c;
  c.link->fake->lines.batches = {{line(1)}};
  const auto without = c.client.grep(".", {.pattern = "a", .limit = {}});
  REQUIRE_FALSE(without);
  CHECK(without.error().code() == ErrorCode::kInvalidArgument);
  CHECK_FALSE(c.client.grep(".", {.pattern = "a", .limit = 10'001}));
  CHECK(c.client.grep(".", {.pattern = "a", .limit = 10'000}));
  CHECK_FALSE(c.client.find(".", {.limit = {}}));
  const auto sink = [](std::span<const GrepLine>) { return ok(); };
  CHECK(c.client.grep_each(".", {.pattern = "a", .limit = {}}, sink));
}

TEST_CASE("SandboxClient: a query that is wrong is refused before the guest is asked",
          "[unit][client][search]") {
  Client c;
  CHECK(c.client.grep(".", {.pattern = ""}).error().code() == ErrorCode::kInvalidArgument);
  CHECK(c.client.find(".", {.max_depth = 0}).error().code() == ErrorCode::kInvalidArgument);
  CHECK(c.link->fake->log.calls.empty());
}

TEST_CASE("SandboxClient: a search is asked again once over a broken connection",
          "[unit][client][search]") {
  Client c;
  c.link->fake->lines.batches = {{line(1)}};
  c.link->fake->faults = {unavailable()};
  CHECK(c.client.grep(".", {.pattern = "a"}).value().lines.size() == 1);
}

TEST_CASE("SandboxClient: a deadline gives what was found by then", "[unit][client][search]") {
  Client c;
  c.link->fake->lines.batches = {{line(1)}};
  c.link->fake->lines.ends = false;
  const CallContext call{.deadline = c.link->system_clock.now() + 50ms, .stop = {}};
  const auto result = c.client.grep(".", {.pattern = "a"}, call).value();
  CHECK(result.lines.size() == 1);
  CHECK(result.summary.ended == SearchEnd::kDeadline);
}

TEST_CASE("SandboxClient: results are given on the calling thread, and the sink's error ends it",
          "[unit][client][search]") {
  Client c;
  c.link->fake->lines.batches = {{line(1)}, {line(2)}, {line(3)}};
  const auto here = std::this_thread::get_id();
  std::size_t given = 0;
  const auto sink = [&](std::span<const GrepLine> lines) -> Result<void> {
    CHECK(std::this_thread::get_id() == here);
    given += lines.size();
    if (given == 2) return Error(ErrorCode::kConflict, "enough");
    return ok();
  };
  const auto ended = c.client.grep_each(".", {.pattern = "a"}, sink);
  REQUIRE_FALSE(ended);
  CHECK(ended.error().code() == ErrorCode::kConflict);
  CHECK(given == 2);
  CHECK(c.link->fake->log.search_dropped);
  const auto thrower = [](std::span<const GrepLine>) -> Result<void> { throw 1; };
  CHECK(c.client.grep_each(".", {.pattern = "a"}, thrower).error().code() == ErrorCode::kInternal);
}

TEST_CASE("SandboxClient: after a pause no more results are asked for until resume",
          "[unit][client][search]") {
  Client c;
  FindEntry entry;
  entry.path = "f";
  c.link->fake->entries.batches = {{entry}, {entry}, {entry}};
  std::promise<void> paused;
  std::promise<Result<SearchSummary>> done;
  std::size_t given = 0;
  SearchCallbacks<FindEntry> callbacks;
  callbacks.on_found = [&](std::span<const FindEntry> found) {
    given += found.size();
    if (given > 1) return Flow::kContinue;
    paused.set_value();
    return Flow::kPause;
  };
  callbacks.on_done = [&](Result<SearchSummary> summary) { done.set_value(std::move(summary)); };
  const SearchHandle handle = c.client.find_async(".", {.limit = {}}, std::move(callbacks));
  paused.get_future().wait();
  CHECK(c.client.stat("missing").error().code() == ErrorCode::kNotFound);  // the scheduler goes on
  CHECK(c.link->fake->log.batches_asked == 1);
  handle.resume();
  CHECK(done.get_future().get());
  CHECK(given == 3);
}

TEST_CASE("SandboxClient: a handle's cancel ends the search, and the summary says so",
          "[unit][client][search]") {
  Client c;
  c.link->fake->lines.ends = false;
  std::promise<Result<SearchSummary>> done;
  SearchCallbacks<GrepLine> callbacks;
  callbacks.on_done = [&](Result<SearchSummary> summary) { done.set_value(std::move(summary)); };
  const SearchHandle handle = c.client.grep_async(".", {.pattern = "a"}, std::move(callbacks));
  handle.cancel();
  const auto summary = done.get_future().get();
  if (summary) CHECK(summary->ended == SearchEnd::kCancelled);
  if (!summary) CHECK(summary.error().code() == ErrorCode::kCancelled);  // before it had begun
}
