#include "snapshot/tree/tree_reader.hpp"

#include <functional>
#include <thread>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "snapshot/archive/archive_reader.hpp"
#include "snapshot/tree/tree_writer.hpp"
#include "support/fixtures/snapshot_fixture.hpp"
#include "support/skip.hpp"
#include "support/trees/scratch_tree.hpp"
#include "support/trees/tree_builder.hpp"
#include "support/trees/tree_description.hpp"

using cove::Bytes;
using cove::Error;
using cove::ErrorCode;
using cove::Result;
using cove::base::UniqueFd;
using cove::snapshot::ArchiveReader;
using cove::snapshot::ArchiveTotals;
using cove::snapshot::ArchiveWriter;
using cove::snapshot::TreeReader;
using cove::snapshot::TreeWriter;
using cove::test::describe_tree;
using cove::test::kSingle;
using cove::test::ScratchTree;
using cove::test::TreeBuilder;

namespace {

UniqueFd open_volume(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/// Steps to the end; calls `between` after each step.
Result<Bytes> read_tree(TreeReader& tree, const std::function<void(int)>& between = {}) {
  ArchiveWriter archive;
  Bytes bytes;
  for (int n = 0;; ++n) {
    COVE_TRY(const bool more, tree.step(archive));
    const Bytes piece = archive.take();
    bytes.insert(bytes.end(), piece.begin(), piece.end());
    if (!more) break;
    if (between) between(n);
  }
  COVE_TRY_VOID(archive.finish());
  const Bytes tail = archive.take();
  bytes.insert(bytes.end(), tail.begin(), tail.end());
  return bytes;
}

Result<void> write_tree(const Bytes& bytes, TreeWriter& tree) {
  ArchiveReader reader(tree);
  reader.feed(bytes);
  bool fed_all = false;
  for (;;) {
    COVE_TRY(const auto progress, reader.step());
    if (progress == ArchiveReader::Progress::kDone) return {};
    if (progress == ArchiveReader::Progress::kMore) continue;
    if (fed_all) return Error(ErrorCode::kInternal, "asks for more after the end");
    fed_all = true;
    reader.feed({});
  }
}

Result<void> copy_tree(const std::string& from, const std::string& to) {
  COVE_TRY(const auto reader, TreeReader::open(*open_volume(from), kSingle));
  COVE_TRY(const Bytes bytes, read_tree(*reader));
  const ArchiveTotals totals{reader->counts().entries, reader->counts().content_bytes};
  COVE_TRY(TreeWriter writer, TreeWriter::open(*open_volume(to), kSingle, totals));
  return write_tree(bytes, writer);
}

/// Runs `body` as an ordinary user: only this thread changes, as the system call does it.
void as_ordinary_user(const std::function<void()>& body) {
  constexpr unsigned kUser = 65'533;
  std::thread([&] {
    if (::syscall(SYS_setgroups, 0, nullptr) != 0 ||
        ::syscall(SYS_setresgid, kUser, kUser, kUser) != 0 ||
        ::syscall(SYS_setresuid, kUser, kUser, kUser) != 0) {
      return;
    }
    body();
  }).join();
}

}  // namespace

TEST_CASE("TreeReader: a file that shrinks while it is read fails the save clearly",
          "[unit][snapshot]") {
  const ScratchTree scratch;
  TreeBuilder tree(scratch.path());
  tree.file("log", std::string(8 << 20, 'x'));
  const auto reader = TreeReader::open(*open_volume(scratch.path()), kSingle).value();
  const auto read = read_tree(*reader, [&](int n) {
    if (n == 0) REQUIRE(::truncate(tree.at("log").c_str(), 100) == 0);
  });
  REQUIRE_FALSE(read);
  CHECK(read.error().code() == ErrorCode::kConflict);
  CHECK(read.error().message() == "'log' became shorter while it was read");
}

TEST_CASE("TreeReader: a file that is written while it is read fails the save",
          "[unit][snapshot]") {
  const ScratchTree scratch;
  TreeBuilder tree(scratch.path());
  tree.file("log", std::string(8 << 20, 'x'));
  tree.time("log", 1'000'000'000, 0);
  const auto reader = TreeReader::open(*open_volume(scratch.path()), kSingle).value();
  const auto read = read_tree(*reader, [&](int n) {
    if (n == 0) tree.file("log", "changed");
  });
  REQUIRE_FALSE(read);
  CHECK(read.error().code() == ErrorCode::kConflict);
  CHECK(read.error().message() == "'log' was written while it was read");
}

TEST_CASE("TreeReader: one step is a bounded piece of work", "[unit][snapshot]") {
  const ScratchTree scratch;
  TreeBuilder tree(scratch.path());
  for (int i = 0; i < 2000; ++i) tree.file("f" + std::to_string(i), "");
  tree.file("zeros", std::string(20 << 20, '\0'));
  const auto reader = TreeReader::open(*open_volume(scratch.path()), kSingle).value();
  int steps = 0;
  REQUIRE(read_tree(*reader, [&](int n) { steps = n; }));
  CHECK(steps >= 25);  // some 8 MiB of entries and 20 of content, a MiB each
}

TEST_CASE("TreeReader: a path too long for an archive is refused by its length",
          "[unit][snapshot]") {
  const ScratchTree scratch;
  const std::string name(255, 'p');
  UniqueFd at(::open(scratch.path().c_str(), O_RDONLY | O_CLOEXEC));
  for (int level = 0; level < 1025; ++level) {
    REQUIRE(::mkdirat(*at, name.c_str(), 0755) == 0);
    at.reset(::openat(*at, name.c_str(), O_RDONLY | O_CLOEXEC));
  }
  const auto reader = TreeReader::open(*open_volume(scratch.path()), kSingle).value();
  const auto read = read_tree(*reader);
  REQUIRE_FALSE(read);
  CHECK(read.error().code() == ErrorCode::kTooLarge);
  CHECK_THAT(read.error().message(), Catch::Contains("has 262399 bytes"));
}

TEST_CASE("TreeReader: an ordinary user's own locked files are kept, and stay locked",
          "[unit][snapshot]") {
  const ScratchTree scratch;
  TreeBuilder tree(scratch.path());
  tree.mode("", 0777);
  std::map<std::string, std::string> before;
  std::map<std::string, std::string> after;
  std::map<std::string, std::string> copied;
  std::string problem = "it did not run";
  const auto body = [&] {
    TreeBuilder own(scratch.path());
    own.directory("from");
    own.directory("to");
    own.file("from/locked", "nobody may", 0000);
    own.file("from/write-only", "secret", 0200);
    own.directory("from/closed");
    own.file("from/closed/inside", "deep", 0000);
    own.directory("from/list-only");
    own.file("from/list-only/inside", "x");
    own.mode("from/closed", 0000);
    own.mode("from/list-only", 0400);
    own.mode("from", 0000);
    const auto result = copy_tree(scratch.path("from"), scratch.path("to"));
    problem = result ? "" : result.error().describe();
  };
  if (::geteuid() == 0) {
    as_ordinary_user(body);
  } else {
    body();
  }
  REQUIRE(problem.empty());
  if (::geteuid() != 0) return cove::test::skip_part("only root can look at what is locked");
  const auto found = describe_tree(scratch.path("from"));
  CHECK(found == describe_tree(scratch.path("to")));
  CHECK(found.at("").starts_with("dir 0 65533"));
  CHECK(found.at("locked").starts_with("file 0 65533"));
  CHECK(found.at("closed").starts_with("dir 0 65533"));
  CHECK(found.at("list-only").starts_with("dir 400 65533"));
  CHECK(found.size() == 7);
}

TEST_CASE("TreeReader: what belongs to another and cannot be read fails by its path",
          "[unit][snapshot]") {
  if (::geteuid() != 0) return cove::test::skip("needs root to make a file of another user");
  const ScratchTree scratch;
  TreeBuilder tree(scratch.path());
  tree.mode("", 0755);
  tree.directory("d");
  tree.file("d/of-root", "x", 0600);
  std::string told;
  as_ordinary_user([&] {
    const auto reader = TreeReader::open(*open_volume(scratch.path()), kSingle);
    const auto read = reader ? read_tree(**reader) : reader.error();
    if (!read) told = std::string(name_of(read.error().code())) + ": " + read.error().message();
  });
  CHECK(told == "permission_denied: open 'd/of-root': Permission denied");
}
