#include "prepare/pipeline/state.hpp"

#include <catch2/catch.hpp>

using namespace cove;
using cove::prepare::hash_of;
using cove::prepare::State;
using cove::prepare::StepState;

namespace {

StepState step(const std::string& name, const std::string& note = {}) {
  StepState state;
  state.name = name;
  state.done = hash_of("1");
  state.note = note;
  return state;
}

}  // namespace

TEST_CASE("PrepareState: what is written is read back", "[unit][prepare]") {
  State state;
  StepState failed = step("b", "数据 \"x\"\n");
  failed.failed = hash_of("2");
  failed.failures = 3;
  failed.retry_at = StoreTime(std::chrono::milliseconds(1'700'000'000'123));
  state.put(step("a"));
  state.put(failed);
  const State again = State::parse(state.text());
  REQUIRE(again.find("b") != nullptr);
  CHECK(*again.find("b") == failed);
  CHECK(*again.find("a") == step("a"));
  CHECK(again.find("c") == nullptr);
  CHECK(again.text() == state.text());
}

TEST_CASE("PrepareState: the documented example is what is read", "[unit][prepare]") {
  const State state = State::parse(R"({"version":1,"steps":[{"name":"mirrors","done":")" +
                                   hash_of("1") + R"(","later":7}]})");
  CHECK(*state.find("mirrors") == step("mirrors"));
}

TEST_CASE("PrepareState: a note that is too long or no text is not kept", "[unit][prepare]") {
  State state;
  state.put(step("long", std::string(16 * 1024 + 1, 'x')));
  state.put(step("fits", std::string(16 * 1024, 'x')));
  state.put(step("bytes", "\xff"));
  CHECK(state.find("long")->note.empty());
  CHECK(state.find("fits")->note.size() == 16 * 1024);
  CHECK(state.find("bytes")->note.empty());
}

TEST_CASE("PrepareState: stays within its size, and forgets what was changed longest ago",
          "[unit][prepare]") {
  State state;
  for (int i = 0; i < 600; ++i) state.put(step("s" + std::to_string(i)));
  CHECK(state.find("s87") == nullptr);
  CHECK(state.find("s88") != nullptr);
  state.put(step("s88"));
  state.put(step("more"));
  CHECK(state.find("s88") != nullptr);

  State large;
  for (int i = 0; i < 30; ++i) large.put(step("n" + std::to_string(i), std::string(16'000, 'x')));
  CHECK(large.text().size() <= prepare::kMaxStateBytes);
  const State read = State::parse(large.text());
  CHECK(read.find("n29") != nullptr);
  CHECK(read.find("n0") == nullptr);
}

TEST_CASE("PrepareState: hostile texts are less than they say, never a fault",
          "[unit][prepare][security]") {
  const std::string hash = hash_of("1");
  for (const std::string& text :
       {std::string(200'000, '['), std::string("{\"version\":1,\"steps\":[{\"name\":\"\"}]}"),
        "{\"version\":1,\"steps\":[{\"name\":\"a\",\"done\":[\"" + hash + "\"]}]}",
        std::string("{\"version\":1,\"steps\":[null,[],\"x\",{}]}"),
        std::string("{\"version\":1,\"steps\":{\"a\":1}}")}) {
    const State state = State::parse(text);
    CHECK((state.find("a") == nullptr || state.find("a")->done.empty()));
  }
  const State far =
      State::parse("{\"version\":1,\"steps\":[{\"name\":\"a\",\"failed\":\"" + hash +
                   "\",\"failures\":18446744073709551615,\"retry_at_ms\":18446744073709551615}]}");
  REQUIRE(far.find("a") != nullptr);
  CHECK(far.find("a")->failures == 4294967295U);
  CHECK(far.find("a")->retry_at.time_since_epoch().count() > 0);
}
