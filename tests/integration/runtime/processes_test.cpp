// Background processes and running commands, steered through a client on a real agent.
#include <condition_variable>
#include <csignal>
#include <future>
#include <mutex>
#include <thread>

#include <catch2/catch.hpp>

#include "support/fakes/fake_guest.hpp"
#include "support/fixtures/live_cove.hpp"

using namespace std::chrono_literals;
using namespace cove;
using namespace cove::testing;

namespace {

const WorkspaceKey kAna{"app", "demo", "ana"};

ExecSpec line(const std::string& text) {
  ExecSpec spec;
  spec.shell_line = text;
  spec.kill_grace = 200ms;
  return spec;
}

/// What a command writes, and its end; a test waits for both.
class Heard {
 public:
  ExecCallbacks callbacks() {
    return {.on_output =
                [this](OutputStream, ByteView bytes) {
                  const std::lock_guard lock(mutex_);
                  text_ += text_of(bytes);
                  changed_.notify_all();
                  return Flow::kContinue;
                },
            .on_done = [this](Result<ExecResult> result) { done_.set_value(std::move(result)); }};
  }

  /// All that came, once it holds `what`.
  std::string until(const std::string& what) {
    std::unique_lock lock(mutex_);
    REQUIRE(changed_.wait_for(lock, 60s, [&] { return text_.find(what) != std::string::npos; }));
    return text_;
  }

  Result<ExecResult> end() { return done_.get_future().get(); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
  std::promise<Result<ExecResult>> done_;
};

}  // namespace

TEST_CASE(
    "Client: a background process outlives its host; the next one finds and ends it [pain-46]",
    "[integration][runtime][pain-46]") {
  LiveCove live;
  ProcessId id;
  {
    auto cove = live.open();
    const auto client = cove.acquire(kAna, {.chat_id = "c1"}).value().client();
    ExecSpec spec = line("echo one; read x; echo got $x; exec sleep 1005");
    id = client.start_process(spec, {.name = "job"}).value().id;
    REQUIRE(cove.close());
  }
  auto cove = live.open();
  const auto client = cove.acquire(kAna, {.chat_id = "c2"}).value().client();
  const auto all = client.list_processes().value();
  REQUIRE(all.size() == 1);
  CHECK(all[0].id == id);
  CHECK(all[0].name == "job");
  CHECK(all[0].cwd == "/workspace/sessions/c1");
  REQUIRE(client.write_process_stdin(id, bytes_of("word\n")));
  std::string seen;
  const auto info = client.follow_process(id, {}, [&](OutputStream, ByteView bytes) {
    seen += text_of(bytes);
    return seen.find("word\n") == std::string::npos;
  });
  REQUIRE(info);
  CHECK(seen == "one\ngot word\n");
  CHECK_FALSE(info->end);
  const auto ended = client.end_process(id).value();
  REQUIRE(ended.end);
  CHECK(std::holds_alternative<Cancelled>(ended.end->outcome));
  CHECK(ended.end->out.total_bytes == 13);
  CHECK(client.signal_process(id, SIGTERM).error().code() == ErrorCode::kFailedPrecondition);
  CHECK(client.write_process_stdin(id, bytes_of("x")).error().code() ==
        ErrorCode::kFailedPrecondition);
  REQUIRE(client.remove_process(id));
  CHECK(client.find_process(id).error().code() == ErrorCode::kNotFound);
}

TEST_CASE("Client: all that was written before a close of stdin by its id arrives",
          "[integration][runtime]") {
  LiveCove live;
  auto cove = live.open();
  const auto client = cove.acquire(kAna).value().client();
  const ProcessId id = client.start_process(line("wc -c")).value().id;
  const Bytes piece(100'000, std::byte{'x'});
  for (int i = 0; i < 10; ++i) REQUIRE(client.write_process_stdin(id, piece));
  REQUIRE(client.close_process_stdin(id));
  const auto info = client.wait_process(id).value();
  REQUIRE(info.end);
  CHECK(info.end->succeeded());
  CHECK(text_of(client.process_output(id).value().bytes) == "1000000\n");
}

TEST_CASE("Client: waiting for a process ends with its deadline, and the process goes on",
          "[integration][runtime]") {
  LiveCove live;
  auto cove = live.open();
  const auto client = cove.acquire(kAna).value().client();
  const ProcessId id = client.start_process(line("exec sleep 1006")).value().id;
  std::stop_source stop;
  std::thread later([&] { stop.request_stop(); });
  CHECK(client.wait_process(id, {.stop = stop.get_token()}).error().code() ==
        ErrorCode::kCancelled);
  later.join();
  CHECK_FALSE(client.find_process(id).value().end);
  REQUIRE(client.signal_process(id, SIGKILL));
  const auto info = client.wait_process(id).value();
  CHECK(std::get<Signaled>(info.end->outcome).signal == SIGKILL);
}

TEST_CASE("attach_async: typed lines are answered, detach lets go, cancel ends",
          "[integration][runtime][threads]") {
  LiveCove live;
  auto cove = live.open();
  const auto client = cove.acquire(kAna).value().client();
  const auto id =
      client.start_process(line("while read x; do echo got $x; done; exit 4")).value().id;
  Heard first;
  const auto held = client.attach_async(id, {}, first.callbacks());
  REQUIRE(held.write_stdin(bytes_of("one\n")));
  CHECK(first.until("one\n") == "got one\n");
  held.detach();
  CHECK(first.end().error().code() == ErrorCode::kCancelled);
  Heard second;
  const auto again = client.attach_async(id, {.out_offset = 4}, second.callbacks());
  REQUIRE(again.write_stdin(bytes_of("two\n")));
  CHECK(second.until("two\n") == "one\ngot two\n");
  SECTION("its own end") {
    REQUIRE(again.close_stdin());
    CHECK(second.end().value().shell_code() == 4);
  }
  SECTION("cancel") {
    again.cancel();
    CHECK(std::holds_alternative<Cancelled>(second.end().value().outcome));
    CHECK(client.find_process(id).value().end);
  }
}

TEST_CASE(
    "attach_async: one that is silent keeps its sandbox and its connection [pain-22][pain-57]",
    "[integration][runtime][threads][pain-22][pain-57]") {
  LiveCove live;
  auto config = live.config();
  config.lifecycle.stop_after = 0ms;
  config.lifecycle.activity_idle = 50ms;
  config.lifecycle.activity_lease = 150ms;
  auto cove = live.open(config);
  const auto client = cove.acquire(kAna).value().client();
  const auto id = client.start_process(line("read x; echo got $x")).value().id;
  Heard heard;
  const auto held = client.attach_async(id, {}, heard.callbacks());
  const auto many_leases_later = std::chrono::steady_clock::now() + 10 * 150ms;
  std::uint32_t stopped = 0;
  while (std::chrono::steady_clock::now() < many_leases_later) {
    stopped += cove.sweep().value().stopped;
  }
  CHECK(stopped == 0);
  REQUIRE(held.write_stdin(bytes_of("one\n")));
  CHECK(heard.until("one\n") == "got one\n");
  CHECK(heard.end().value().succeeded());
}

TEST_CASE("exec_async: stdin is a stream: each line is answered before the next is written",
          "[integration][runtime][threads]") {
  LiveCove live;
  auto cove = live.open();
  const auto client = cove.acquire(kAna).value().client();
  ExecSpec spec = line("while read x; do echo got $x; done; echo end");
  spec.stdin_data = "zero\n";
  Heard heard;
  const auto handle = client.exec_async(spec, heard.callbacks(), {}, StdinMode::kOpen);
  heard.until("got zero\n");
  REQUIRE(handle.write_stdin(bytes_of("one\n")));
  heard.until("got one\n");
  REQUIRE(handle.close_stdin());
  CHECK(heard.end().value().succeeded());
  CHECK(heard.until("end") == "got zero\ngot one\nend\n");
}

TEST_CASE("exec_async: a command that does not read holds a writer up until it ends",
          "[integration][runtime][threads]") {
  LiveCove live;
  auto cove = live.open();
  const auto client = cove.acquire(kAna).value().client();
  Heard heard;
  const auto handle =
      client.exec_async(line("echo up; exec sleep 1007"), heard.callbacks(), {}, StdinMode::kOpen);
  heard.until("up\n");
  std::promise<Result<void>> written;
  handle.write_stdin_async(Bytes(4U << 20U), {},
                           [&](Result<void> result) { written.set_value(std::move(result)); });
  auto answer = written.get_future();
  CHECK(answer.wait_for(200ms) == std::future_status::timeout);
  CHECK(shell(client, "echo others go on") == "others go on");
  handle.cancel();
  CHECK(std::holds_alternative<Cancelled>(heard.end().value().outcome));
  CHECK(answer.wait_for(60s) == std::future_status::ready);
}

TEST_CASE("exec_async: a terminal is resized, and Ctrl-C interrupts", "[integration][runtime]") {
  LiveCove live;
  auto cove = live.open();
  const auto client = cove.acquire(kAna).value().client();
  // Its own trap: a shell whose child ended well just then passes by a Ctrl-C.
  ExecSpec spec =
      line("trap 'stty size' WINCH; trap 'exit 130' INT; stty size; while :; do sleep 0.05; done");
  spec.terminal = TerminalSize{.rows = 31, .columns = 97};
  Heard heard;
  const auto handle = client.exec_async(spec, heard.callbacks(), {}, StdinMode::kOpen);
  heard.until("31 97\r\n");
  REQUIRE(handle.resize({.rows = 40, .columns = 120}));
  heard.until("40 120\r\n");
  REQUIRE(handle.write_stdin(bytes_of("\x03")));
  CHECK(heard.end().value().shell_code() == 130);
}

TEST_CASE("exec_async: sixty commands at once, each under limits, all do their work [pain-84]",
          "[integration][runtime][threads][pain-84]") {
  LiveCove live;
  auto cove = live.open();
  const auto client = cove.acquire(kAna).value().client();
  constexpr int kCommands = 60;
  std::vector<std::promise<Result<ExecResult>>> ends(kCommands);
  for (int i = 0; i < kCommands; ++i) {
    ExecSpec spec = line("head -c 100000 /dev/zero | wc -c; echo " + std::to_string(i));
    spec.limits = {.memory_bytes = 256ULL << 20U, .cpu_seconds = 60};
    auto& end = ends[static_cast<std::size_t>(i)];
    client.exec_async(spec, {.on_output = {}, .on_done = [&end](Result<ExecResult> result) {
                               end.set_value(std::move(result));
                             }});
  }
  for (int i = 0; i < kCommands; ++i) {
    INFO(i);
    const auto result = ends[static_cast<std::size_t>(i)].get_future().get();
    REQUIRE(result);
    CHECK(result->succeeded());
    CHECK(result->out.head == "100000\n" + std::to_string(i) + "\n");
  }
}
