// Background processes of a client, and what a handle asks of a running command.
#include <csignal>
#include <future>
#include <stdexcept>
#include <thread>

#include <catch2/catch.hpp>

#include "support/fakes/fake_link.hpp"

using namespace std::chrono_literals;
using namespace cove;
using cove::testing::bytes_of;
using cove::testing::FakeLink;
using cove::testing::text_of;

namespace {

struct Client {
  std::shared_ptr<FakeLink> link = std::make_shared<FakeLink>();
  SandboxClient client = client::make_client(link, "sessions/c1");
  testing::FakeGuestLog& log() { return link->fake->log; }
  testing::FakeCommand& command() { return link->fake->command; }
};

template <class T>
struct Reply {
  std::promise<Result<T>> promise;
  std::function<void(Result<T>)> callback() {
    return [this](Result<T> result) { promise.set_value(std::move(result)); };
  }
  Result<T> get() { return promise.get_future().get(); }
};

OutputChunk out(std::string_view text) { return {OutputStream::kOut, bytes_of(text)}; }

ErrorCode code_of(const Result<void>& result) {
  REQUIRE_FALSE(result);
  return result.error().code();
}

/// A command that prints "a", calls `running`, and goes on until it is ended.
ExecCallbacks running(Client& c, std::promise<void>& begun, Reply<ExecResult>& done) {
  c.command() = {.output = {out("a")}, .ends = false, .result = {}};
  return {.on_output =
              [&begun](OutputStream, ByteView) {
                begun.set_value();
                return Flow::kContinue;
              },
          .on_done = done.callback()};
}

}  // namespace

TEST_CASE("Processes: one starts in the session, is found, listed, read and forgotten",
          "[unit][client]") {
  Client c;
  c.command().output = {out("hello"), {OutputStream::kErr, bytes_of("!")}};
  c.command().result.outcome = Exited{3};
  const auto info = c.client.start_process({.argv = {"job"}}, {.name = "mine"});
  REQUIRE(info);
  CHECK(info->cwd == "sessions/c1");
  CHECK(info->name == "mine");
  const auto all = c.client.list_processes();
  REQUIRE(all);
  REQUIRE(all->size() == 1);
  CHECK(all->front().id == info->id);
  const auto found = c.client.find_process(info->id);
  REQUIRE(found);
  REQUIRE(found->end);
  CHECK(found->end->shell_code() == 3);
  const auto slice = c.client.process_output(info->id, {.offset = 1, .limit = 3});
  REQUIRE(slice);
  CHECK(text_of(slice->bytes) == "ell");
  CHECK(slice->next == 4);
  REQUIRE(c.client.remove_process(info->id));
  CHECK(c.client.find_process(info->id).error().code() == ErrorCode::kNotFound);
}

TEST_CASE("Processes: a start that may have happened is not repeated, a look is",
          "[unit][client]") {
  Client c;
  c.link->fake->faults.emplace_back(ErrorCode::kUnavailable, "the connection ended");
  CHECK(c.client.start_process({.argv = {"job"}}).error().code() == ErrorCode::kUnavailable);
  c.link->fake->faults.emplace_back(ErrorCode::kUnavailable, "the connection ended");
  CHECK(c.client.list_processes());
  CHECK(c.log().calls ==
        std::vector<std::string>{"start_process", "list_processes", "list_processes"});
}

TEST_CASE("Processes: input, signals and sizes reach one by its id", "[unit][client]") {
  Client c;
  c.command().ends = false;
  const ProcessId id = c.client.start_process({.argv = {"job"}})->id;
  REQUIRE(c.client.write_process_stdin(id, bytes_of("typed\n")));
  REQUIRE(c.client.close_process_stdin(id));
  REQUIRE(c.client.signal_process(id, SIGHUP));
  REQUIRE(c.client.resize_process(id, {.rows = 50, .columns = 132}));
  CHECK(c.log().stdin_text == "typed\n");
  CHECK(c.log().stdin_closed);
  CHECK(c.log().signals == std::vector<std::int32_t>{SIGHUP});
  REQUIRE(c.log().sizes.size() == 1);
  CHECK(c.log().sizes[0].columns == 132);
  CHECK(code_of(c.client.signal_process(ProcessId("ff"), SIGHUP)) == ErrorCode::kNotFound);
}

TEST_CASE("Processes: what is written to a closed stdin is refused, not lost", "[unit][client]") {
  Client c;
  c.command().ends = false;
  const ProcessId id = c.client.start_process({.argv = {"job"}})->id;
  c.link->fake->processes[0].stdin_open = false;
  CHECK(code_of(c.client.write_process_stdin(id, bytes_of("x"))) == ErrorCode::kFailedPrecondition);
  CHECK(c.log().stdin_text.empty());
}

TEST_CASE("Processes: end_process ends the tree and tells how it ended", "[unit][client]") {
  Client c;
  c.command().ends = false;
  const ProcessId id = c.client.start_process({.argv = {"job"}})->id;
  const auto ended = c.client.end_process(id);
  REQUIRE(ended);
  CHECK(c.log().process_cancelled);
  REQUIRE(ended->end);
  CHECK(std::holds_alternative<Cancelled>(ended->end->outcome));
}

TEST_CASE("Processes: follow gives all output on the calling thread, until the end",
          "[unit][client]") {
  Client c;
  c.command().output = {out("a"), {OutputStream::kErr, bytes_of("!")}, out("b")};
  const ProcessId id = c.client.start_process({.argv = {"job"}})->id;
  std::string seen;
  const auto thread = std::this_thread::get_id();
  const auto info = c.client.follow_process(id, {}, [&](OutputStream, ByteView bytes) {
    CHECK(std::this_thread::get_id() == thread);
    seen += text_of(bytes);
    return true;
  });
  REQUIRE(info);
  CHECK(info->end);
  CHECK(seen == "a!b");
}

TEST_CASE("Processes: follow ends where the callback has enough or throws; the process goes on",
          "[unit][client]") {
  Client c;
  c.command() = {.output = {out("a"), out("b")}, .ends = false, .result = {}};
  const ProcessId id = c.client.start_process({.argv = {"job"}})->id;
  const auto info = c.client.follow_process(id, {}, [](OutputStream, ByteView) { return false; });
  REQUIRE(info);
  CHECK_FALSE(info->end);
  const auto thrown = c.client.follow_process(
      id, {}, [](OutputStream, ByteView) -> bool { throw std::runtime_error("no disk"); });
  REQUIRE_FALSE(thrown);
  CHECK(thrown.error().message() == "the output callback threw: no disk");
  CHECK_FALSE(c.log().process_cancelled);
}

TEST_CASE("attach_async: detach, the call's stop and its deadline let go; cancel ends",
          "[unit][client][threads]") {
  enum class Way { kDetach, kStop, kDeadline, kCancel };
  const Way way = GENERATE(Way::kDetach, Way::kStop, Way::kDeadline, Way::kCancel);
  Client c;
  std::promise<void> begun;
  Reply<ExecResult> done;
  ExecCallbacks callbacks = running(c, begun, done);
  const ProcessId id = c.client.start_process({.argv = {"job"}})->id;
  std::stop_source stop;
  CallContext call{.stop = stop.get_token()};
  if (way == Way::kDeadline) call.deadline = c.link->system_clock.now() + 50ms;
  const ExecHandle handle = c.client.attach_async(id, {}, std::move(callbacks), call);
  begun.get_future().get();
  if (way == Way::kDetach) handle.detach();
  if (way == Way::kStop) stop.request_stop();
  if (way == Way::kCancel) handle.cancel();
  const auto result = done.get();
  if (way == Way::kCancel) {
    REQUIRE(result);
    CHECK(std::holds_alternative<Cancelled>(result->outcome));
    CHECK(c.log().process_cancelled);
    return;
  }
  REQUIRE_FALSE(result);
  CHECK(result.error().code() ==
        (way == Way::kDeadline ? ErrorCode::kTimeout : ErrorCode::kCancelled));
  CHECK_FALSE(c.log().process_cancelled);
}

TEST_CASE("attach_async: a cancel that comes before it is reached ends the process too",
          "[unit][client][threads]") {
  Client c;
  c.command().ends = false;
  const ProcessId id = c.client.start_process({.argv = {"job"}})->id;
  Reply<ExecResult> done;
  std::promise<void> blocked;
  std::promise<void> go_on;
  c.link->loop.post([&] {
    blocked.set_value();
    go_on.get_future().get();
  });
  blocked.get_future().get();
  const ExecHandle handle =
      c.client.attach_async(id, {}, {.on_output = {}, .on_done = done.callback()});
  handle.cancel();
  go_on.set_value();
  const auto result = done.get();
  REQUIRE(result);
  CHECK(std::holds_alternative<Cancelled>(result->outcome));
  CHECK(c.log().process_cancelled);
}

TEST_CASE("ExecHandle: writes, sizes and signals reach the running command in order",
          "[unit][client][threads]") {
  Client c;
  std::promise<void> begun;
  Reply<ExecResult> done;
  const ExecHandle handle =
      c.client.exec_async({.argv = {"cat"}}, running(c, begun, done), {}, StdinMode::kOpen);
  // Before it was started as well: they wait for that.
  REQUIRE(handle.write_stdin(bytes_of("one ")));
  REQUIRE(handle.write_stdin(bytes_of("two")));
  REQUIRE(handle.resize({.rows = 40, .columns = 100}));
  REQUIRE(handle.signal(SIGINT));
  REQUIRE(handle.close_stdin());
  CHECK(c.log().stdin_kept);
  CHECK(c.log().stdin_text == "one two");
  CHECK(c.log().stdin_closed);
  CHECK(c.log().sizes.size() == 1);
  CHECK(c.log().signals == std::vector<std::int32_t>{SIGINT});
  handle.cancel();
  REQUIRE(done.get());
}

TEST_CASE("ExecHandle: after the end nothing can be asked any more", "[unit][client][threads]") {
  Client c;
  Reply<ExecResult> done;
  Reply<void> written;
  const ExecHandle handle = c.client.exec_async(
      {.argv = {"true"}}, {.on_output = {}, .on_done = done.callback()}, {}, StdinMode::kOpen);
  REQUIRE(done.get());
  CHECK(code_of(handle.write_stdin(bytes_of("x"))) == ErrorCode::kFailedPrecondition);
  CHECK(code_of(handle.signal(SIGTERM)) == ErrorCode::kFailedPrecondition);
  handle.write_stdin_async(bytes_of("x"), {}, written.callback());
  CHECK(code_of(written.get()) == ErrorCode::kFailedPrecondition);
}

TEST_CASE("ExecHandle: a start that failed answers those who wait for it",
          "[unit][client][threads]") {
  Client c;
  c.link->fake->faults.emplace_back(ErrorCode::kNotFound, "there is no such program");
  Reply<ExecResult> done;
  const ExecHandle handle = c.client.exec_async(
      {.argv = {"nope"}}, {.on_output = {}, .on_done = done.callback()}, {}, StdinMode::kOpen);
  CHECK(code_of(handle.close_stdin()) == ErrorCode::kFailedPrecondition);
  CHECK(done.get().error().code() == ErrorCode::kNotFound);
}
