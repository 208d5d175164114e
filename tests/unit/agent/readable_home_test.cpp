// $HOME/.cove/builtin and $HOME/.cove/spill: read, never changed.
#include <catch2/catch.hpp>

#include "agent/files/line_reader.hpp"
#include "agent/trees/tree_copy.hpp"
#include "agent/trees/tree_packer.hpp"
#include "agent/trees/tree_unpacker.hpp"
#include "unit/agent/workspace_fixture.hpp"

using namespace cove;
using namespace cove::agent;
namespace fs = std::filesystem;
using cove::agent::testing::open_directory_at;
using cove::agent::testing::WorkspaceFixture;

namespace {

/// A workspace, and beside it a HOME.
class HomeFixture : public WorkspaceFixture {
 public:
  HomeFixture()
      : home(make_home()),
        files(open_directory_at(workspace()), "/workspace",
              Home{open_directory_at(home), "/home/sandbox"}) {
    put(home / ".cove/builtin/pdf/SKILL.md", "skill\n");
    put(home / ".cove/spill/out-1", "output\n");
    put(home / ".cove/state.json", "{}");
    put(home / ".ssh/id", "key");
  }

  Result<std::string> read(const std::string& path) const {
    COVE_TRY(const OpenedFile file, files.open_file({"", path}, {}));
    return cove::agent::testing::text_of(*file.fd);
  }

  fs::path home;
  Files files;

 private:
  fs::path make_home() const {
    fs::create_directories(outside() / "home");
    return outside() / "home";
  }
};

}  // namespace

TEST_CASE("Home: builtin skills and spilled output are read by absolute paths",
          "[unit][agent][files]") {
  const HomeFixture h;
  CHECK(h.read("/home/sandbox/.cove/builtin/pdf/SKILL.md").value() == "skill\n");
  CHECK(h.read("/home//sandbox/./.cove/spill/out-1").value() == "output\n");
  const auto info = h.files.stat({"s", "/home/sandbox/.cove/builtin/pdf"}).value();
  CHECK(info.path == "/home/sandbox/.cove/builtin/pdf");
  CHECK(h.files.stat({"", "/home/sandbox/.cove/builtin"}).value().path ==
        "/home/sandbox/.cove/builtin");
  const auto page = h.files.list({"", "/home/sandbox/.cove/builtin"}, {.depth = 0}).value();
  REQUIRE(page.entries.size() == 2);
  CHECK(page.entries[1].path == "pdf/SKILL.md");
  CHECK(h.files.open_lines({"", "/home/sandbox/.cove/spill/out-1"}, {}));
  CHECK(h.files.begin_pack({"", "/home/sandbox/.cove/builtin"}));
  const auto copy = h.files.begin_copy({"", "/home/sandbox/.cove/builtin/pdf"}, {"", "pdf"}, {});
  REQUIRE(copy);
}

TEST_CASE("Home: what may be read is never changed", "[unit][agent][files]") {
  const HomeFixture h;
  const GuestPath skill{"", "/home/sandbox/.cove/builtin/pdf/SKILL.md"};
  const GuestPath fresh{"", "/home/sandbox/.cove/spill/new"};
  const GuestPath inside{"", "x"};
  const auto denied = [&](const auto& result) {
    CHECK(h.code_of(result) == ErrorCode::kPermissionDenied);
  };
  denied(h.files.begin_write(skill, {}));
  denied(h.files.begin_write(fresh, {.append = true}));
  denied(h.files.edit(skill, {{"skill", "x"}}, {}));
  denied(h.files.make_directory(fresh));
  denied(h.files.remove(skill, true));
  denied(h.files.move(skill, inside, {}));
  denied(h.files.begin_copy(skill, fresh, {}));
  denied(h.files.set_mode(skill, 0777));
  denied(h.files.make_symlink(fresh, "x"));
  denied(h.files.begin_unpack({"", "/home/sandbox/.cove/builtin"}));
  h.put(h.workspace() / "x", "");
  denied(h.files.move(inside, fresh, {}));
  CHECK(h.get(h.home / ".cove/builtin/pdf/SKILL.md") == "skill\n");
}

TEST_CASE("Home: nothing else of it is reached, and no link is a way", "[unit][agent][files]") {
  const HomeFixture h;
  for (const char* path :
       {"/home/sandbox/.ssh/id", "/home/sandbox/.cove/state.json", "/home/sandbox/.cove",
        "/home/sandbox/.cove/builtin/../state.json", "/home/sandbox/.cove/builtinx",
        "~/.cove/builtin/pdf/SKILL.md", "../home/sandbox/.cove/builtin/pdf/SKILL.md"}) {
    const auto code = h.code_of(h.read(path));
    CHECK((code == ErrorCode::kPathEscape || code == ErrorCode::kNotFound));
  }
  CHECK(h.code_of(h.read("/home/sandbox/.cove/builtin/../state.json")) == ErrorCode::kPathEscape);
  fs::create_symlink("../../.ssh/id", h.home / ".cove/builtin/key");
  CHECK(h.code_of(h.read("/home/sandbox/.cove/builtin/key")) == ErrorCode::kPathEscape);
  fs::create_symlink("pdf/SKILL.md", h.home / ".cove/builtin/short");
  CHECK(h.read("/home/sandbox/.cove/builtin/short").value() == "skill\n");
  fs::remove_all(h.home / ".cove/spill");
  CHECK(h.code_of(h.read("/home/sandbox/.cove/spill/out-1")) == ErrorCode::kNotFound);
  fs::create_directory_symlink("../.ssh", h.home / ".cove/spill");
  CHECK(h.code_of(h.read("/home/sandbox/.cove/spill/id")) == ErrorCode::kPathEscape);
}
