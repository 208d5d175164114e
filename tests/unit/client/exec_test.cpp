#include <future>
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
};

/// Waits for what a callback gives.
template <class T>
struct Reply {
  std::promise<Result<T>> promise;
  std::function<void(Result<T>)> callback() {
    return [this](Result<T> result) { promise.set_value(std::move(result)); };
  }
  Result<T> get() { return promise.get_future().get(); }
};

OutputChunk out(std::string_view text) { return {OutputStream::kOut, bytes_of(text)}; }

/// Runs `check` on the loop's thread: what the scheduler owns is looked at there.
template <class Check>
auto on_loop(FakeLink& link, Check check) {
  std::promise<decltype(check())> promise;
  link.loop.post([&] { promise.set_value(check()); });
  return promise.get_future().get();
}

}  // namespace

TEST_CASE("SandboxClient: exec runs in the session and gives the result", "[unit][client]") {
  Client c;
  c.link->fake->command.result.outcome = Exited{7};
  const auto result = c.client.exec({.argv = {"true"}});
  REQUIRE(result);
  CHECK(result->shell_code() == 7);
  CHECK(result->out.head == "sessions/c1:true");
}

TEST_CASE("SandboxClient: a command that may have started is never started again",
          "[unit][client]") {
  Client c;
  c.link->fake->faults.emplace_back(ErrorCode::kUnavailable, "the connection ended");
  const auto result = c.client.exec({.argv = {"true"}});
  REQUIRE_FALSE(result);
  CHECK(result.error().code() == ErrorCode::kUnavailable);
  CHECK(c.link->fake->log.calls == std::vector<std::string>{"run"});
  CHECK(c.link->errors_noted == std::vector{ErrorCode::kUnavailable});
}

TEST_CASE("SandboxClient: a blocking call on the I/O thread is refused, not deadlocked",
          "[unit][client][threads]") {
  Client c;
  const auto code =
      on_loop(*c.link, [&] { return c.client.exec({.argv = {"true"}}).error().code(); });
  CHECK(code == ErrorCode::kFailedPrecondition);
  const auto upload = on_loop(*c.link, [&] {
    return c.client.upload("f", [] { return Result<Bytes>(Bytes{}); }).error().code();
  });
  CHECK(upload == ErrorCode::kFailedPrecondition);
  const auto download = on_loop(*c.link, [&] {
    return c.client.download("f", [](ByteView) { return ok(); }).error().code();
  });
  CHECK(download == ErrorCode::kFailedPrecondition);
}

TEST_CASE("SandboxClient: cancelling a blocking exec gives the result with Cancelled",
          "[unit][client][threads]") {
  Client c;
  c.link->fake->run_hangs = true;
  std::stop_source stop;
  c.link->fake->when_hanging = [&] { stop.request_stop(); };
  const auto result = c.client.exec({.argv = {"sleep"}}, {.stop = stop.get_token()});
  REQUIRE(result);
  CHECK(std::holds_alternative<Cancelled>(result->outcome));
}

TEST_CASE("exec_async: without an output callback only the result comes, once, on the I/O thread",
          "[unit][client][threads]") {
  Client c;
  std::promise<bool> on_thread;
  c.client.exec_async({.argv = {"true"}},
                      {.on_output = {}, .on_done = [&](Result<ExecResult> r) {
                         on_thread.set_value(r.has_value() && c.link->loop.on_thread());
                       }});
  CHECK(on_thread.get_future().get());
  CHECK(c.link->fake->log.calls == std::vector<std::string>{"run"});
}

TEST_CASE("exec_async: output comes in order and the result last", "[unit][client][threads]") {
  Client c;
  c.link->fake->command.output = {out("a"), {OutputStream::kErr, bytes_of("!")}, out("b")};
  std::string seen;
  Reply<ExecResult> done;
  c.client.exec_async({.argv = {"x"}}, {.on_output =
                                            [&](OutputStream stream, ByteView bytes) {
                                              seen += stream == OutputStream::kErr ? "2" : "1";
                                              seen += text_of(bytes);
                                              return Flow::kContinue;
                                            },
                                        .on_done = done.callback()});
  REQUIRE(done.get());
  CHECK(seen == "1a2!1b");
}

TEST_CASE("exec_async: after a pause nothing is asked of the command until resume [pain-64]",
          "[unit][client][threads]") {
  Client c;
  c.link->fake->command.output = {out("a"), out("b"), out("c")};
  std::string seen;
  std::promise<void> paused;
  Reply<ExecResult> done;
  const auto handle = c.client.exec_async({.argv = {"x"}}, {.on_output =
                                                                [&](OutputStream, ByteView bytes) {
                                                                  seen += text_of(bytes);
                                                                  if (seen != "a") {
                                                                    return Flow::kContinue;
                                                                  }
                                                                  paused.set_value();
                                                                  return Flow::kPause;
                                                                },
                                                            .on_done = done.callback()});
  paused.get_future().get();
  // A turn of the loop later it would have asked, if it were to ask at all.
  on_loop(*c.link, [] { return true; });
  CHECK(on_loop(*c.link, [&] { return c.link->fake->log.outputs_asked; }) == 1);
  handle.resume();
  REQUIRE(done.get());
  CHECK(seen == "abc");
}

TEST_CASE("exec_async: a resume that comes before the callback answered kPause counts",
          "[unit][client][threads]") {
  Client c;
  c.link->fake->command.output = {out("a"), out("b")};
  std::promise<ExecHandle> handle;
  std::string seen;
  Reply<ExecResult> done;
  auto known = handle.get_future().share();
  handle.set_value(c.client.exec_async({.argv = {"x"}}, {.on_output =
                                                             [&](OutputStream, ByteView bytes) {
                                                               seen += text_of(bytes);
                                                               known.get().resume();
                                                               return Flow::kPause;
                                                             },
                                                         .on_done = done.callback()}));
  REQUIRE(done.get());
  CHECK(seen == "ab");
}

TEST_CASE("exec_async: cancel ends the tree and gives Cancelled, also while paused",
          "[unit][client][threads]") {
  const bool pause = GENERATE(false, true);
  Client c;
  c.link->fake->command = {.output = {out("a")}, .ends = false, .result = {}};
  std::promise<void> output;
  Reply<ExecResult> done;
  const auto handle =
      c.client.exec_async({.argv = {"x"}}, {.on_output =
                                                [&](OutputStream, ByteView) {
                                                  output.set_value();
                                                  return pause ? Flow::kPause : Flow::kContinue;
                                                },
                                            .on_done = done.callback()});
  output.get_future().get();
  handle.cancel();
  const auto result = done.get();
  REQUIRE(result);
  CHECK(std::holds_alternative<Cancelled>(result->outcome));
  CHECK(c.link->fake->log.process_cancelled);
}

TEST_CASE("exec_async: the caller's own stop cancels like the handle", "[unit][client][threads]") {
  Client c;
  c.link->fake->command = {.output = {out("a")}, .ends = false, .result = {}};
  std::stop_source stop;
  Reply<ExecResult> done;
  c.client.exec_async({.argv = {"x"}},
                      {.on_output =
                           [&](OutputStream, ByteView) {
                             stop.request_stop();
                             return Flow::kContinue;
                           },
                       .on_done = done.callback()},
                      {.stop = stop.get_token()});
  const auto result = done.get();
  REQUIRE(result);
  CHECK(std::holds_alternative<Cancelled>(result->outcome));
}

TEST_CASE("exec_async: the call's deadline ends the tree and gives TimedOut [pain-38]",
          "[unit][client][threads]") {
  Client c;
  c.link->fake->command = {.output = {}, .ends = false, .result = {}};
  Reply<ExecResult> done;
  c.client.exec_async({.argv = {"x"}},
                      {.on_output = [](OutputStream, ByteView) { return Flow::kContinue; },
                       .on_done = done.callback()},
                      {.deadline = c.link->system_clock.now() + 20ms});
  const auto result = done.get();
  REQUIRE(result);
  CHECK(std::holds_alternative<TimedOut>(result->outcome));
  CHECK(c.link->fake->log.process_cancelled);
}

TEST_CASE("exec_async: an output callback that throws ends the command and is reported",
          "[unit][client][threads]") {
  Client c;
  c.link->fake->command = {.output = {out("a"), out("b")}, .ends = false, .result = {}};
  Reply<ExecResult> done;
  c.client.exec_async({.argv = {"x"}}, {.on_output = [](OutputStream, ByteView) -> Flow {
                                          throw std::runtime_error("no disk");
                                        },
                                        .on_done = done.callback()});
  const auto result = done.get();
  REQUIRE_FALSE(result);
  CHECK(result.error().code() == ErrorCode::kInternal);
  CHECK(result.error().message() == "the output callback threw: no disk");
  CHECK(on_loop(*c.link, [&] { return c.link->fake->log.process_cancelled; }));
}

TEST_CASE("exec_async: a completion callback that throws is told to the log and harms nothing",
          "[unit][client][threads]") {
  Client c;
  c.client.exec_async({.argv = {"x"}}, {.on_output = {}, .on_done = [](Result<ExecResult>) {
                                          throw std::runtime_error("oops");
                                        }});
  CHECK(c.client.exec({.argv = {"y"}}));
  CHECK(on_loop(*c.link, [&] { return c.link->complaints; }) ==
        std::vector<std::string>{"a completion callback threw: oops"});
}

TEST_CASE("exec_async: two hundred at once all end", "[unit][client][threads]") {
  Client c;
  c.link->fake->command.output = {out("a")};
  std::promise<void> all;
  std::atomic<int> left{200};
  for (int i = 0; i < 200; ++i) {
    c.client.exec_async({.argv = {"x"}},
                        {.on_output = [](OutputStream, ByteView) { return Flow::kContinue; },
                         .on_done =
                             [&](Result<ExecResult>) {
                               if (--left == 0) all.set_value();
                             }});
  }
  all.get_future().get();
  c.link->admission->wait_idle();
  CHECK(left == 0);
}
