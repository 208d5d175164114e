#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "support/fixtures/agent_fixture.hpp"

using namespace std::chrono_literals;
using namespace cove;
using test::AgentFixture;

namespace {

/// Everything of a search, and how many pieces it came in.
template <class Found>
struct All {
  std::vector<Found> found;
  std::size_t pieces = 0;
  SearchSummary summary;
};

template <class Found>
Task<Result<All<Found>>> take_all(std::unique_ptr<SearchStream<Found>> stream, CallContext call) {
  All<Found> all;
  for (;;) {
    COVE_CO_TRY(auto found, co_await stream->next(call));
    if (found.empty()) break;
    ++all.pieces;
    all.found.insert(all.found.end(), found.begin(), found.end());
  }
  all.summary = stream->summary();
  co_return all;
}

Task<Result<All<GrepLine>>> grep(std::shared_ptr<Guest> guest, std::string path, GrepQuery query,
                                 CallContext call) {
  const GuestPath from{"", std::move(path)};
  COVE_CO_TRY(auto stream, co_await guest->grep(from, query, call));
  co_return co_await take_all(std::move(stream), call);
}

Task<Result<All<FindEntry>>> find(std::shared_ptr<Guest> guest, std::string path, FindQuery query,
                                  CallContext call = {}) {
  const GuestPath from{"", std::move(path)};
  COVE_CO_TRY(auto stream, co_await guest->find(from, query, call));
  co_return co_await take_all(std::move(stream), call);
}

auto begin_search(Guest& guest, const GuestPath& from, const GrepQuery& query,
                  const CallContext& call) {
  return guest.grep(from, query, call);
}
auto begin_search(Guest& guest, const GuestPath& from, const FindQuery& query,
                  const CallContext& call) {
  return guest.find(from, query, call);
}

/// Takes the first results, lets go of the search, and says how many there were.
template <class Query>
Task<Result<std::size_t>> take_one(std::shared_ptr<Guest> guest, Query query) {
  const CallContext call;
  const GuestPath from{"", "."};
  COVE_CO_TRY(auto stream, co_await begin_search(*guest, from, query, call));
  COVE_CO_TRY(const auto found, co_await stream->next(call));
  co_return found.size();
}

/// Takes the first results, calls the search off and takes the rest.
Task<Result<All<FindEntry>>> stop_names(std::shared_ptr<Guest> guest, FindQuery query) {
  std::stop_source stop;
  const CallContext call{.deadline = {}, .stop = stop.get_token()};
  const GuestPath from{"", "."};
  COVE_CO_TRY(auto stream, co_await guest->find(from, query, call));
  COVE_CO_TRY(auto first, co_await stream->next(call));
  stop.request_stop();
  COVE_CO_TRY(auto all, co_await take_all(std::move(stream), call));
  all.found.insert(all.found.begin(), first.begin(), first.end());
  co_return all;
}

Task<Result<SearchSummary>> stop_after_first(std::shared_ptr<Guest> guest, GrepQuery query,
                                             std::stop_source stop) {
  const CallContext call{.deadline = {}, .stop = stop.get_token()};
  const GuestPath from{"", "."};
  COVE_CO_TRY(auto stream, co_await guest->grep(from, query, call));
  COVE_CO_TRY(auto found, co_await stream->next(call));
  stop.request_stop();
  while (!found.empty()) {
    COVE_CO_TRY(found, co_await stream->next(call));
  }
  co_return stream->summary();
}

void put_many(const AgentFixture& fixture, int files, int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i) text += "a line with a word in it\n";
  for (int i = 0; i < files; ++i) {
    std::ofstream(fixture.agent.workspace() + "/f" + std::to_string(1'000 + i)) << text;
  }
}

constexpr std::size_t kDeepFiles = 4'000;

/// So many files in one deep directory: their paths, 12 MB, are more than a search holds of what
/// nobody takes.
void put_deep(const AgentFixture& fixture) {
  std::string directory = fixture.agent.workspace();
  for (int i = 0; i < 15; ++i) directory += "/" + std::string(200, 'd');
  std::filesystem::create_directories(directory);
  for (std::size_t i = 0; i < kDeepFiles; ++i) std::ofstream(directory + "/f" + std::to_string(i));
}

/// Files that a walk takes much longer for than a message to the agent.
void put_wide(const AgentFixture& fixture) {
  for (int i = 0; i < 20'000; ++i) {
    const std::string directory = fixture.agent.workspace() + "/d" + std::to_string(i / 1'000);
    if (i % 1'000 == 0) std::filesystem::create_directory(directory);
    std::ofstream(directory + "/f" + std::to_string(i));
  }
}

std::ptrdiff_t threads_of(const AgentFixture& fixture) {
  const std::filesystem::directory_iterator tasks("/proc/" + std::to_string(fixture.agent.pid()) +
                                                  "/task");
  return std::distance(begin(tasks), end(tasks));
}

/// Waits, with calls of the agent, until it has so many threads again.
void wait_for_threads(AgentFixture& fixture, std::ptrdiff_t wanted) {
  const auto late = std::chrono::steady_clock::now() + 20s;
  while (threads_of(fixture) > wanted && std::chrono::steady_clock::now() < late) {
    REQUIRE(fixture.wait(fixture.guest->status({})));
  }
  CHECK(threads_of(fixture) == wanted);
}

const CallContext kNoLimit;

}  // namespace

TEST_CASE("Search: the agent finds lines and names, in order and with their summary",
          "[integration][search]") {
  AgentFixture fixture;
  std::filesystem::create_directory(fixture.agent.workspace() + "/src");
  fixture.agent.put("src/a.py", "import os\nclass A: pass\n");
  fixture.agent.put("b.py", "import sys\n");
  const auto lines =
      fixture.wait(grep(fixture.guest, ".", {.pattern = "import (\\w+)"}, kNoLimit)).value();
  REQUIRE(lines.found.size() == 2);
  CHECK(lines.found[0].path == "b.py");
  CHECK(lines.found[1].path == "src/a.py");
  CHECK(lines.found[1].text == "import os");
  CHECK(lines.summary.ended == SearchEnd::kComplete);
  CHECK(lines.summary.files_searched == 2);

  const auto names =
      fixture.wait(find(fixture.guest, ".", {.glob = "**/*.py", .facts = true})).value();
  REQUIRE(names.found.size() == 2);
  CHECK(names.found[1].path == "src/a.py");
  CHECK(names.found[1].facts->size == 24);
}

TEST_CASE("Search: what is wrong with a query or a path comes back as its error",
          "[integration][search]") {
  AgentFixture fixture;
  const auto code = [&](std::string path, GrepQuery query) {
    const auto result = fixture.wait(grep(fixture.guest, std::move(path), std::move(query), {}));
    REQUIRE_FALSE(result);
    return result.error().code();
  };
  CHECK(code(".", {.pattern = "("}) == ErrorCode::kInvalidArgument);
  CHECK(code(".", {.pattern = ""}) == ErrorCode::kInvalidArgument);
  CHECK(code("missing", {.pattern = "a"}) == ErrorCode::kNotFound);
  CHECK(code("../..", {.pattern = "a"}) == ErrorCode::kPathEscape);
  CHECK(code("/etc", {.pattern = "root"}) == ErrorCode::kPathEscape);
}

TEST_CASE("Search: many results come in pieces, as fast as they are taken",
          "[integration][search]") {
  AgentFixture fixture;
  put_many(fixture, 20, 20'000);
  const auto all =
      fixture.wait(grep(fixture.guest, ".", {.pattern = "word", .limit = {}}, kNoLimit)).value();
  CHECK(all.found.size() == 400'000);
  CHECK(all.pieces > 50);
  CHECK(all.summary.matches == 400'000);
}

TEST_CASE("Search: one that is let go ends in the agent, which then has no threads for it",
          "[integration][search]") {
  AgentFixture fixture;
  put_many(fixture, 10, 50'000);
  const auto idle = threads_of(fixture);
  CHECK(fixture.wait(take_one(fixture.guest, GrepQuery{.pattern = "word", .limit = {}})).value() >
        0);
  wait_for_threads(fixture, idle);
}

TEST_CASE("Search: a find that is let go ends in the agent too", "[integration][search]") {
  AgentFixture fixture;
  put_deep(fixture);
  const auto idle = threads_of(fixture);
  CHECK(fixture.wait(take_one(fixture.guest, FindQuery{.limit = {}})).value() > 0);
  wait_for_threads(fixture, idle);
}

TEST_CASE("Search: a cancelled find gives what it has found and says that it was cancelled",
          "[integration][search]") {
  AgentFixture fixture;
  put_deep(fixture);
  const auto all = fixture.wait(stop_names(fixture.guest, {.limit = {}})).value();
  CHECK(all.summary.ended == SearchEnd::kCancelled);
  CHECK(all.summary.matches == all.found.size());
  CHECK(all.found.size() < kDeepFiles);
}

TEST_CASE("Search: a cancelled find of the newest gives the newest so far",
          "[integration][search]") {
  AgentFixture fixture;
  put_wide(fixture);
  const FindQuery newest{.limit = 1'000, .newest_first = true, .facts = true};
  bool cancelled = false;
  // One that is called off before it begins is an error; some in between are while it walks.
  for (auto span = 1ms; span < 2000ms && !cancelled; span *= 2) {
    std::stop_source stop;
    const auto due = std::chrono::steady_clock::now() + span;
    std::thread canceller([&] {
      while (std::chrono::steady_clock::now() < due) std::this_thread::yield();
      stop.request_stop();
    });
    const CallContext call{.deadline = {}, .stop = stop.get_token()};
    const auto all = fixture.wait(find(fixture.guest, ".", newest, call));
    canceller.join();
    if (!all) {
      CHECK(all.error().code() == ErrorCode::kCancelled);
      continue;
    }
    CHECK(all->summary.matches == all->found.size());
    CHECK(all->found.size() <= 1'000);
    CHECK(std::is_sorted(all->found.begin(), all->found.end(), [](const auto& a, const auto& b) {
      return a.facts->modified > b.facts->modified;
    }));
    cancelled = all->summary.ended == SearchEnd::kCancelled;
    if (!cancelled) CHECK(all->summary.ended == SearchEnd::kLimit);  // there are older ones
  }
  CHECK(cancelled);
}

TEST_CASE("Search: a cancelled one gives what it has found and says that it was cancelled",
          "[integration][search]") {
  AgentFixture fixture;
  put_many(fixture, 10, 50'000);
  const auto summary = fixture.wait(
      stop_after_first(fixture.guest, {.pattern = "word", .limit = {}}, std::stop_source()));
  REQUIRE(summary);
  CHECK(summary->ended == SearchEnd::kCancelled);
  CHECK(summary->matches > 0);
  CHECK(summary->matches < 500'000);
}

TEST_CASE("Search: when the deadline passes, what was found comes back with a flag",
          "[integration][search][pain-66]") {
  AgentFixture fixture;
  put_many(fixture, 1, 1'000);
  // A pattern that the text makes slow: every line is looked at from each of its places.
  std::string line;
  for (int i = 0; i < 4'000'000; ++i) line += "ab";
  for (int i = 0; i < 30; ++i) fixture.agent.put("g" + std::to_string(i), line);
  const CallContext call{.deadline = fixture.clock.now() + 400ms, .stop = {}};
  const auto all =
      fixture.wait(grep(fixture.guest, ".", {.pattern = "word|(a|b)*[^ab]+c", .limit = {}}, call));
  REQUIRE(all);
  CHECK(all->summary.ended == SearchEnd::kDeadline);
  CHECK(all->found.size() == all->summary.matches);
}

TEST_CASE("Search: when a find's deadline passes, what was found comes back with a flag",
          "[integration][search][pain-66]") {
  AgentFixture fixture;
  put_deep(fixture);
  const auto idle = threads_of(fixture);
  const CallContext call{.deadline = fixture.clock.now() + 400ms, .stop = {}};
  const GuestPath from{"", "."};
  const FindQuery query{.limit = {}};
  auto stream = fixture.wait(fixture.guest->find(from, query, call)).value();
  // Nobody takes what it finds: only the deadline can end it.
  while (fixture.clock.now() < *call.deadline) REQUIRE(fixture.wait(fixture.guest->status({})));
  wait_for_threads(fixture, idle);
  const auto all = fixture.wait(take_all(std::move(stream), kNoLimit)).value();
  CHECK(all.summary.ended == SearchEnd::kDeadline);
  CHECK(all.found.size() == all.summary.matches);
  CHECK_FALSE(all.found.empty());
  CHECK(all.found.size() < kDeepFiles);
}

TEST_CASE("Search: when the deadline of a find of the newest passes, the newest so far come",
          "[integration][search][pain-66]") {
  AgentFixture fixture;
  put_wide(fixture);
  bool late = false;
  // One so short that it passes before the search begins is an error; some in between come due
  // while it walks.
  for (auto span = 1ms; span < 2000ms && !late; span *= 2) {
    const CallContext call{.deadline = fixture.clock.now() + span, .stop = {}};
    const FindQuery newest{.limit = 1'000, .newest_first = true};
    const auto all = fixture.wait(find(fixture.guest, ".", newest, call));
    if (!all) {
      CHECK(all.error().code() == ErrorCode::kTimeout);
      continue;
    }
    CHECK(all->found.size() == all->summary.matches);
    late = all->summary.ended == SearchEnd::kDeadline;
    if (!late) CHECK(all->summary.ended == SearchEnd::kLimit);
  }
  CHECK(late);
}

TEST_CASE("Search: one whose agent dies is unavailable", "[integration][search]") {
  AgentFixture fixture;
  put_many(fixture, 4, 50'000);
  const auto result = fixture.wait([](AgentFixture& outer) -> Task<Result<std::size_t>> {
    const CallContext call;
    const GuestPath from{"", "."};
    const GrepQuery query{.pattern = "word", .limit = {}};
    COVE_CO_TRY(auto stream, co_await outer.guest->grep(from, query, call));
    COVE_CO_TRY(auto found, co_await stream->next(call));
    outer.agent.kill();
    while (!found.empty()) {
      COVE_CO_TRY(found, co_await stream->next(call));
    }
    co_return found.size();
  }(fixture));
  REQUIRE_FALSE(result);
  CHECK(result.error().code() == ErrorCode::kUnavailable);
}
