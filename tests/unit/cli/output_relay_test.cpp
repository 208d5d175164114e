#include "cli/output/output_relay.hpp"

#include <atomic>
#include <csignal>
#include <thread>

#include <fcntl.h>

#include "unit/cli/captured_output.hpp"

using cove::Error;
using cove::ErrorCode;
using cove::ExecResult;
using cove::Exited;
using cove::Flow;
using cove::OutputStream;
using cove::cli::OutputRelay;
using cove::cli::testing::CapturedOutput;

namespace {

cove::ByteView bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

ExecResult exited(int code) {
  ExecResult result;
  result.outcome = Exited{code};
  return result;
}

}  // namespace

TEST_CASE("Output relay: passes both streams on, then the end", "[unit][cli]") {
  const CapturedOutput captured;
  const auto relay = std::make_shared<OutputRelay>();
  const auto callbacks = OutputRelay::feed(relay);
  CHECK(callbacks.on_output(OutputStream::kOut, bytes_of("one ")) == Flow::kContinue);
  CHECK(callbacks.on_output(OutputStream::kErr, bytes_of("bad")) == Flow::kContinue);
  CHECK(callbacks.on_output(OutputStream::kOut, bytes_of("two")) == Flow::kContinue);
  callbacks.on_done(exited(7));
  const auto result = relay->pump(captured.output(), {[] {}, [] {}});
  CHECK(result.value().shell_code() == 7);
  CHECK(captured.out() == "one two");
  CHECK(captured.err() == "bad");
}

TEST_CASE("Output relay: past a bound it pauses the command until its output is written",
          "[unit][cli][threads]") {
  const CapturedOutput captured;
  const auto relay = std::make_shared<OutputRelay>();
  const auto callbacks = OutputRelay::feed(relay);
  std::atomic<int> resumed{0};
  std::thread io([&] {
    const std::string piece(64 * 1024, 'x');
    int seen = 0;
    for (int i = 0; i < 200; ++i) {
      if (callbacks.on_output(OutputStream::kOut, bytes_of(piece)) == Flow::kContinue) continue;
      resumed.wait(seen);  // as the command would
      ++seen;
    }
    callbacks.on_done(exited(0));
  });
  const auto resume = [&] {
    ++resumed;
    resumed.notify_all();
  };
  CHECK(relay->pump(captured.output(), {resume, [] {}}));
  io.join();
  CHECK(captured.out().size() == 200 * 64 * 1024);
}

TEST_CASE("Output relay: where nobody reads any more the command is cancelled, once",
          "[unit][cli]") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  cove::base::UniqueFd read_end(ends[0]);
  const cove::base::UniqueFd write_end(ends[1]);
  const cove::cli::Output output(*write_end, *write_end);
  const auto relay = std::make_shared<OutputRelay>();
  const auto callbacks = OutputRelay::feed(relay);
  auto* const old = std::signal(SIGPIPE, SIG_IGN);
  read_end.reset();
  int cancelled = 0;
  callbacks.on_output(OutputStream::kOut, bytes_of("x"));
  callbacks.on_output(OutputStream::kOut, bytes_of("y"));
  const auto cancel = [&] {
    ++cancelled;
    callbacks.on_output(OutputStream::kOut, bytes_of("last words"));
    callbacks.on_done(exited(0));
  };
  const auto result = relay->pump(output, {[] {}, cancel});
  std::signal(SIGPIPE, old);
  CHECK(cancelled == 1);
  REQUIRE_FALSE(result);
  CHECK(result.error().message() == "write to stdout: Broken pipe");
  CHECK(output.reader_gone());
}

TEST_CASE("Output relay: an error of the command comes back", "[unit][cli]") {
  const CapturedOutput captured;
  const auto relay = std::make_shared<OutputRelay>();
  OutputRelay::feed(relay).on_done(Error(ErrorCode::kNotFound, "no such program"));
  const auto result = relay->pump(captured.output(), {[] {}, [] {}});
  REQUIRE_FALSE(result);
  CHECK(result.error().code() == ErrorCode::kNotFound);
}
