// The SQLite store when its process is killed, and when its disk is full.
#include <filesystem>
#include <stdexcept>
#include <string>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "support/child_process.hpp"
#include "support/fixtures/metadata_stores.hpp"
#include "support/raw/raw_sqlite.hpp"
#include "support/skip.hpp"
#include "support/trees/small_disk.hpp"

using namespace cove;
using cove::test::ChildProcess;
using cove::test::number_of;
using cove::test::sandbox;
using cove::test::SqliteMetadata;
using cove::test::StoreDirectory;
using cove::test::text;

namespace {

/// A body of many pages, whole or not at all: all its characters are the same.
std::string large_body(int n) { return std::string(60'000, static_cast<char>('a' + n % 26)); }

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

/// Swaps for ever; reports the newest acknowledged version, one fixed-size number each.
[[noreturn]] void write_for_ever(const std::string& path, int output) {
  SqliteMetadata store(path);
  const auto id = sandbox("a");
  auto found = store.find(id).value();
  for (int n = 0;; ++n) {
    const auto durability = n % 2 == 0 ? Durability::kDurable : Durability::kRelaxed;
    found->version = store.swap(id, found->version, text(large_body(n)), durability).value();
    const std::uint64_t version = number_of(found->version);
    if (::write(output, &version, sizeof version) != sizeof version) ::_exit(1);
  }
}

std::uint64_t last_number(const std::string& bytes) {
  std::uint64_t number = 0;
  if (bytes.size() >= sizeof number) {
    const std::size_t whole = bytes.size() / sizeof number * sizeof number;
    bytes.copy(reinterpret_cast<char*>(&number), sizeof number, whole - sizeof number);
  }
  return number;
}

void use_full_disk(const std::string& directory) {
  const std::string path = directory + "/metadata.db";
  SqliteMetadata store(path);
  const auto id = sandbox("a");
  const Version version = store.insert(id, text(large_body(0)), Durability::kDurable).value();
  test::fill_disk(directory + "/filler");
  for (const auto durability : {Durability::kRelaxed, Durability::kDurable}) {
    for (int n = 1; n < 20; ++n) {
      const auto swapped = store.swap(id, version, text(std::string(900'000, 'x')), durability);
      require(!swapped, "a write had room on a full disk");
      require(swapped.error().code() == ErrorCode::kQuotaExceeded, swapped.error().describe());
    }
    const auto inserted = store.insert(sandbox("b"), text(std::string(900'000, 'x')), durability);
    require(!inserted && inserted.error().code() == ErrorCode::kQuotaExceeded, "insert");
    const auto found = store.find(id).value();
    require(found->version == version && found->document.body == large_body(0), "old is gone");
    require(!store.find(sandbox("b")).value(), "half a document");
  }
  std::filesystem::remove(directory + "/filler");
  (void)store.swap(id, version, text("after"), Durability::kDurable).value();
  require(test::RawSqlite(path).run("PRAGMA integrity_check") == "ok", "integrity");
}

}  // namespace

TEST_CASE("SqliteStore: a writer killed in the middle leaves the old or the new document",
          "[fault][metadata]") {
  const StoreDirectory directory;
  const std::string path = directory.file("metadata.db");
  {
    REQUIRE(SqliteMetadata(path).insert(sandbox("a"), text(large_body(0))));
  }
  for (int round = 0; round < 15; ++round) {
    ChildProcess child([&](int output) { write_for_ever(path, output); });
    // Killed at another number of writes each time, wherever it then is.
    std::string reported = child.read(sizeof(std::uint64_t) * static_cast<std::size_t>(1 + round));
    child.kill();
    reported += child.read(std::string::npos);
    SqliteMetadata store(path);
    const auto found = store.find(sandbox("a")).value();
    REQUIRE(found);
    CHECK(number_of(found->version) >= last_number(reported));
    const std::string& body = found->document.body;
    CHECK(body.size() == 60'000);
    CHECK(body.find_first_not_of(body.front()) == std::string::npos);
    CHECK(store.swap(sandbox("a"), found->version, text(large_body(1))));
  }
  CHECK(test::RawSqlite(path).run("PRAGMA integrity_check") == "ok");
}

TEST_CASE("SqliteStore: a full disk is kQuotaExceeded, and the old document stays",
          "[fault][metadata]") {
  const StoreDirectory directory;
  const std::string disk = directory.file("disk");
  std::filesystem::create_directory(disk);
  ChildProcess child([&](int output) {
    if (test::mount_small_disk(disk, "1m")) return use_full_disk(disk);
    if (::write(output, "skipped", 7) != 7) ::_exit(1);
  });
  const std::string answer = child.wait();
  if (answer == "skipped") test::skip("this machine lets this user make no tmpfs of its own");
}
