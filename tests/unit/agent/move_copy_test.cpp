// Moving, copying, modes and links.
#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "agent/trees/tree_copy.hpp"
#include "support/trees/tree_builder.hpp"
#include "support/trees/tree_description.hpp"
#include "unit/agent/workspace_fixture.hpp"

using namespace cove;
using namespace cove::agent;
namespace fs = std::filesystem;
using cove::agent::testing::make_disk;
using cove::agent::testing::WorkspaceFixture;
using cove::test::TreeBuilder;

namespace {

Result<TreeCounts> copy(const Files& files, const std::string& from, const std::string& to,
                        const CopyOptions& options = {}) {
  COVE_TRY(const auto copying, files.begin_copy({"", from}, {"", to}, options));
  for (;;) {
    COVE_TRY(const bool done, copying->step());
    if (done) return copying->counts();
  }
}

Result<FileInfo> move(const Files& files, const std::string& from, const std::string& to,
                      const MoveOptions& options = {}) {
  return files.move({"", from}, {"", to}, options);
}

struct stat facts_of(const fs::path& path) {
  struct stat facts{};
  REQUIRE(::lstat(path.c_str(), &facts) == 0);
  return facts;
}

}  // namespace

TEST_CASE("Move: a file takes its new name across directories", "[unit][agent][files]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "a/file", "text");
  const auto info = move(w.files(), "a/file", "b/c/file").value();
  CHECK(info.path == "b/c/file");
  CHECK(info.size == 4);
  CHECK(w.get(w.workspace() / "b/c/file") == "text");
  CHECK(w.names("a").empty());
  CHECK(w.code_of(move(w.files(), "a/file", "x")) == ErrorCode::kNotFound);
  CHECK(w.code_of(move(w.files(), "b/c/file", "no/where", {.create_parents = false})) ==
        ErrorCode::kNotFound);
}

TEST_CASE("Move: what is there is replaced only when asked for", "[unit][agent][files]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "a", "a");
  w.put(w.workspace() / "b", "b");
  w.put(w.workspace() / "d/x", "");
  fs::create_directory(w.workspace() / "empty");
  CHECK(w.code_of(move(w.files(), "a", "b")) == ErrorCode::kAlreadyExists);
  CHECK(w.get(w.workspace() / "b") == "b");
  REQUIRE(move(w.files(), "a", "b", {.overwrite = true}));
  CHECK(w.get(w.workspace() / "b") == "a");
  const MoveOptions over{.overwrite = true};
  CHECK(w.code_of(move(w.files(), "b", "d", over)) == ErrorCode::kFailedPrecondition);
  CHECK(w.code_of(move(w.files(), "d", "b", over)) == ErrorCode::kFailedPrecondition);
  CHECK(w.code_of(move(w.files(), "empty", "d", over)) == ErrorCode::kFailedPrecondition);
  CHECK(w.code_of(move(w.files(), "d", "d/inside")) == ErrorCode::kInvalidArgument);
  REQUIRE(move(w.files(), "d", "empty", over));
  CHECK(w.names("empty") == std::vector<std::string>{"x"});
}

TEST_CASE("Move: a link is moved itself, and no way leads out", "[unit][agent][files]") {
  const WorkspaceFixture w;
  fs::create_symlink("../outside/secret", w.workspace() / "link");
  fs::create_directory_symlink("../outside", w.workspace() / "way");
  REQUIRE(move(w.files(), "link", "moved"));
  CHECK(fs::read_symlink(w.workspace() / "moved") == "../outside/secret");
  w.put(w.workspace() / "a", "a");
  CHECK(w.code_of(move(w.files(), "a", "way/a")) == ErrorCode::kPathEscape);
  CHECK(w.code_of(move(w.files(), "way/secret", "mine")) == ErrorCode::kPathEscape);
  CHECK(w.code_of(move(w.files(), "a", "../a")) == ErrorCode::kPathEscape);
  CHECK(w.code_of(move(w.files(), "a", "/etc/a")) == ErrorCode::kPathEscape);
  CHECK(w.code_of(move(w.files(), "", "x")) == ErrorCode::kInvalidArgument);
  CHECK(w.code_of(move(w.files(), "a", ".")) == ErrorCode::kInvalidArgument);
  CHECK(w.get(w.outside() / "secret") == "outside");
}

TEST_CASE("Copy: a tree keeps modes, times, links, hard links and holes", "[unit][agent][files]") {
  const WorkspaceFixture w;
  TreeBuilder tree(w.workspace().string());
  tree.directory("from");
  tree.directory("from/d", 0750);
  tree.file("from/d/run", "#!/bin/sh\n", 0755);
  tree.file("from/\xff\n", "odd name", 0600);
  tree.symlink("from/link", "/etc/passwd");
  tree.symlink("from/dangling", "nowhere");
  tree.hard_link("from/second", "from/d/run");
  tree.sparse("from/sparse", 5'000'000, "data", 20'000'000);
  tree.fifo("from/fifo", 0640);
  tree.time("from/d/run", 1'000'000'000, 123'456'789);
  tree.time("from/link", 1'100'000'000, 5);
  tree.mode("from/d", 0550);
  tree.time("from/d", 1'200'000'000, 7);
  tree.time("from", 1'300'000'000, 9);
  const auto counts = copy(w.files(), "from", "deep/to").value();
  CHECK(counts.entries == 9);
  CHECK(counts.skipped == 0);
  tree.mode("from/d", 0750);
  tree.mode("deep/to/d", 0750);
  tree.time("from/d", 1'200'000'000, 7);
  tree.time("deep/to/d", 1'200'000'000, 7);
  CHECK(test::describe_tree(tree.at("from")) == test::describe_tree(tree.at("deep/to")));
  CHECK(facts_of(tree.at("deep/to/sparse")).st_blocks * 512 < 10'000'000);
  CHECK(facts_of(tree.at("deep/to/d/run")).st_ino == facts_of(tree.at("deep/to/second")).st_ino);
  CHECK(facts_of(tree.at("deep/to/d/run")).st_ino != facts_of(tree.at("from/d/run")).st_ino);
}

TEST_CASE("Copy: one file or link is copied, and replaces only when asked for",
          "[unit][agent][files]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "a", "a");
  w.put(w.workspace() / "b", "b");
  fs::create_directory(w.workspace() / "d");
  fs::create_symlink("../outside/secret", w.workspace() / "link");
  CHECK(copy(w.files(), "a", "new").value().bytes == 1);
  CHECK(w.code_of(copy(w.files(), "a", "b")) == ErrorCode::kAlreadyExists);
  REQUIRE(copy(w.files(), "a", "b", {.overwrite = true}));
  CHECK(w.get(w.workspace() / "b") == "a");
  REQUIRE(copy(w.files(), "link", "link2"));
  CHECK(fs::read_symlink(w.workspace() / "link2") == "../outside/secret");
  const CopyOptions over{.overwrite = true};
  CHECK(w.code_of(copy(w.files(), "a", "d", over)) == ErrorCode::kFailedPrecondition);
  CHECK(w.code_of(copy(w.files(), "d", "a", over)) == ErrorCode::kFailedPrecondition);
  CHECK(w.code_of(copy(w.files(), "d", "d/x")) == ErrorCode::kInvalidArgument);
  CHECK(w.code_of(copy(w.files(), ".", "x")) == ErrorCode::kInvalidArgument);
  CHECK(w.code_of(copy(w.files(), "none", "x")) == ErrorCode::kNotFound);
  CHECK(w.code_of(copy(w.files(), "../outside", "x")) == ErrorCode::kPathEscape);
  CHECK(w.code_of(copy(w.files(), "a", "../outside/x")) == ErrorCode::kPathEscape);
  CHECK(w.names() == std::vector<std::string>{"a", "b", "d", "link", "link2", "new"});
}

TEST_CASE("Copy: given up, or on a full disk, it leaves nothing [pain-76]",
          "[unit][agent][files]") {
  base::UniqueFd root = make_disk("1m");
  if (!root) return;  // this user may not make a file system
  const Files files(base::UniqueFd(::fcntl(*root, F_DUPFD_CLOEXEC, 0)), "/workspace");
  TreeBuilder tree("/proc/self/fd/" + std::to_string(*root));
  tree.directory("from");
  tree.directory("from/d");
  tree.file("from/d/a", std::string(400'000, 'x'));
  tree.file("from/d/b", std::string(400'000, 'x'));
  tree.mode("from/d", 0555);
  const auto copied = copy(files, "from", "to");
  REQUIRE_FALSE(copied);
  CHECK(copied.error().code() == ErrorCode::kQuotaExceeded);
  CHECK(files.list({"", ""}, {}).value().entries.size() == 1);
  {
    const auto given_up = files.begin_copy({"", "from"}, {"", "to"}, {}).value();
    CHECK(files.list({"", ""}, {}).value().entries.size() == 2);
  }
  CHECK(files.list({"", ""}, {}).value().entries.size() == 1);
}

TEST_CASE("Files: a mode is set, through a link inside and never outside", "[unit][agent][files]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "a", "");
  fs::create_symlink("a", w.workspace() / "link");
  fs::create_symlink("../outside/secret", w.workspace() / "out");
  CHECK(w.files().set_mode({"", "link"}, 0751).value().mode == 0751);
  CHECK((facts_of(w.workspace() / "a").st_mode & 07777U) == 0751);
  CHECK(w.files().set_mode({"", "a"}, 0).value().mode == 0);
  CHECK(w.files().set_mode({"", "a"}, 0644));
  CHECK(w.code_of(w.files().set_mode({"", "out"}, 0777)) == ErrorCode::kPathEscape);
  CHECK(w.code_of(w.files().set_mode({"", "none"}, 0777)) == ErrorCode::kNotFound);
  CHECK(w.code_of(w.files().set_mode({"", "a"}, 010000)) == ErrorCode::kInvalidArgument);
  REQUIRE(::mkfifo((w.workspace() / "fifo").c_str(), 0600) == 0);
  CHECK(w.files().set_mode({"", "fifo"}, 0640).value().type == FileType::kOther);
}

TEST_CASE("Files: a symlink is made as given, and obeyed as the rule says",
          "[unit][agent][files]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "a", "text");
  const auto info = w.files().make_symlink({"", "d/in"}, "/workspace/a").value();
  CHECK(info.type == FileType::kSymlink);
  CHECK(info.link_target == "/workspace/a");
  CHECK(w.read("d/in").value() == "text");
  REQUIRE(w.files().make_symlink({"", "out"}, "../outside/secret"));
  CHECK(w.code_of(w.read("out")) == ErrorCode::kPathEscape);
  REQUIRE(w.files().make_symlink({"", "proc"}, "/proc/self/root/etc/passwd"));
  CHECK(w.code_of(w.read("proc")) == ErrorCode::kPathEscape);
  CHECK(w.code_of(w.files().make_symlink({"", "a"}, "x")) == ErrorCode::kAlreadyExists);
  CHECK(w.code_of(w.files().make_symlink({"", "e"}, "")) == ErrorCode::kInvalidArgument);
  CHECK(w.code_of(w.files().make_symlink({"", "../e"}, "x")) == ErrorCode::kPathEscape);
}

TEST_CASE("Files: a hard link inside is read as any file", "[unit][agent][files]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "a", "text");
  fs::create_hard_link(w.workspace() / "a", w.workspace() / "b");
  CHECK(w.read("b").value() == "text");
  // Writing replaces the name, so the other one keeps its content.
  REQUIRE(w.write("b", "new"));
  CHECK(w.get(w.workspace() / "a") == "text");
}
