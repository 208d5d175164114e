#include <chrono>
#include <limits>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "unit/agent/workspace_fixture.hpp"

using cove::ErrorCode;
using cove::FileType;
using cove::agent::Files;
using cove::agent::testing::make_disk;
using cove::agent::testing::open_directory_at;
using cove::agent::testing::text_of;
using cove::agent::testing::WorkspaceFixture;
using cove::base::UniqueFd;
namespace fs = std::filesystem;

TEST_CASE("Files: a range gives what is there of it", "[unit][agent]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "f", "0123456789");
  const auto range = [&](std::uint64_t offset, std::optional<std::uint64_t> length) {
    const auto file = w.files().open_file({"", "f"}, {offset, length}).value();
    CHECK(file.info.size == 10);
    return std::pair(text_of(*file.fd).substr(0, file.length), file.length);
  };
  CHECK(range(0, {}).first == "0123456789");
  CHECK(range(3, 4) == std::pair<std::string, std::uint64_t>("3456", 4));
  CHECK(range(8, 100).first == "89");
  CHECK(range(10, {}).second == 0);
  CHECK(range(std::numeric_limits<std::uint64_t>::max(), 1).second == 0);
  CHECK(range(2, std::numeric_limits<std::uint64_t>::max()).first == "23456789");
  CHECK(range(0, 0).second == 0);
}

TEST_CASE("Files: what the kernel has in memory is opened without the disk, and nothing else",
          "[unit][agent]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "dir/f", "0123456789");
  fs::create_symlink("f", w.workspace() / "dir/link");
  fs::create_symlink("../../outside/secret", w.workspace() / "dir/out");
  REQUIRE(::mkfifo((w.workspace() / "fifo").c_str(), 0644) == 0);
  const auto cached = w.files().open_cached_file({"dir", "../dir/./f"}, {3, 4});
  REQUIRE(cached);
  CHECK(text_of(*cached->fd).substr(0, cached->length) == "3456");
  CHECK(cached->info.path == "dir/f");
  CHECK(cached->info.size == 10);
  for (const char* other : {"dir/link", "dir/out", "dir", "fifo", "missing", "../outside/secret",
                            "/etc/passwd", "/home/sandbox/.cove/spill/x"}) {
    INFO(other);
    CHECK_FALSE(w.files().open_cached_file({"", other}, {}));
  }
}

TEST_CASE("Files: what is no file is refused at once, and named", "[unit][agent][security]") {
  const WorkspaceFixture w;
  REQUIRE(::mkfifo((w.workspace() / "fifo").c_str(), 0644) == 0);
  fs::create_directory(w.workspace() / "dir");
  const cove::base::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = (w.workspace() / "socket").string();
  REQUIRE(name.size() < sizeof address.sun_path);
  name.copy(address.sun_path, name.size());
  REQUIRE(::bind(*socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);

  const auto refused = [&](const std::string& path, const std::string& message) {
    const auto read = w.read(path);
    CHECK(w.code_of(read) == ErrorCode::kFailedPrecondition);
    CHECK(read.error().message() == message);
    CHECK(w.code_of(w.write(path, "x")) == ErrorCode::kFailedPrecondition);
  };
  refused("fifo", "'fifo' is a FIFO, not a file");
  refused("socket", "'socket' is a socket, not a file");
  refused("dir", "'dir' is a directory, not a file");
  fs::create_symlink("/workspace/fifo", w.workspace() / "link");  // by the walk
  refused("link", "'link' is a FIFO, not a file");
  if (::mknod((w.workspace() / "null").c_str(), S_IFCHR | 0666, 0x103) == 0) {
    refused("null", "'null' is a device, not a file");
  }
  CHECK(w.files().stat({"", "fifo"}).value().type == FileType::kOther);
}

TEST_CASE("Files: a hard link to a file elsewhere is just a file", "[unit][agent]") {
  const WorkspaceFixture w;
  fs::create_hard_link(w.outside() / "secret", w.workspace() / "hard");
  CHECK(w.read("hard").value() == "outside");
  REQUIRE(w.write("hard", "mine"));
  CHECK(w.get(w.outside() / "secret") == "outside");
}

TEST_CASE("Files: stat says what the path itself is", "[unit][agent]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "f", "12345");
  fs::permissions(w.workspace() / "f", fs::perms(0640));
  const timespec times[2] = {{1'700'000'000, 0}, {1'700'000'000, 123'456'789}};
  REQUIRE(::utimensat(AT_FDCWD, (w.workspace() / "f").c_str(), times, 0) == 0);
  fs::create_symlink("/etc/passwd", w.workspace() / "link");
  const auto file = w.files().stat({"", "./f"}).value();
  CHECK(file.path == "f");
  CHECK(file.type == FileType::kRegular);
  CHECK(file.size == 5);
  CHECK(file.mode == 0640);
  CHECK(file.modified.time_since_epoch() == std::chrono::nanoseconds(1'700'000'000'123'456'789));
  const auto link = w.files().stat({"", "link"}).value();
  CHECK(link.type == FileType::kSymlink);
  CHECK(link.link_target == "/etc/passwd");
  CHECK(w.files().stat({"", ""}).value().path == ".");
  CHECK(w.code_of(w.files().stat({"", "none"})) == ErrorCode::kNotFound);
}

TEST_CASE("Files: a time outside of what nanoseconds hold is the nearest", "[unit][agent]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "f", "");
  const timespec times[2] = {{10'000'000'000, 0}, {10'000'000'000, 0}};  // the year 2286
  REQUIRE(::utimensat(AT_FDCWD, (w.workspace() / "f").c_str(), times, 0) == 0);
  const auto modified = w.files().stat({"", "f"}).value().modified;
  CHECK(modified == std::chrono::sys_time<std::chrono::nanoseconds>::max());
}

TEST_CASE("Files: make_directory makes parents with a mode of its own, and only once",
          "[unit][agent]") {
  const WorkspaceFixture w;
  REQUIRE(w.files().make_directory({"", "a/b/c"}));
  REQUIRE(w.files().make_directory({"", "a/b/c"}));
  REQUIRE(w.files().make_directory({"", "a/b/c/"}));
  REQUIRE(w.files().make_directory({"", "/workspace"}));
  CHECK(w.files().stat({"", "a/b"}).value().mode == 0755);
  w.put(w.workspace() / "file", "x");
  const auto taken = w.files().make_directory({"", "file"});
  CHECK(w.code_of(taken) == ErrorCode::kAlreadyExists);
  CHECK(taken.error().message() == "'file' is a file, not a directory");
  CHECK(w.code_of(w.files().make_directory({"", "file/below"})) == ErrorCode::kAlreadyExists);
  fs::create_directory_symlink("/workspace/a", w.workspace() / "link");
  REQUIRE(w.files().make_directory({"", "link/new"}));
  CHECK(fs::is_directory(w.workspace() / "a/new"));
}

TEST_CASE("Files: remove takes a file, a link, an empty directory", "[unit][agent]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "d/f", "x");
  fs::create_symlink(w.outside() / "secret", w.workspace() / "link");
  const auto full = w.files().remove({"", "d"}, false);
  CHECK(w.code_of(full) == ErrorCode::kFailedPrecondition);
  CHECK(full.error().message() == "'d' is a directory with something in it; remove it recursively");
  REQUIRE(w.files().remove({"", "d/f"}, false));
  REQUIRE(w.files().remove({"", "d"}, false));
  REQUIRE(w.files().remove({"", "link"}, true));
  CHECK(w.get(w.outside() / "secret") == "outside");
  CHECK(w.code_of(w.files().remove({"", "d"}, true)) == ErrorCode::kNotFound);
  CHECK(w.names().empty());
}

TEST_CASE("Files: remove refuses the workspace itself, however it is named", "[unit][agent]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "sessions/c1/f", "x");
  for (const std::string path :
       {"", ".", "./", "/workspace", "/workspace/", "sessions/..", "sessions/.", "../workspace"}) {
    INFO(path);
    CHECK(w.code_of(w.files().remove({"", path}, true)) == ErrorCode::kInvalidArgument);
  }
  CHECK(w.code_of(w.files().remove({"sessions/c1", ""}, true)) == ErrorCode::kInvalidArgument);
  CHECK(w.files().remove({"", "/workspace"}, true).error().message() ==
        "/workspace itself cannot be removed");
  CHECK(w.get(w.workspace() / "sessions/c1/f") == "x");
}

TEST_CASE("Files: remove takes a tree with everything but what its links lead to",
          "[unit][agent]") {
  const WorkspaceFixture w;
  for (int i = 0; i < 300; ++i) {
    w.put(w.workspace() / "t" / std::to_string(i % 50) / "x" / std::to_string(i), "x");
  }
  fs::create_directories(w.workspace() / "t/empty/empty");
  fs::create_directory_symlink(w.outside(), w.workspace() / "t/out");
  REQUIRE(::mkfifo((w.workspace() / "t/fifo").c_str(), 0644) == 0);
  REQUIRE(w.files().remove({"", "t/"}, true));
  CHECK(w.names().empty());
  CHECK(w.get(w.outside() / "secret") == "outside");
}

TEST_CASE("Files: sync works on a root that is only a path descriptor", "[unit][agent]") {
  const WorkspaceFixture w;
  CHECK(w.files().sync());
}

TEST_CASE("Files: a listing is sorted by bytes and never follows", "[unit][agent]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "d/b", "12");
  w.put(w.workspace() / "d/B", "");
  w.put(w.workspace() / "d/\xFF", "");
  w.put(w.workspace() / "d/.hidden", "");
  fs::create_directory(w.workspace() / "d/a");
  fs::create_symlink("/etc", w.workspace() / "d/link");
  const auto page = w.files().list({"", "d"}, {}).value();
  std::vector<std::string> names;
  for (const auto& entry : page.entries) names.push_back(entry.path);
  CHECK(names == std::vector<std::string>{".hidden", "B", "a", "b", "link", "\xFF"});
  CHECK(page.next.empty());
  CHECK(page.entries[2].type == FileType::kDirectory);
  CHECK(page.entries[3].size == 2);
  CHECK(page.entries[4].type == FileType::kSymlink);
  CHECK(page.entries[4].link_target == "/etc");
  CHECK(w.code_of(w.files().list({"", "d/b"}, {})) == ErrorCode::kFailedPrecondition);
  CHECK(w.code_of(w.files().list({"", "none"}, {})) == ErrorCode::kNotFound);
}

TEST_CASE("Files: a page has the asked number of entries and says how to go on", "[unit][agent]") {
  const WorkspaceFixture w;
  for (const char* name : {"a", "b", "c", "d"}) w.put(w.workspace() / name, "");
  auto page = w.files().list({"", ""}, {"", 2}).value();
  REQUIRE(page.entries.size() == 2);
  CHECK(page.next == "b");
  fs::remove(w.workspace() / "b");  // a page goes on also where its last entry is gone
  page = w.files().list({"", ""}, {page.next, 2}).value();
  REQUIRE(page.entries.size() == 2);
  CHECK(page.entries[0].path == "c");
  CHECK(page.next.empty());
  CHECK(w.files().list({"", ""}, {"d", 2}).value().entries.empty());
  CHECK(w.code_of(w.files().list({"", ""}, {"", 0})) == ErrorCode::kInvalidArgument);
  CHECK(w.code_of(w.files().list({"", ""}, {"", 10'001})) == ErrorCode::kInvalidArgument);
}

TEST_CASE("Files: 100,000 entries come in pages, each once, and are removed", "[unit][agent]") {
  const WorkspaceFixture w;
  UniqueFd root = make_disk("512m");  // quicker, where it may be had
  if (!root) root = open_directory_at(w.workspace());
  const Files files(UniqueFd(::fcntl(*root, F_DUPFD_CLOEXEC, 0)), "/workspace");
  REQUIRE(files.make_directory({"", "many"}));
  const UniqueFd directory = files.open_directory({"", "many"}).value();
  constexpr std::size_t kCount = 100'000;
  for (std::size_t i = 0; i < kCount; ++i) {
    if (::mknodat(*directory, std::to_string(i).c_str(), S_IFREG | 0644, 0) != 0) FAIL(errno);
  }
  std::size_t seen = 0;
  bool sorted = true;
  std::string last;
  for (std::string after;;) {
    const auto page = files.list({"", "many"}, {after, 10'000}).value();
    for (const auto& entry : page.entries) {
      sorted = sorted && entry.path > last;
      last = entry.path;
    }
    seen += page.entries.size();
    if (page.next.empty()) break;
    after = page.next;
  }
  CHECK(seen == kCount);
  CHECK(sorted);
  REQUIRE(files.remove({"", "many"}, true));
  CHECK(files.list({"", ""}, {}).value().entries.empty());
}
