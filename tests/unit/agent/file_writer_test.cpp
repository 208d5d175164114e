#include <thread>

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "support/skip.hpp"
#include "unit/agent/workspace_fixture.hpp"

using cove::ErrorCode;
using cove::WriteOptions;
using cove::agent::Files;
using cove::agent::testing::bytes_of;
using cove::agent::testing::make_disk;
using cove::agent::testing::WorkspaceFixture;
using cove::base::UniqueFd;
namespace fs = std::filesystem;

namespace {

/// Hides /proc from the calling thread, for ever. False where this user may not.
bool hide_proc() {
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", "/proc", "tmpfs", 0, nullptr) == 0;
}

}  // namespace

TEST_CASE("FileWriter: a new file has its parents, its mode and its facts", "[unit][agent]") {
  const WorkspaceFixture w;
  const auto info = w.write("out/2024/report.txt", "hello").value();
  CHECK(info.path == "out/2024/report.txt");
  CHECK(info.size == 5);
  CHECK(info.mode == 0644);
  CHECK(w.get(w.workspace() / "out/2024/report.txt") == "hello");
  CHECK(w.files().stat({"", "out"}).value().mode == 0755);
  CHECK(w.write("run.sh", "x", {.mode = 0755}).value().mode == 0755);
  CHECK(w.write("durable/a/b", "x", {.durable = true}).value().size == 1);
  CHECK(w.code_of(w.write("f", "", {.mode = 010000})) == ErrorCode::kInvalidArgument);
  CHECK(w.names() == std::vector<std::string>{"durable", "out", "run.sh"});
}

TEST_CASE("FileWriter: missing parents are an error where they are not to be made",
          "[unit][agent]") {
  const WorkspaceFixture w;
  CHECK(w.code_of(w.write("a/b", "x", {.create_parents = false})) == ErrorCode::kNotFound);
  CHECK(w.names().empty());
}

TEST_CASE("FileWriter: a replaced file keeps its mode, and readers see old or new",
          "[unit][agent]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "f", "old");
  fs::permissions(w.workspace() / "f", fs::perms(0751));
  const auto writer = w.files().begin_write({"", "f"}, {}).value();
  REQUIRE(writer->write(bytes_of("new ")));
  CHECK(w.get(w.workspace() / "f") == "old");
  REQUIRE(writer->write(bytes_of("text")));
  CHECK(writer->commit().value().mode == 0751);
  CHECK(w.get(w.workspace() / "f") == "new text");
  CHECK(w.names() == std::vector<std::string>{"f"});
  CHECK(w.code_of(writer->write(bytes_of("x"))) == ErrorCode::kFailedPrecondition);
  CHECK(w.code_of(writer->commit()) == ErrorCode::kFailedPrecondition);
}

TEST_CASE("FileWriter: without a commit the old file stays and nothing else", "[unit][agent]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "f", "old");
  {
    const auto writer = w.files().begin_write({"", "f"}, {}).value();
    REQUIRE(writer->write(bytes_of("new")));
  }
  CHECK(w.get(w.workspace() / "f") == "old");
  CHECK(w.names() == std::vector<std::string>{"f"});
}

TEST_CASE("FileWriter: a link inside is written through and stays a link", "[unit][agent]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "data/real", "old");
  fs::create_symlink("/workspace/data/real", w.workspace() / "link");
  fs::create_symlink("data/later", w.workspace() / "dangling");
  CHECK(w.write("link", "new").value().path == "data/real");
  CHECK(w.get(w.workspace() / "data/real") == "new");
  CHECK(fs::is_symlink(w.workspace() / "link"));
  CHECK(w.write("dangling", "made").value().path == "data/later");
  CHECK(w.get(w.workspace() / "data/later") == "made");
}

TEST_CASE("FileWriter: what became something else meanwhile is not replaced", "[unit][agent]") {
  const WorkspaceFixture w;
  const auto writer = w.files().begin_write({"", "f"}, {}).value();
  REQUIRE(::mkfifo((w.workspace() / "f").c_str(), 0644) == 0);
  const auto done = writer->commit();
  CHECK(w.code_of(done) == ErrorCode::kFailedPrecondition);
  CHECK(done.error().message() == "'f' is a FIFO, not a file");
  CHECK(w.names() == std::vector<std::string>{"f"});
}

TEST_CASE("FileWriter: a link that appears meanwhile is replaced, not followed",
          "[unit][agent][security][pain-65]") {
  const WorkspaceFixture w;
  const auto writer = w.files().begin_write({"", "f"}, {}).value();
  fs::create_symlink(w.outside() / "secret", w.workspace() / "f");
  REQUIRE(writer->write(bytes_of("new")));
  REQUIRE(writer->commit());
  CHECK(fs::is_regular_file(fs::symlink_status(w.workspace() / "f")));
  CHECK(w.get(w.outside() / "secret") == "outside");
}

TEST_CASE("FileWriter: a large file arrives whole", "[unit][agent][pain-63]") {
  const WorkspaceFixture w;
  const auto writer = w.files().begin_write({"", "big"}, {}).value();
  const std::string piece(256 * 1024, 'x');
  for (int i = 0; i < 64; ++i) REQUIRE(writer->write(bytes_of(piece)));
  CHECK(writer->commit().value().size == 64 * piece.size());
  CHECK(fs::file_size(w.workspace() / "big") == 64 * piece.size());
}

TEST_CASE("FileWriter: a full disk leaves the old file and no other", "[unit][agent][pain-63]") {
  const UniqueFd disk = make_disk("64k");
  if (!disk) return cove::test::skip("needs the right to make a tmpfs (root)");
  const Files files(UniqueFd(::fcntl(*disk, F_DUPFD_CLOEXEC, 0)), "/workspace");
  const auto write = [&](const std::string& text) -> cove::Result<cove::FileInfo> {
    COVE_TRY(const auto writer, files.begin_write({"", "f"}, {}));
    COVE_TRY_VOID(writer->write(bytes_of(text)));
    return writer->commit();
  };
  REQUIRE(write("old"));
  const auto full = write(std::string(1 << 20, 'x'));
  CHECK(WorkspaceFixture::code_of(full) == ErrorCode::kQuotaExceeded);
  CHECK(full.error().message() == "write 'f': No space left on device");
  const auto page = files.list({"", ""}, {}).value();
  REQUIRE(page.entries.size() == 1);
  CHECK(page.entries[0].path == "f");
  CHECK(page.entries[0].size == 3);
  CHECK(write(std::string(32 << 10, 'y')).value().size == 32 << 10);  // there is room again
}

TEST_CASE("FileWriter: ten writers of one name leave one whole file", "[unit][agent][threads]") {
  const WorkspaceFixture w;
  std::vector<std::thread> writers;
  for (int i = 0; i < 10; ++i) {
    writers.emplace_back([&w, i] {
      const std::string text(50'000, static_cast<char>('a' + i));
      for (int n = 0; n < 20; ++n) {
        if (!w.write("d/f", text)) std::abort();
      }
    });
  }
  for (auto& writer : writers) writer.join();
  const std::string text = w.get(w.workspace() / "d/f");
  REQUIRE(text.size() == 50'000);
  CHECK(text == std::string(50'000, text[0]));
  CHECK(w.names("d") == std::vector<std::string>{"f"});
}

TEST_CASE("FileWriter: without /proc it writes under a name of its own, which goes away",
          "[unit][agent][pain-63]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "f", "old");
  bool hidden = false;
  bool temporary_seen = false;
  cove::Result<cove::FileInfo> done = cove::Error(ErrorCode::kInternal, "not run");
  std::thread([&] {
    hidden = hide_proc();
    if (!hidden) return;
    w.files().begin_write({"", "f"}, {}).value()->write(bytes_of("dropped")).value();
    const auto writer = w.files().begin_write({"", "f"}, {}).value();
    writer->write(bytes_of("new")).value();
    temporary_seen = w.names().size() == 2 && w.names()[0].starts_with(".cove-");
    done = writer->commit();
  }).join();
  if (!hidden) return cove::test::skip("needs the right to mount (root)");
  CHECK(temporary_seen);
  REQUIRE(done);
  CHECK(w.get(w.workspace() / "f") == "new");
  CHECK(w.names() == std::vector<std::string>{"f"});
}
