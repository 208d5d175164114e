// A chat's session directory goes on request, and nothing else.
#include <catch2/catch.hpp>

#include "support/fixtures/live_cove.hpp"

using namespace cove;
using namespace cove::testing;

TEST_CASE("Cove: remove_session removes that chat's directory alone", "[integration][runtime]") {
  LiveCove live;
  auto cove = live.open();
  const WorkspaceKey ana{"app", "demo", "ana"};
  {
    const auto first = cove.acquire(ana, {.chat_id = "c1"}).value();
    const auto second = cove.acquire(ana, {.chat_id = "c2"}).value();
    shell(first.client(), "mkdir -p deep/er; echo one > deep/er/note; echo shared > ../../shared");
    shell(second.client(), "echo two > note");
  }
  CHECK(cove.remove_session(ana, {.chat_id = "c1"}));
  CHECK(cove.remove_session(ana, {.chat_id = "c1"}));
  CHECK(cove.remove_session(ana, {.chat_id = "never"}));
  const auto refused = cove.remove_session(ana, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kInvalidArgument);
  const auto whole = cove.acquire(ana).value();
  CHECK(shell(whole.client(), "ls sessions; cat shared sessions/c2/note") == "c2\nshared\ntwo");
  const auto again = cove.acquire(ana, {.chat_id = "c1"}).value();
  CHECK(shell(again.client(), "pwd; ls -A") == "/workspace/sessions/c1");
}
