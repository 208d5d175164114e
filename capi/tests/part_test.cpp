// Questions to a host's parts and their answers; and what cove_open does with the parts.
#include <future>
#include <thread>

#include "part_fixture.hpp"

using namespace std::chrono_literals;
using namespace cove;
using part::document;
using part::give_time;
using part::Host;
using part::StoreOfHost;

TEST_CASE("Part: an answer may come at once, later, and from any thread", "[capi][threads]") {
  StoreOfHost its;
  its.host.now = [](cove_done* done) { give_time(done, 7); };
  CHECK(its.now().value() == StoreTime(7ms));
  std::thread later;
  its.host.now = [&](cove_done* done) { later = std::thread([done] { give_time(done, 9); }); };
  CHECK(its.now().value() == StoreTime(9ms));
  later.join();
}

TEST_CASE("Part: a slot that never answers is waited for as long as the call lasts", "[capi]") {
  StoreOfHost its;
  cove_done* kept = nullptr;
  its.host.now = [&](cove_done* done) { kept = done; };
  // On a busy machine the time may be over before the slot is called.
  for (auto room = 20ms; kept == nullptr; room *= 2) {
    const CallContext soon{.deadline = its.clock.now() + room, .stop = {}};
    CHECK(its.now(soon).error().code() == ErrorCode::kTimeout);
  }
  CHECK(cove_done_is_over(kept) == 1);
  CHECK(cove_done_remaining_ms(kept) == 0);
  CHECK(cove_done_time(kept, 1, nullptr) == COVE_OK);  // nobody hears it
  cove_done_free(kept);

  std::stop_source stop;
  its.host.now = [&](cove_done* done) {
    kept = done;
    CHECK(cove_done_is_over(done) == 0);
    CHECK(cove_done_remaining_ms(done) == -1);
    stop.request_stop();
  };
  CHECK(its.now({.deadline = {}, .stop = stop.get_token()}).error().code() ==
        ErrorCode::kCancelled);
  cove_done_free(kept);
}

TEST_CASE("Part: the first answer counts, and a second is refused and logged", "[capi]") {
  StoreOfHost its;
  cove_status second = COVE_OK;
  its.host.now = [&](cove_done* done) {
    cove_done_time(done, 5, nullptr);
    second = cove_done_time(done, 6, nullptr);
    cove_done_free(done);
  };
  CHECK(its.now().value() == StoreTime(5ms));
  CHECK(second == COVE_FAILED_PRECONDITION);
  REQUIRE(its.log->lines().size() == 1);
  CHECK(its.log->lines().front().find("'now' was answered twice") != std::string::npos);
}

TEST_CASE("Part: one that lets go without an answer is unavailable", "[capi]") {
  StoreOfHost its;
  its.host.now = [](cove_done* done) { cove_done_free(done); };
  CHECK(its.now().error().code() == ErrorCode::kUnavailable);
}

TEST_CASE("Part: an answer to another question is an error on both sides", "[capi]") {
  StoreOfHost its;
  cove_status told = COVE_OK;
  its.host.now = [&](cove_done* done) {
    told = cove_done_version(done, 1, nullptr);
    cove_done_free(done);
  };
  CHECK(its.now().error().code() == ErrorCode::kInternal);
  CHECK(told == COVE_INVALID_ARGUMENT);
}

TEST_CASE("Part: a failure has the host's code, sentence and time", "[capi]") {
  StoreOfHost its;
  its.host.now = [](cove_done* done) {
    cove_done_fail(done, COVE_UNAVAILABLE, "the database is away", 250, nullptr);
    cove_done_free(done);
  };
  const Error error = its.now().error();
  CHECK(error.code() == ErrorCode::kUnavailable);
  CHECK(error.message() == "the database is away");
  CHECK(error.retry_after() == 250ms);
  const cove_status code = GENERATE(0, 99);
  its.host.now = [code](cove_done* done) {
    CHECK(cove_done_fail(done, code, "x", -1, nullptr) == COVE_INVALID_ARGUMENT);
    cove_done_free(done);
  };
  CHECK(its.now().error().code() == ErrorCode::kInternal);
}

TEST_CASE("Part: what may block has a thread of its own", "[capi][threads]") {
  StoreOfHost its(COVE_PART_BLOCKING);
  std::thread::id asked_on;
  its.host.now = [&](cove_done* done) {
    asked_on = std::this_thread::get_id();
    give_time(done, 1);
  };
  REQUIRE(its.now());
  const auto on_loop =
      its.wait([]() -> Task<std::thread::id> { co_return std::this_thread::get_id(); }());
  CHECK(asked_on != std::this_thread::get_id());
  CHECK(asked_on != on_loop);
}

TEST_CASE("Part: an answer after the end of the Cove is ignored", "[capi]") {
  cove_done* kept = nullptr;
  {
    StoreOfHost its;
    its.host.now = [&](cove_done* done) { kept = done; };
    // On a busy machine the time may be over before anybody was asked.
    for (auto patience = 10ms; kept == nullptr; patience *= 2) {
      CHECK_FALSE(its.now({.deadline = its.clock.now() + patience, .stop = {}}));
    }
    its.store.reset();
    CHECK(its.host.destroyed == 1);
  }
  CHECK(cove_done_is_over(kept) == 1);
  CHECK(cove_done_time(kept, 1, nullptr) == COVE_OK);
  cove_done_free(kept);
}

TEST_CASE("cove_open: parts end once, with the Cove or with the failure", "[capi]") {
  fake::reset();
  Host host;
  cove_metadata_store slots = part::slots_of(host);
  cove_open_options options{};
  options.struct_size = sizeof options;
  options.metadata = &slots;
  cove_handle* raw = nullptr;
  SECTION("with the Cove") {
    REQUIRE(cove_open(kConfig, &options, &raw, nullptr) == COVE_OK);
    CHECK(fake::world().parts.lock()->make_metadata);
    CHECK_FALSE(fake::world().parts.lock()->make_objects);
    CHECK(host.destroyed == 0);
    cove_free(raw);
  }
  SECTION("where the Cove does not open") {
    fake::world().fail_with = Error(ErrorCode::kUnavailable, "no");
    CHECK(cove_open(kConfig, &options, &raw, nullptr) == COVE_UNAVAILABLE);
  }
  SECTION("where the configuration is wrong") {
    CHECK(cove_open(nullptr, &options, &raw, nullptr) == COVE_INVALID_ARGUMENT);
  }
  SECTION("where a slot is missing") {
    slots.query = nullptr;
    CHECK(cove_open(kConfig, &options, &raw, nullptr) == COVE_INVALID_ARGUMENT);
  }
  SECTION("where another part is wrong") {
    cove_clock clock{};
    clock.struct_size = sizeof clock;
    options.clock = &clock;
    CHECK(cove_open(kConfig, &options, &raw, nullptr) == COVE_INVALID_ARGUMENT);
  }
  SECTION("where flags are of a newer version") {
    slots.flags = 0x80;
    CHECK(cove_open(kConfig, &options, &raw, nullptr) == COVE_UNSUPPORTED);
  }
  CHECK(host.destroyed == 1);
}

TEST_CASE("cove_open: a part of no version is refused without being read", "[capi]") {
  fake::reset();
  Host host;
  cove_metadata_store slots = part::slots_of(host);
  slots.struct_size = 8;
  cove_open_options options{};
  options.struct_size = sizeof options;
  options.metadata = &slots;
  cove_handle* raw = nullptr;
  CHECK(cove_open(kConfig, &options, &raw, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(host.destroyed == 0);
}

namespace {

struct HandClock {
  std::int64_t now_ns = 1'000'000'000;
  std::int64_t wall_ms = 1'700'000'000'000;
  int destroyed = 0;

  cove_clock slots() {
    cove_clock made{};
    made.struct_size = sizeof made;
    made.self = this;
    made.destroy = [](void* self) { ++static_cast<HandClock*>(self)->destroyed; };
    made.now_ns = [](void* self) { return static_cast<HandClock*>(self)->now_ns; };
    made.wall_ms = [](void* self) { return static_cast<HandClock*>(self)->wall_ms; };
    return made;
  }
};

}  // namespace

TEST_CASE("cove_open: a clock of the host's is what the Cove and its time limits go by", "[capi]") {
  fake::reset();
  HandClock hand;
  const cove_clock slots = hand.slots();
  cove_open_options options{};
  options.struct_size = sizeof options;
  options.clock = &slots;
  cove_handle* raw = nullptr;
  REQUIRE(cove_open(kConfig, &options, &raw, nullptr) == COVE_OK);
  const CoveHandle cove(raw);
  const auto clock = fake::world().parts.lock()->clock;
  CHECK(clock->now() == Instant(1s));
  CHECK(clock->wall() == StoreTime(1'700'000'000'000ms));
  hand.now_ns = 500'000'000;
  CHECK(clock->now() == Instant(1s));  // it never goes back

  hand.now_ns = 5'000'000'000;
  cove_stop_options stop{};
  stop.struct_size = sizeof stop;
  stop.timeout_ms = 2000;
  REQUIRE(cove_stop(cove.get(), "app-1", &stop, nullptr) == COVE_OK);
  CHECK(fake::world().call.deadline == Instant(7s));
  cove_clock_moved(cove.get());
  CHECK(fake::world().clock_moves == 1);
}

TEST_CASE("cove_open_start: a clock of the host's is taken over, whatever comes of the open",
          "[capi][starts]") {
  fake::reset();
  HandClock hand;
  std::promise<cove_handle*> opened;
  const cove_opened_fn on_opened = [](void* user_data, cove_handle* cove, cove_error* error) {
    cove_error_free(error);
    static_cast<std::promise<cove_handle*>*>(user_data)->set_value(cove);
  };
  {
    const cove_clock slots = hand.slots();
    cove_open_options options = COVE_OPEN_OPTIONS_INIT;
    options.clock = &slots;
    REQUIRE(cove_open_start(kConfig, &options, on_opened, &opened, nullptr, nullptr) == COVE_OK);
  }
  {
    const CoveHandle cove(opened.get_future().get());
    REQUIRE(cove);
    CHECK(fake::world().parts.lock()->clock->now() == Instant(1s));
    CHECK(hand.destroyed == 0);
  }
  CHECK(hand.destroyed == 1);

  const cove_clock slots = hand.slots();
  cove_open_options options = COVE_OPEN_OPTIONS_INIT;
  options.clock = &slots;
  CHECK(cove_open_start("{", &options, on_opened, nullptr, nullptr, nullptr) ==
        COVE_INVALID_ARGUMENT);
  CHECK(hand.destroyed == 2);
  CHECK(cove_open_start(kConfig, &options, nullptr, nullptr, nullptr, nullptr) ==
        COVE_INVALID_ARGUMENT);
  CHECK(hand.destroyed == 3);
  options.reserved0 = 1;
  CHECK(cove_open_start(kConfig, &options, on_opened, nullptr, nullptr, nullptr) ==
        COVE_UNSUPPORTED);
  CHECK(hand.destroyed == 4);
}

TEST_CASE("cove_agent_write: the path goes to the library", "[capi]") {
  fake::reset();
  CHECK(cove_agent_write("/tmp/agent", nullptr) == COVE_OK);
  CHECK(fake::world().agent_path == "/tmp/agent");
  CHECK(cove_agent_write(nullptr, nullptr) == COVE_INVALID_ARGUMENT);

  std::promise<cove_status> written;
  const cove_done_fn on_written = [](void* user_data, cove_error* error) {
    const cove_status status = cove_error_code(error);
    cove_error_free(error);
    static_cast<std::promise<cove_status>*>(user_data)->set_value(status);
  };
  REQUIRE(cove_agent_write_start("/tmp/other", on_written, &written, nullptr, nullptr) == COVE_OK);
  CHECK(written.get_future().get() == COVE_OK);
  CHECK(fake::world().agent_path == "/tmp/other");
  CHECK(cove_agent_write_start(nullptr, on_written, nullptr, nullptr, nullptr) ==
        COVE_INVALID_ARGUMENT);
}
