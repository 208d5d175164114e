#include "cli/machine/stdin_feed.hpp"

#include <condition_variable>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <unistd.h>

using cove::ByteView;
using cove::CallContext;
using cove::Error;
using cove::ErrorCode;
using cove::base::UniqueFd;
using cove::cli::InputSink;
using cove::cli::StdinFeed;

namespace {

struct Pipe {
  Pipe() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    read_end.reset(ends[0]);
    write_end.reset(ends[1]);
  }
  void put(const std::string& text) const {
    REQUIRE(::write(*write_end, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  UniqueFd read_end;
  UniqueFd write_end;
};

/// What a command got; a test waits for it.
class Got {
 public:
  InputSink sink() {
    InputSink sink;
    sink.write = [this](ByteView bytes, const CallContext&) -> cove::Result<void> {
      note(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
      if (refuses) return Error(ErrorCode::kFailedPrecondition, "the command is over");
      return cove::ok();
    };
    sink.close = [this](const CallContext&) { note("<end>"); };
    sink.resized = [this](const CallContext&) { note("<size>"); };
    sink.failed = [this] { note("<failed>"); };
    return sink;
  }
  InputSink sink_with_detach() {
    InputSink with = sink();
    with.detach = [this] { note("<detach>"); };
    return with;
  }

  /// All of it, once it ends with `last`.
  std::string until(const std::string& last) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return text_.ends_with(last); });
    return text_;
  }

  bool refuses = false;

 private:
  void note(const std::string& text) {
    const std::lock_guard lock(mutex_);
    text_ += text;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
};

}  // namespace

TEST_CASE("Stdin feed: what comes is passed on at once, then the end", "[unit][cli][threads]") {
  Pipe input;
  Got got;
  const StdinFeed feed(*input.read_end, -1, got.sink());
  input.put("one\n");
  CHECK(got.until("one\n") == "one\n");
  input.put("two");
  CHECK(got.until("two") == "one\ntwo");
  input.write_end.reset();
  CHECK(got.until("<end>") == "one\ntwo<end>");
  CHECK_FALSE(feed.fault());
}

TEST_CASE("Stdin feed: a closed stdin and /dev/null are at their end", "[unit][cli][threads]") {
  Got got;
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int closed = 1'000'000;  // above any limit, so it is nobody's
  const int input = GENERATE(true, false) ? *null : closed;
  const StdinFeed feed(input, -1, got.sink());
  CHECK(got.until("<end>") == "<end>");
}

TEST_CASE("Stdin feed: it ends at once though nothing comes", "[unit][cli][threads]") {
  const Pipe input;
  Got got;
  {
    const StdinFeed feed(*input.read_end, -1, got.sink());
  }
  SUCCEED("it did not wait for stdin");
}

TEST_CASE("Stdin feed: what cannot be read is a fault", "[unit][cli][threads]") {
  const UniqueFd directory(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  Got got;
  const StdinFeed feed(*directory, -1, got.sink());
  got.until("<failed>");
  REQUIRE(feed.fault());
  CHECK(feed.fault()->message().find("read stdin") != std::string::npos);
}

TEST_CASE("Stdin feed: a command that is over takes no more of stdin", "[unit][cli][threads]") {
  const Pipe input;
  Got got;
  got.refuses = true;
  const Pipe resized;
  const StdinFeed feed(*input.read_end, *resized.read_end, got.sink());
  input.put("first");
  got.until("first");
  input.put("second");
  // The same thread tells of both: had it read on, the size would come after that.
  resized.put("x");
  CHECK(got.until("<size>") == "first<size>");
}

TEST_CASE("Stdin feed: Ctrl-P Ctrl-Q lets go, also in two pieces, and a lone Ctrl-P is input",
          "[unit][cli][threads]") {
  Pipe input;
  Got got;
  const StdinFeed feed(*input.read_end, -1, got.sink_with_detach());
  input.put("a\x10");
  got.until("a");
  input.put("b\x10\x10");
  CHECK(got.until("\x10") ==
        "a\x10"
        "b\x10");
  input.put("\x11 after");
  CHECK(got.until("<detach>") ==
        "a\x10"
        "b\x10<detach>");
}
