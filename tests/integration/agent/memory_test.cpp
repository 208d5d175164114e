// The most memory that the agent ever had: what passes through it may be of any size.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "support/fixtures/agent_fixture.hpp"

using namespace cove;
using test::AgentFixture;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasOwnMemory = true;  // an agent with a sanitizer keeps what it let go of
#else
constexpr bool kHasOwnMemory = false;
#endif

constexpr long kMiB = 1024;  // in KiB

// Each is some times what was measured, and far below what holding everything would take.
constexpr long kMostOfSearch = 8 * kMiB;     // 1.5 of 100,000 results, which are 20 and more in all
constexpr long kMostOfList = 40 * kMiB;      // 14, a page of 10,000 entries; ten such are 140
constexpr long kMostOfLines = 4 * kMiB;      // 0.5 of a file of 10 GB
constexpr long kMostOfLongLine = 24 * kMiB;  // 8: a line counts as several of 4 MiB, and is moved
constexpr long kMostOfTransfer = 16 * kMiB;  // 5 of 256 MB

/// How much more memory the agent had at most than at its beginning, in KiB.
class Growth {
 public:
  explicit Growth(AgentFixture& f) : f_(f) {
    REQUIRE(f_.wait(f_.guest->status({})));
    begin_ = peak();
    REQUIRE(begin_ > 0);
  }

  void check_below(long most) const {
    const long grown = peak() - begin_;
    INFO("the agent grew by " << grown << " KiB");
    if (!kHasOwnMemory) CHECK(grown < most);
  }

 private:
  long peak() const {
    std::ifstream status("/proc/" + std::to_string(f_.agent.pid()) + "/status");
    std::string line;
    while (std::getline(status, line)) {
      if (line.starts_with("VmHWM:")) return std::stol(line.substr(6));
    }
    return -1;
  }

  AgentFixture& f_;
  long begin_ = 0;
};

/// 100 directories of 1,000 files that hold a line each.
void put_100000(const AgentFixture& f) {
  for (int d = 100; d < 200; ++d) {
    const std::string directory = f.agent.workspace() + "/d" + std::to_string(d);
    std::filesystem::create_directory(directory);
    for (int i = 1'000; i < 2'000; ++i) {
      std::ofstream(directory + "/f" + std::to_string(i)) << "a line with a word in it\n";
    }
  }
}

/// Takes all results, holding one piece at a time; the result is how many there were.
template <class Found>
Task<Result<std::size_t>> count_all(std::unique_ptr<SearchStream<Found>> stream) {
  const CallContext call;
  std::size_t count = 0;
  for (;;) {
    COVE_CO_TRY(const auto found, co_await stream->next(call));
    if (found.empty()) co_return count;
    count += found.size();
  }
}

Task<Result<std::size_t>> count_lines(std::shared_ptr<Guest> guest, GrepQuery query) {
  const CallContext call;
  const GuestPath from{"", "."};
  COVE_CO_TRY(auto stream, co_await guest->grep(from, query, call));
  co_return co_await count_all(std::move(stream));
}

Task<Result<std::size_t>> count_names(std::shared_ptr<Guest> guest, FindQuery query) {
  const CallContext call;
  const GuestPath from{"", "."};
  COVE_CO_TRY(auto stream, co_await guest->find(from, query, call));
  co_return co_await count_all(std::move(stream));
}

Task<Result<std::size_t>> count_entries(std::shared_ptr<Guest> guest) {
  const CallContext call;
  const GuestPath from{"", "."};
  ListOptions options{.after = {}, .limit = 10'000, .depth = 0};
  std::size_t count = 0;
  do {
    COVE_CO_TRY(const FilePage page, co_await guest->list(from, options, call));
    count += page.entries.size();
    options.after = page.next;
  } while (!options.after.empty());
  co_return count;
}

/// Text in lines of 64 bytes, or in one without an end, made as it is asked for.
class MadeSource final : public ByteSource {
 public:
  MadeSource(std::uint64_t bytes, bool has_lines) : left_(bytes), has_lines_(has_lines) {}

  Task<Result<Bytes>> next(const CallContext&) override {
    Bytes piece(static_cast<std::size_t>(std::min<std::uint64_t>(left_, 256'000)), std::byte{'x'});
    for (std::size_t i = 63; has_lines_ && i < piece.size(); i += 64) piece[i] = std::byte{'\n'};
    left_ -= piece.size();
    co_return piece;
  }

 private:
  std::uint64_t left_;
  bool has_lines_;
};

Result<FileInfo> write(AgentFixture& f, const std::string& path, ByteSource& source) {
  const GuestPath to{"", path};
  const WriteOptions options;
  return f.wait(f.guest->write_file(to, source, options, {}));
}

Task<Result<std::uint64_t>> count_bytes(std::shared_ptr<Guest> guest, std::string path) {
  const CallContext call;
  const GuestPath from{"", std::move(path)};
  const ReadRange all;
  COVE_CO_TRY(const auto file, co_await guest->read_file(from, all, call));
  std::uint64_t count = 0;
  for (;;) {
    COVE_CO_TRY(const Bytes bytes, co_await file.content->next(call));
    if (bytes.empty()) co_return count;
    count += bytes.size();
  }
}

Result<LineSlice> lines(AgentFixture& f, const LineRange& range) {
  const GuestPath from{"", "file"};
  return f.wait(f.guest->read_lines(from, range, {}));
}

}  // namespace

TEST_CASE("Agent: 100,000 files are found, searched and listed in bounded memory",
          "[integration][agent][search][slow]") {
  AgentFixture f;
  put_100000(f);
  const Growth growth(f);
  CHECK(f.wait(count_names(f.guest, {.limit = {}})).value() == 100'100);
  growth.check_below(kMostOfSearch);
  CHECK(f.wait(count_names(f.guest, {.limit = 1'000, .newest_first = true})).value() == 1'000);
  growth.check_below(kMostOfSearch);
  CHECK(f.wait(count_lines(f.guest, {.pattern = "word", .limit = {}})).value() == 100'000);
  growth.check_below(kMostOfSearch);
  CHECK(f.wait(count_entries(f.guest)).value() == 100'100);
  growth.check_below(kMostOfList);
}

TEST_CASE("Agent: lines of a file of 10 GB are read in little memory",
          "[integration][agent][files]") {
  AgentFixture f;
  f.agent.put("file", "first\nsecond\n");
  const std::string path = f.agent.workspace() + "/file";
  REQUIRE(::truncate(path.c_str(), 10'000'000'000) == 0);
  const Growth growth(f);
  CHECK(lines(f, {.first = 2, .count = 1}).value().text == "second\n");
  const LineSlice endless = lines(f, {.first = 3, .count = 1}).value();
  CHECK(endless.cut);
  CHECK(endless.text.size() == 50 * 1024);
  growth.check_below(kMostOfLines);
}

TEST_CASE("Agent: a line of 256 MB is searched in bounded memory",
          "[integration][agent][search][slow]") {
  AgentFixture f;
  MadeSource source(256'000'000, false);
  REQUIRE(write(f, "line", source));
  const Growth growth(f);
  CHECK(f.wait(count_lines(f.guest, {.pattern = "y|absent", .limit = {}})).value() == 0);
  growth.check_below(kMostOfLongLine);
  CHECK(f.wait(count_lines(f.guest, {.pattern = "xx+", .limit = {}})).value() > 0);
  growth.check_below(kMostOfLongLine);
}

TEST_CASE("Agent: 256 MB go in and come back in bounded memory [pain-64]",
          "[integration][agent][files][slow][pain-64]") {
  AgentFixture f;
  const Growth growth(f);
  MadeSource source(256'000'000, true);
  CHECK(write(f, "large", source).value().size == 256'000'000);
  growth.check_below(kMostOfTransfer);
  CHECK(f.wait(count_bytes(f.guest, "large")).value() == 256'000'000);
  growth.check_below(kMostOfTransfer);
}
