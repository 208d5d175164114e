#include <future>

#include <catch2/catch.hpp>

#include "support/fakes/fake_link.hpp"

using namespace cove;
using cove::testing::bytes_of;
using cove::testing::FakeLink;
using cove::testing::text_of;

namespace {

struct Client {
  std::shared_ptr<FakeLink> link = std::make_shared<FakeLink>();
  SandboxClient client = client::make_client(link, "sessions/c1");
};

Error unavailable() { return Error(ErrorCode::kUnavailable, "the connection ended"); }

}  // namespace

TEST_CASE("SandboxClient: a file that was written is read back from the session",
          "[unit][client]") {
  Client c;
  const std::string big(1'000'000, 'x');
  REQUIRE(c.client.write_file("a.txt", bytes_of(big)));
  CHECK(c.link->fake->files.count("sessions/c1/a.txt") == 1);
  CHECK(text_of(c.client.read_file("a.txt").value()) == big);
  const ReadRange range{.offset = 999'990, .length = 100};
  CHECK(c.client.read_file("a.txt", range).value().size() == 10);
}

TEST_CASE("SandboxClient: read_file refuses more than 64 MiB and gives exactly that much [pain-64]",
          "[unit][client]") {
  Client c;
  const std::size_t most = 64ULL << 20;
  c.link->fake->files["sessions/c1/big"] = std::string(most + 1, 'x');
  const auto refused = c.client.read_file("big");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kTooLarge);
  CHECK(c.client.read_file("big", {.offset = 1, .length = {}}).value().size() == most);
}

TEST_CASE("SandboxClient: reading is asked again once over a broken connection", "[unit][client]") {
  Client c;
  c.link->fake->files["sessions/c1/a"] = "text";
  c.link->fake->faults = {unavailable()};
  CHECK(c.client.stat("a").value().size == 4);
  c.link->fake->faults = {unavailable()};
  CHECK(text_of(c.client.read_file("a").value()) == "text");
  c.link->fake->faults = {unavailable()};
  CHECK(c.client.list("").value().entries.size() == 1);
  c.link->fake->faults = {unavailable(), unavailable()};
  CHECK(c.client.stat("a").error().code() == ErrorCode::kUnavailable);
  CHECK(c.link->fake->faults.empty());
}

TEST_CASE("SandboxClient: a change is asked once only", "[unit][client]") {
  Client c;
  c.link->fake->faults = {unavailable()};
  CHECK(c.client.write_file("a", bytes_of("x")).error().code() == ErrorCode::kUnavailable);
  c.link->fake->faults = {unavailable()};
  CHECK(c.client.remove("a").error().code() == ErrorCode::kUnavailable);
  CHECK(c.link->fake->log.calls == std::vector<std::string>{"write_file", "remove"});
}

TEST_CASE("SandboxClient: download gives every piece on the calling thread", "[unit][client]") {
  Client c;
  c.link->fake->files["sessions/c1/big"] = std::string(300'000, 'y');
  std::size_t got = 0;
  bool here = true;
  const auto caller = std::this_thread::get_id();
  const auto sink = [&](ByteView piece) {
    got += piece.size();
    here = here && std::this_thread::get_id() == caller;
    return ok();
  };
  REQUIRE(c.client.download("big", sink));
  CHECK(got == 300'000);
  CHECK(here);
}

TEST_CASE("SandboxClient: an error or exception of the sink ends the download and is returned",
          "[unit][client]") {
  Client c;
  c.link->fake->files["sessions/c1/big"] = std::string(300'000, 'y');
  int calls = 0;
  const auto refuse = [&](ByteView) -> Result<void> {
    ++calls;
    return Error(ErrorCode::kQuotaExceeded, "the host's disk is full");
  };
  CHECK(c.client.download("big", refuse).error().code() == ErrorCode::kQuotaExceeded);
  CHECK(calls == 1);
  const auto thrower = [](ByteView) -> Result<void> { throw std::runtime_error("x"); };
  CHECK(c.client.download("big", thrower).error().code() == ErrorCode::kInternal);
  CHECK(c.client.download("none", refuse).error().code() == ErrorCode::kNotFound);
}

TEST_CASE("SandboxClient: upload asks the source on the calling thread until it is empty",
          "[unit][client]") {
  Client c;
  int pieces = 0;
  bool here = true;
  const auto caller = std::this_thread::get_id();
  const auto source = [&]() -> Result<Bytes> {
    here = here && std::this_thread::get_id() == caller;
    return ++pieces > 100 ? Bytes{} : bytes_of(std::string(10'000, 'z'));
  };
  CHECK(c.client.upload("up", source).value().size == 1'000'000);
  CHECK(here);
  CHECK(pieces == 101);
}

TEST_CASE("SandboxClient: an error or exception of the source leaves the old file",
          "[unit][client]") {
  Client c;
  c.link->fake->files["sessions/c1/up"] = "old";
  int calls = 0;
  const auto broken = [&]() -> Result<Bytes> {
    if (++calls < 3) return bytes_of("new");
    return Error(ErrorCode::kProvider, "the source broke");
  };
  CHECK(c.client.upload("up", broken).error().message() == "the source broke");
  const auto thrower = []() -> Result<Bytes> { throw std::runtime_error("x"); };
  CHECK(c.client.upload("up", thrower).error().code() == ErrorCode::kInternal);
  CHECK(c.link->fake->files["sessions/c1/up"] == "old");
}

TEST_CASE("SandboxClient: the forms with callbacks do the same", "[unit][client][threads]") {
  Client c;
  std::promise<std::string> read;
  c.client.write_file_async("a", bytes_of("text"), {}, {}, [&](Result<FileInfo> written) {
    REQUIRE(written);
    c.client.read_file_async("a", {}, {},
                             [&](Result<Bytes> bytes) { read.set_value(text_of(bytes.value())); });
  });
  CHECK(read.get_future().get() == "text");

  std::promise<std::vector<ErrorCode>> codes;
  c.client.remove_async("a", false, {}, [&](Result<void> removed) {
    REQUIRE(removed);
    c.client.stat_async("a", {},
                        [&](Result<FileInfo> gone) { codes.set_value({gone.error().code()}); });
  });
  CHECK(codes.get_future().get() == std::vector{ErrorCode::kNotFound});

  std::promise<std::size_t> entries;
  c.client.make_directory_async("d", {}, [&](Result<void> made) {
    REQUIRE(made);
    c.client.list_async(
        "", {}, {}, [&](Result<FilePage> page) { entries.set_value(page.value().entries.size()); });
  });
  CHECK(entries.get_future().get() == 1);
  c.link->admission->wait_idle();
}

TEST_CASE("SandboxClient: after close every form is refused, callbacks included",
          "[unit][client][threads]") {
  Client c;
  c.link->admission->close();
  CHECK(c.client.stat("a").error().code() == ErrorCode::kFailedPrecondition);
  std::promise<ErrorCode> code;
  c.client.stat_async("a", {}, [&](Result<FileInfo> r) { code.set_value(r.error().code()); });
  CHECK(code.get_future().get() == ErrorCode::kFailedPrecondition);
}
