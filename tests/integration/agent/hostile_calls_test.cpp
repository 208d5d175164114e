// Every call of a guest against every kind of broken, endless and oversized frame, and against a
// connection that ends; in a process that has 256 MiB of address space.
#include <iterator>
#include <vector>

#include <catch2/catch.hpp>

#include "support/fixtures/agent_fixture.hpp"
#include "support/fixtures/hostile_agent.hpp"
#include "wire/reply.hpp"
#include "wire/search_batch.hpp"

using namespace cove;
using test::Attacker;
using test::HostCall;

namespace {

std::vector<HostCall> all_calls() {
  std::vector<HostCall> all;
  for (const auto& calls :
       {test::command_calls(), test::file_calls(), test::tree_calls(), test::search_calls()}) {
    all.insert(all.end(), calls.begin(), calls.end());
  }
  return all;
}

}  // namespace

TEST_CASE("Guest: answers that make no sense end each call with a provider error in 256 MiB",
          "[integration][guest][security]") {
  CHECK(test::try_all(all_calls(), test::malformed_payloads()) == "");
}

TEST_CASE("Guest: frames that make no sense end each call with a provider error in 256 MiB",
          "[integration][guest][security]") {
  CHECK(test::try_all(all_calls(), test::broken_frames()) == "");
}

TEST_CASE("Guest: frames without end let each call end by its deadline in 256 MiB",
          "[integration][guest][security]") {
  CHECK(test::try_all(all_calls(), test::endless_frames()) == "");
}

TEST_CASE("Guest: a connection that ends makes each call unavailable, whatever came before",
          "[integration][guest][security]") {
  CHECK(test::try_all(all_calls(), test::lost_connections()) == "");
}

TEST_CASE("Guest: an agent that sends on to a call that is over, and reads nothing, is let go of",
          "[integration][guest][security]") {
  base::IoLoop loop;
  test::HostOfHostile host(loop);
  const ProcessId id(std::string(32, 'a'));
  const base::SystemClock clock;
  const CallContext soon{.deadline = clock.now() + std::chrono::milliseconds(20)};
  const OutputRequest one_byte{.limit = 1};
  const auto left = base::sync_wait(loop, host.guest().process_output(id, one_byte, soon));
  REQUIRE(left.error().code() == ErrorCode::kTimeout);
  const auto request = host.agent().receive();
  // What comes for it is dropped, and its credit given back, a frame for each byte.
  Bytes crumbs;
  for (int i = 0; i < 1000; ++i) {
    wire::append_frame(crumbs, wire::FrameType::kData, wire::Channel::kOut, request->stream,
                       Bytes(1));
  }
  for (int i = 0; i < 3000 && guest::is_connected(host.guest()); ++i) {
    host.agent().send_bytes(crumbs);
  }
  CHECK_FALSE(guest::is_connected(host.guest()));
}

TEST_CASE("Guest: what comes for a call that ended ends the connection",
          "[integration][guest][security]") {
  const std::vector<test::Said> late{test::answer(wire::encode_nothing()),
                                     test::event(wire::encode_nothing()),
                                     test::data(Bytes(1)),
                                     test::data({}),
                                     {wire::FrameType::kError, wire::encode_nothing()},
                                     {wire::FrameType::kEnd, {}},
                                     {wire::FrameType::kCredit, Bytes(8, std::byte{1})}};
  for (const HostCall& call : all_calls()) {
    if (call.name == std::string_view("watch")) continue;  // it never ends
    for (const test::Said& said : late) {
      CAPTURE(call.name, static_cast<int>(said.type));
      HostCall twice = call;
      twice.run = [&](base::IoLoop& loop, Guest& guest, const CallContext& context) {
        CHECK_FALSE(call.run(loop, guest, context));
        const auto status = base::sync_wait(loop, guest.status(context));
        return status ? std::optional<Error>() : status.error();
      };
      const auto part = [&](const Attacker& at) {
        at.hear_upload();
        for (const test::Said& each : call.honest(at.request)) at.say(each);
        at.say(said);
      };
      CHECK(test::try_one(twice, {"more", test::Fate::kProvider, part}) == "");
    }
  }
}

TEST_CASE("Guest: a deadline that passed counts also while more has come than was taken",
          "[integration][guest][security]") {
  base::IoLoop loop;
  test::HostOfHostile host(loop);
  const GuestPath path{"", "f"};
  const GrepQuery query{.pattern = "match"};
  const base::SystemClock clock;
  const CallContext late{.deadline = clock.now()};
  wire::Cancel told;
  // What the agent says to the second call has come behind all that it says to the first.
  const auto part = [&](const Attacker& at) {
    for (const test::Said& said : at.call.honest(at.request)) at.say(said);
    const auto status = at.wire.receive();
    at.wire.send(wire::FrameType::kResponse, status->stream, wire::encode_status({}));
    const auto cancel = at.wire.receive();
    if (cancel) told = wire::parse_cancel(cancel->payload).value();
  };
  SECTION("a file") {
    const auto read = [&](base::IoLoop&, Guest& guest, const CallContext& call) {
      const auto file = base::sync_wait(loop, guest.read_file(path, {}, call));
      CHECK(base::sync_wait(loop, guest.status(call)));
      const auto piece = base::sync_wait(loop, file->content->next(late));
      return piece ? std::optional<Error>() : piece.error();
    };
    const auto pieces = [](const wire::Request&) {
      return test::Script{test::event(wire::encode_opened({{}, 8, ""})), test::data(Bytes(4)),
                          test::data(Bytes(4))};
    };
    const auto error = host.play({"read_file", read, pieces}, part, {});
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::kTimeout);
  }
  SECTION("a search, which is told to end, and gives what came") {
    const auto grep = [&](base::IoLoop&, Guest& guest, const CallContext& call) {
      const auto found = base::sync_wait(loop, guest.grep(path, query, call));
      CHECK(base::sync_wait(loop, guest.status(call)));
      CHECK(base::sync_wait(loop, (*found)->next(late)).value().size() == 1);
      return std::optional<Error>();
    };
    wire::LinePacker packer;
    packer.begin("f", TextEncoding::kBytes);
    packer.add({.line = 1, .column = 1, .text = "match"});
    const auto batches = [batch = packer.take()](const wire::Request&) {
      return test::Script{test::data(batch), test::data(batch)};
    };
    CHECK_FALSE(host.play({"grep", grep, batches}, part, {}));
    CHECK(told.timed_out);
    CHECK_FALSE(told.discard);
  }
}

TEST_CASE("Guest: other sandboxes' calls go on while an agent sends without end",
          "[integration][guest][security]") {
  test::AgentFixture honest;
  for (const test::Attack& attack : test::endless_frames()) {
    CAPTURE(attack.name);
    test::HostOfHostile hostile(honest.loop);
    const HostCall call{"commands of another sandbox",
                        [&](base::IoLoop&, Guest& guest, const CallContext& context) {
                          const auto status = guest.status(context);
                          for (int i = 0; i < 5; ++i) {
                            CHECK(honest.shell("echo fine").value().out.head == "fine\n");
                          }
                          return std::optional<Error>();
                        },
                        [](const wire::Request&) { return test::Script(); }};
    CHECK_FALSE(hostile.play(call, attack.run, {}));
  }
}
