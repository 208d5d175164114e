#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.hpp"
#include "support/fakes/byte_sources.hpp"
#include "support/fixtures/agent_fixture.hpp"

using namespace std::chrono_literals;
using namespace cove;
using test::AgentFixture;
using test::TextSource;

namespace {

/// `bytes` bytes that repeat late, made as they are asked for.
class CountingSource final : public ByteSource {
 public:
  explicit CountingSource(std::uint64_t bytes) : left_(bytes) {}

  Task<Result<Bytes>> next(const CallContext&) override {
    Bytes piece(static_cast<std::size_t>(std::min<std::uint64_t>(left_, 200'000)));
    for (auto& byte : piece) byte = std::byte(value_++ * 2654435761U >> 24);
    left_ -= piece.size();
    hash_.update(piece);
    co_return piece;
  }

  std::string hash() { return hash_.hex(); }

 private:
  std::uint64_t left_;
  std::uint32_t value_ = 0;
  base::Sha256 hash_;
};

class FailingSource final : public ByteSource {
 public:
  Task<Result<Bytes>> next(const CallContext&) override {
    if (++calls_ > 3) co_return Error(ErrorCode::kInternal, "the source broke");
    co_return Bytes(100'000);
  }

 private:
  int calls_ = 0;
};

struct Read {
  std::string hash;
  std::uint64_t bytes = 0;
};

Task<Result<Read>> read_all(std::shared_ptr<Guest> guest, std::string path, ReadRange range) {
  const CallContext call;
  const GuestPath from{"", std::move(path)};
  COVE_CO_TRY(const auto file, co_await guest->read_file(from, range, call));
  base::Sha256 hash;
  Read read;
  for (;;) {
    COVE_CO_TRY(const Bytes bytes, co_await file.content->next(call));
    if (bytes.empty()) break;
    hash.update(bytes);
    read.bytes += bytes.size();
  }
  read.hash = hash.hex();
  co_return read;
}

Result<FileInfo> write(AgentFixture& f, const std::string& path, ByteSource& source,
                       const WriteOptions& options = {}) {
  const GuestPath to{"", path};
  return f.wait(f.guest->write_file(to, source, options, {}));
}

}  // namespace

TEST_CASE("Guest: a file of 64 MB goes in and comes back, byte for byte [pain-63]",
          "[integration][guest][pain-63][pain-64]") {
  AgentFixture f;
  CountingSource source(64'000'001);
  const auto info = write(f, "dir/large", source);
  REQUIRE(info);
  CHECK(info->size == 64'000'001);
  const auto back = f.wait(read_all(f.guest, "dir/large", {}));
  REQUIRE(back);
  CHECK(back->bytes == 64'000'001);
  CHECK(back->hash == source.hash());
}

TEST_CASE("Guest: small and empty files, ranges and modes", "[integration][guest]") {
  AgentFixture f;
  TextSource empty("");
  CHECK(write(f, "empty", empty).value().size == 0);
  TextSource text("0123456789", 3);
  const WriteOptions options{.mode = 0750U};
  CHECK(write(f, "text", text, options).value().mode == 0750U);
  CHECK(f.agent.get("text") == "0123456789");
  CHECK(f.wait(read_all(f.guest, "empty", {})).value().bytes == 0);
  CHECK(f.wait(read_all(f.guest, "text", {2, 5})).value().hash == base::sha256_hex("23456"));
  CHECK(f.wait(read_all(f.guest, "text", {8, 50})).value().bytes == 2);
  CHECK(f.wait(read_all(f.guest, "text", {99, 5})).value().bytes == 0);
}

TEST_CASE("Guest: an upload whose source breaks leaves the old file and nothing else",
          "[integration][guest]") {
  AgentFixture f;
  f.agent.put("file", "old");
  FailingSource source;
  CHECK(write(f, "file", source).error().message() == "the source broke");
  CHECK(f.agent.get("file") == "old");
  CHECK(f.shell("ls -A").value().out.head == "file\n");
}

TEST_CASE("Guest: refusals of files come from where the path is resolved", "[integration][guest]") {
  AgentFixture f;
  REQUIRE(::symlink("/etc/hostname", (f.agent.workspace() + "/out").c_str()) == 0);
  REQUIRE(::mkfifo((f.agent.workspace() + "/fifo").c_str(), 0644) == 0);
  const auto code = [&](const std::string& path) {
    return f.wait(read_all(f.guest, path, {})).error().code();
  };
  CHECK(code("../../etc/passwd") == ErrorCode::kPathEscape);
  CHECK(code("out") == ErrorCode::kPathEscape);
  CHECK(code("missing") == ErrorCode::kNotFound);
  CHECK(code("fifo") == ErrorCode::kFailedPrecondition);
  TextSource text("x");
  CHECK(write(f, "../../tmp/x", text).error().code() == ErrorCode::kPathEscape);
}

TEST_CASE("Guest: directories are made, listed in pages and removed", "[integration][guest]") {
  AgentFixture f;
  const GuestPath deep{"", "a/b/c"};
  REQUIRE(f.wait(f.guest->make_directory(deep, {})));
  REQUIRE(f.wait(f.guest->make_directory(deep, {})));
  f.shell("cd a; i=0; while [ $i -lt 5000 ]; do : > long-file-name-$i; i=$((i+1)); done").value();
  const GuestPath a{"", "a"};
  ListOptions options{.limit = 4000};
  const auto first = f.wait(f.guest->list(a, options, {})).value();
  CHECK(first.entries.size() == 4000);
  options.after = first.next;
  const auto second = f.wait(f.guest->list(a, options, {})).value();
  CHECK(second.entries.size() == 1001);
  CHECK(second.next.empty());
  CHECK(f.wait(f.guest->stat(a, {})).value().type == FileType::kDirectory);
  CHECK_FALSE(f.wait(f.guest->remove(a, false, {})));
  REQUIRE(f.wait(f.guest->remove(a, true, {})));
  CHECK(f.wait(f.guest->stat(a, {})).error().code() == ErrorCode::kNotFound);
  CHECK(f.wait(f.guest->sync({})));
}

TEST_CASE("Guest: a reader that stops early, or a call that is cancelled, leaves the guest usable",
          "[integration][guest]") {
  AgentFixture f;
  CountingSource source(20'000'000);
  REQUIRE(write(f, "large", source));
  const GuestPath path{"", "large"};
  for (int i = 0; i < 20; ++i) {
    auto reader = f.wait(f.guest->read_file(path, {}, {})).value();
    CHECK(f.wait(reader.content->next({})).value().size() > 0);
  }
  std::stop_source stop;
  stop.request_stop();
  const CallContext cancelled{.stop = stop.get_token()};
  CHECK(f.wait(f.guest->stat(path, cancelled)).error().code() == ErrorCode::kCancelled);
  CHECK(f.wait(read_all(f.guest, "large", {})).value().bytes == 20'000'000);
}
