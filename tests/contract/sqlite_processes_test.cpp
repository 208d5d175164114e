// The SQLite store's file shared by several processes.
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "support/child_process.hpp"
#include "support/metadata_stores.hpp"

using namespace cove;
using cove::test::ChildProcess;
using cove::test::number_of;
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

TEST_CASE("SqliteStore: of processes that write all the time none starves",
          "[contract][metadata]") {
  const StoreDirectory directory;
  const std::string path = directory.file("metadata.db");
  constexpr int kProcesses = 8;
  constexpr int kWrites = 100;
  {
    REQUIRE(SqliteMetadata(path).insert(sandbox("first"), text("")));
  }
  std::vector<ChildProcess> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.emplace_back([&path, i](int output) {
      SqliteMetadata store(path);
      const auto id = sandbox("own-" + std::to_string(i));
      Version version = store.insert(id, text(""), Durability::kDurable).value();
      std::uint64_t longest = 0;
      for (int n = 0; n < kWrites; ++n) {
        const Version next = store.swap(id, version, text(""), Durability::kDurable).value();
        longest = std::max(longest, number_of(next) - number_of(version));
        version = next;
      }
      say(output, std::to_string(longest));
    });
  }
  // Versions count all writes of the file, so two of one process tell how many went between. With
  // turns it is about one for each other process, and more where the machine lets one sleep.
  std::uint64_t longest = 0;
  for (auto& child : children)
    longest = std::max<std::uint64_t>(longest, std::stoull(child.wait()));
  INFO("writes of others between two of one process: " << longest);
  CHECK(longest <= kProcesses * kWrites / 8);
}
