#include <algorithm>
#include <thread>

#include <sys/stat.h>

#include "unit/agent/workspace_fixture.hpp"

using cove::ErrorCode;
using cove::FileType;
using cove::agent::testing::WorkspaceFixture;
namespace fs = std::filesystem;

TEST_CASE("Path rule: relative paths start at the session's directory", "[unit][agent]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "sessions/c1/note.txt", "one");
  fs::create_directories(w.workspace() / "sessions/c2");
  CHECK(w.read("note.txt", "sessions/c1").value() == "one");
  CHECK(w.read("../c1/note.txt", "sessions/c2").value() == "one");
  CHECK(w.read("./..//c1/./note.txt", "sessions/c2").value() == "one");
  CHECK(w.read("/workspace/sessions/c1/note.txt", "sessions/c2").value() == "one");
  CHECK(w.read("//workspace//sessions/c1/note.txt").value() == "one");
}

TEST_CASE("Path rule: a missing session is named, and nothing is made", "[unit][agent]") {
  const WorkspaceFixture w;
  const auto read = w.read("../c1/note.txt", "sessions/c2");
  CHECK(w.code_of(read) == ErrorCode::kNotFound);
  CHECK(read.error().message() ==
        "the session's directory '/workspace/sessions/c2' does not exist");
  const auto made = w.files().make_directory({"sessions/c2", "data"});
  CHECK(w.code_of(made) == ErrorCode::kNotFound);
  const auto written = w.files().begin_write({"sessions/c2", "a.txt"}, {});
  CHECK(w.code_of(written) == ErrorCode::kNotFound);
  CHECK(w.names().empty());
}

TEST_CASE("Path rule: a way out is refused in every form", "[unit][agent][security][pain-65]") {
  const WorkspaceFixture w;
  fs::create_directories(w.workspace() / "sessions/c1");
  for (const std::string path :
       {"..", "../outside/secret", "../../etc/passwd", "/etc/passwd", "/", "/workspacex/a",
        "/workspace/../outside/secret", "sessions/../../outside/secret", "/workspace/..",
        "../../../../../../etc/passwd", "../workspacex"}) {
    INFO(path);
    CHECK(w.code_of(w.read(path)) == ErrorCode::kPathEscape);
    CHECK(w.code_of(w.files().stat({"", path})) == ErrorCode::kPathEscape);
    CHECK(w.code_of(w.files().list({"", path}, {})) == ErrorCode::kPathEscape);
    CHECK(w.code_of(w.files().begin_write({"", path}, {})) == ErrorCode::kPathEscape);
    CHECK(w.code_of(w.files().begin_write({"", path + "/"}, {})) == ErrorCode::kPathEscape);
    CHECK(w.code_of(w.files().make_directory({"", path})) == ErrorCode::kPathEscape);
    CHECK(w.code_of(w.files().remove({"", path}, true)) == ErrorCode::kPathEscape);
    CHECK(w.code_of(w.files().open_directory({"", path})) == ErrorCode::kPathEscape);
  }
  CHECK(w.read("../../etc/passwd").error().message() ==
        "'../../etc/passwd' leads out of /workspace");
  CHECK(w.get(w.outside() / "secret") == "outside");
}

TEST_CASE("Path rule: a path that leaves by name and comes back is fine", "[unit][agent]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "a.txt", "inside");
  fs::create_directories(w.workspace() / "sessions/c1");
  CHECK(w.read("../../../workspace/a.txt", "sessions/c1").value() == "inside");
  CHECK(w.read("/../workspace/a.txt").value() == "inside");
  CHECK(w.read("/workspace/../workspace/a.txt").value() == "inside");
}

TEST_CASE("Path rule: links are followed inside the workspace only",
          "[unit][agent][security][pain-65]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "data/a.txt", "inside");
  w.put(w.outside() / "a.txt", "outside");
  fs::create_directory_symlink("/workspace/data", w.workspace() / "absolute");
  fs::create_directory_symlink("data", w.workspace() / "relative");
  fs::create_symlink("../../workspace/data/a.txt", w.workspace() / "data/around");
  CHECK(w.read("absolute/a.txt").value() == "inside");
  CHECK(w.read("relative/a.txt").value() == "inside");
  CHECK(w.read("relative/../data/a.txt").value() == "inside");
  CHECK(w.read("data/around").value() == "inside");
  CHECK(w.files().stat({"", "absolute/a.txt"}).value().path == "data/a.txt");

  fs::create_directory_symlink(w.outside(), w.workspace() / "out");
  fs::create_directory_symlink("../outside", w.workspace() / "out2");
  fs::create_directory_symlink("/", w.workspace() / "top");
  for (const std::string path : {"out/a.txt", "out2/a.txt", "top/etc/passwd", "out/", "out"}) {
    INFO(path);
    CHECK(w.code_of(w.read(path)) == ErrorCode::kPathEscape);
    CHECK(w.code_of(w.files().begin_write({"", path}, {})) == ErrorCode::kPathEscape);
    CHECK(w.code_of(w.files().list({"", path}, {})) == ErrorCode::kPathEscape);
    CHECK(w.code_of(w.files().make_directory({"", path})) == ErrorCode::kPathEscape);
  }
  CHECK(w.code_of(w.files().remove({"", "out/a.txt"}, true)) == ErrorCode::kPathEscape);
  CHECK(w.read("top/workspace/data/a.txt").value() == "inside");
  CHECK(w.get(w.outside() / "a.txt") == "outside");
}

TEST_CASE("Path rule: links of /proc lead nowhere", "[unit][agent][security]") {
  const WorkspaceFixture w;
  fs::create_symlink("/proc/self/root", w.workspace() / "root");
  fs::create_symlink("/proc/self/cwd", w.workspace() / "cwd");
  CHECK(w.code_of(w.read("root/etc/passwd")) == ErrorCode::kPathEscape);
  CHECK(w.code_of(w.files().open_directory({"", "cwd"})) == ErrorCode::kPathEscape);
  // Where a /proc lies in the workspace, what its links lead to is judged by their text.
  const cove::agent::Files machine(cove::agent::testing::open_directory_at("/"), "/workspace");
  CHECK(w.code_of(machine.open_file({"", "proc/self/root/etc/passwd"}, {})) ==
        ErrorCode::kPathEscape);
}

TEST_CASE("Path rule: a loop of links ends", "[unit][agent]") {
  const WorkspaceFixture w;
  fs::create_symlink("b", w.workspace() / "a");
  fs::create_symlink("/workspace/a", w.workspace() / "b");
  const auto read = w.read("a");
  CHECK(w.code_of(read) == ErrorCode::kInvalidArgument);
  CHECK(read.error().message() == "'a' goes through more than 40 links");
}

TEST_CASE("Path rule: names are bytes, up to 255 of them", "[unit][agent]") {
  const WorkspaceFixture w;
  for (const std::string& name :
       {std::string("\xFF\xFE"), std::string("a\nb"), std::string("\\'\""),
        std::string("\xE6\x95\xB0"), std::string(255, 'n')}) {
    REQUIRE(w.write("d/" + name, name));
    CHECK(w.read("d/" + name).value() == name);
    const auto page = w.files().list({"", "d"}, {}).value();
    REQUIRE(page.entries.size() == 1);
    CHECK(page.entries[0].path == name);
    REQUIRE(w.files().remove({"", "d/" + name}, false));
  }
  CHECK(w.code_of(w.read(std::string(256, 'n'))) == ErrorCode::kInvalidArgument);
  CHECK(w.code_of(w.write(std::string(256, 'n'), "")) == ErrorCode::kInvalidArgument);
  CHECK(w.code_of(w.read(std::string("a\0b", 3))) == ErrorCode::kInvalidArgument);
  CHECK(w.read("a\n\xFF\x1B[31m").error().message() == "'a\\n\\xff\\x1b[31m' does not exist");
}

TEST_CASE("Path rule: a slash at the end wants a directory", "[unit][agent]") {
  const WorkspaceFixture w;
  w.put(w.workspace() / "d/file", "x");
  fs::create_directory_symlink("d", w.workspace() / "link");
  CHECK(w.files().stat({"", "d/"}).value().path == "d");
  CHECK(w.files().stat({"", "link"}).value().type == FileType::kSymlink);
  CHECK(w.files().stat({"", "link/"}).value().type == FileType::kDirectory);
  const auto file = w.files().stat({"", "d/file/"});
  CHECK(w.code_of(file) == ErrorCode::kFailedPrecondition);
  CHECK(file.error().message() == "'d/file' is a file, not a directory");
  CHECK(w.code_of(w.read("d/file/")) == ErrorCode::kFailedPrecondition);
  CHECK(w.code_of(w.files().begin_write({"", "d/new/"}, {})) == ErrorCode::kFailedPrecondition);
  CHECK(w.code_of(w.files().remove({"", "d/file/"}, false)) == ErrorCode::kFailedPrecondition);
  CHECK(w.code_of(w.files().remove({"", "link/"}, true)) == ErrorCode::kFailedPrecondition);
  CHECK(w.get(w.workspace() / "d/file") == "x");
}

TEST_CASE("Path rule: paths longer than PATH_MAX work, with few descriptors", "[unit][agent]") {
  const WorkspaceFixture w;
  std::string deep;
  for (int i = 0; i < 1500; ++i) deep += "level" + std::to_string(i % 10) + "/";
  REQUIRE(deep.size() > 2 * 4096);
  REQUIRE(w.files().make_directory({"", deep}));
  REQUIRE(w.write(deep + "end.txt", "deep"));
  CHECK(w.read(deep + "end.txt").value() == "deep");
  CHECK(w.read("/workspace/" + deep + "end.txt").value() == "deep");
  CHECK(w.files().stat({"", deep + "end.txt"}).value().path == deep + "end.txt");
  CHECK(w.files().list({"", deep}, {}).value().entries.size() == 1);
  // Back up past every descriptor that is kept, and down again.
  std::string around = deep;
  for (int i = 0; i < 1000; ++i) around += "../";
  for (int i = 1000; i > 0; --i) around += "level" + std::to_string((1500 - i) % 10) + "/";
  CHECK(w.read(around + "end.txt").value() == "deep");
  std::string out = deep;
  for (int i = 0; i < 1501; ++i) out += "../";
  CHECK(w.code_of(w.read(out + "outside/secret")) == ErrorCode::kPathEscape);
  REQUIRE(w.files().remove({"", "level0"}, true));
  CHECK(w.names().empty());
}

TEST_CASE("Path rule: a directory to run in may be the session, or any other", "[unit][agent]") {
  const WorkspaceFixture w;
  fs::create_directories(w.workspace() / "sessions/c1");
  const auto session = w.files().open_directory({"sessions/c1", ""});
  REQUIRE(session);
  struct stat a{};
  struct stat b{};
  REQUIRE(::fstat(**session, &a) == 0);
  REQUIRE(::stat((w.workspace() / "sessions/c1").c_str(), &b) == 0);
  CHECK(a.st_ino == b.st_ino);
  CHECK(w.files().open_directory({"sessions/c1", "/workspace"}));
  w.put(w.workspace() / "file", "");
  const auto file = w.files().open_directory({"", "file"});
  CHECK(w.code_of(file) == ErrorCode::kFailedPrecondition);
  CHECK(file.error().message() == "'file' is a file, not a directory");
}
