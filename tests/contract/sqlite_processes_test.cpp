// The SQLite store's file shared by several processes.
#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <unistd.h>

#include "base/system/unique_fd.hpp"
#include "support/child_process.hpp"
#include "support/fixtures/metadata_stores.hpp"
#include "support/raw/raw_sqlite.hpp"
#include "support/skip.hpp"

using namespace cove;
using cove::test::ChildProcess;
using cove::test::number_of;
using cove::test::RawSqlite;
using cove::test::sandbox;
using cove::test::SqliteMetadata;
using cove::test::StoreDirectory;
using cove::test::text;

namespace {

void say(int output, const std::string& words) {
  if (::write(output, words.data(), words.size()) < 0) ::_exit(97);
}

/// Adds one to the number in the document, whoever else does so too.
void add_one(SqliteMetadata& store, const DocumentId& id, Durability durability) {
  for (;;) {
    const auto found = store.find(id).value();
    const auto next = text(std::to_string(std::stoi(found->document.body) + 1));
    const auto swapped = store.swap(id, found->version, next, durability);
    if (swapped) return;
    if (swapped.error().code() != ErrorCode::kConflict) swapped.value();
  }
}

/// Holds processes back until their parent lets so many of them through.
class Gate {
 public:
  Gate() { REQUIRE(::pipe2(ends_.data(), O_CLOEXEC) == 0); }
  ~Gate() {
    for (const int end : ends_) ::close(end);
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void open(int processes) { say(ends_[1], std::string(static_cast<std::size_t>(processes), 'g')); }
  void pass() {
    char go = 0;
    if (::read(ends_[0], &go, 1) != 1) ::_exit(96);
  }

 private:
  std::array<int, 2> ends_{};
};

/// The lowest locked byte from `from` on; 0 = none. The kernel names any one of a range.
off_t lowest_place(int file, off_t from) {
  off_t lowest = 0;
  struct flock lock{};
  do {
    lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = from;
    lock.l_len = lowest == 0 ? 0 : lowest - from;
    if (::fcntl(file, F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return lowest;
    lowest = lock.l_start;
  } while (lowest != from);
  return lowest;
}

/// How many wait in the line (docs/formats.md): each has one byte of the file locked.
int places_in_line(const std::string& path) {
  const base::UniqueFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  int places = 0;
  for (off_t at = lowest_place(*file, 1); at != 0; at = lowest_place(*file, at + 1)) ++places;
  return places;
}

}  // namespace

TEST_CASE("SqliteStore: many processes that open an absent file at once get the same store",
          "[contract][metadata]") {
  const StoreDirectory directory;
  const std::string path = directory.file("metadata.db");
  constexpr int kProcesses = 20;
  std::vector<ChildProcess> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.emplace_back([&](int output) {
      SqliteMetadata store(path);
      const auto inserted = store.insert(sandbox("one"), text("x"), Durability::kDurable);
      if (inserted) return say(output, "won");
      if (inserted.error().code() != ErrorCode::kAlreadyExists) inserted.value();
    });
  }
  int winners = 0;
  for (auto& child : children) winners += child.wait() == "won" ? 1 : 0;
  CHECK(winners == 1);
}

TEST_CASE("SqliteStore: no update is lost between processes that swap the same document",
          "[contract][metadata]") {
  const StoreDirectory directory;
  const std::string path = directory.file("metadata.db");
  constexpr int kProcesses = 6;
  constexpr int kUpdates = 40;
  {
    REQUIRE(SqliteMetadata(path).insert(sandbox("sum"), text("0")));
  }
  std::vector<ChildProcess> children;
  for (int i = 0; i < kProcesses; ++i) {
    const auto durability = i % 2 == 0 ? Durability::kRelaxed : Durability::kDurable;
    children.emplace_back([&path, durability](int) {
      SqliteMetadata store(path);
      for (int n = 0; n < kUpdates; ++n) add_one(store, sandbox("sum"), durability);
    });
  }
  for (auto& child : children) child.wait();
  CHECK(SqliteMetadata(path).find(sandbox("sum")).value()->document.body ==
        std::to_string(kProcesses * kUpdates));
}

TEST_CASE("SqliteStore: processes that wait are all served before one is served twice",
          "[contract][metadata]") {
  const StoreDirectory directory;
  const std::string path = directory.file("metadata.db");
  constexpr int kProcesses = 8;
  std::uint64_t last_version = 0;
  {
    last_version = number_of(SqliteMetadata(path).insert(sandbox("first"), text("")).value());
  }
  Gate gate;
  auto began = std::chrono::steady_clock::now();
  std::vector<ChildProcess> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.emplace_back([&, i](int output) {
      SqliteMetadata store(path);
      const auto id = sandbox("own-" + std::to_string(i));
      say(output, "r");
      gate.pass();
      const Version first = store.insert(id, text(""), Durability::kDurable).value();
      Version version = first;
      for (int n = 0; n < 50; ++n) {
        version = store.swap(id, version, text(""), Durability::kDurable).value();
      }
      say(output, std::to_string(number_of(first)));
    });
  }
  for (auto& child : children) REQUIRE(child.read(1) == "r");
  {
    RawSqlite holder(path);
    holder.run("BEGIN IMMEDIATE");
    gate.open(kProcesses);
    began = std::chrono::steady_clock::now();
    while (places_in_line(path + "-queue") < kProcesses) std::this_thread::yield();
    holder.run("COMMIT");
  }
  // Versions count all writes of the file.
  std::vector<std::uint64_t> first_versions;
  for (auto& child : children) first_versions.push_back(std::stoull(child.wait()));
  // A place holds for 5 s (docs/formats.md): a machine that is slower than that has no line.
  if (std::chrono::steady_clock::now() - began > std::chrono::seconds(5)) {
    return cove::test::skip("this machine is too busy for the places in the line to hold");
  }
  std::sort(first_versions.begin(), first_versions.end());
  CHECK(first_versions.back() == last_version + kProcesses);
}
