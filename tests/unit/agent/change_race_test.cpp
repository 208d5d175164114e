// What a program inside can do while the agent changes files: swap names as fast as it can.
#include <atomic>
#include <thread>

#include <sys/stat.h>

#include "agent/trees/tree_copy.hpp"
#include "agent/trees/tree_unpacker.hpp"
#include "base/tar/tar_reader.hpp"
#include "unit/agent/workspace_fixture.hpp"

using namespace cove;
using namespace cove::agent;
using cove::agent::testing::bytes_of;
using cove::agent::testing::WorkspaceFixture;
namespace fs = std::filesystem;

namespace {

constexpr int kTries = 1'000;

/// Swaps a directory with a link out, until it ends.
class Swapper {
 public:
  explicit Swapper(const WorkspaceFixture& w) {
    fs::create_directories(w.workspace() / "a/d");
    w.put(w.workspace() / "a/d/file", "inside");
    fs::create_directory_symlink(w.outside(), w.workspace() / "a/link");
    w.put(w.outside() / "file", "outside");
    thread_ = std::thread([this, one = w.workspace() / "a/d", other = w.workspace() / "a/link"] {
      while (!stop_) {
        ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
      }
    });
  }
  Swapper(const Swapper&) = delete;
  Swapper& operator=(const Swapper&) = delete;
  ~Swapper() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

/// Every refusal that a swap at the wrong moment may cause.
bool is_fair(ErrorCode code) {
  return code == ErrorCode::kPathEscape || code == ErrorCode::kConflict ||
         code == ErrorCode::kNotFound || code == ErrorCode::kFailedPrecondition ||
         code == ErrorCode::kAlreadyExists || code == ErrorCode::kInvalidArgument;
}

template <class T>
void check(const Result<T>& result) {
  if (!result) REQUIRE(is_fair(result.error().code()));
}

/// What lies outside is as it was.
void check_outside(const WorkspaceFixture& w) {
  CHECK(w.get(w.outside() / "file") == "outside");
  CHECK(w.get(w.outside() / "secret") == "outside");
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(w.outside())) ++entries;
  CHECK(entries == 2);
}

}  // namespace

TEST_CASE("Path race: edits, appends, modes and links never reach what a swapped link leads to",
          "[unit][agent][threads][security][pain-65]") {
  const WorkspaceFixture w;
  {
    const Swapper swapper(w);
    for (int i = 0; i < kTries; ++i) {
      check(w.files().edit({"", "a/d/file"}, {{"outside", "broken"}}, {}));
      check(w.files().edit({"", "a/d/file"}, {{"inside", "inside"}}, {}));
      check(w.write("a/d/file", "", {.append = true}));
      check(w.files().make_symlink({"", "a/d/new" + std::to_string(i)}, "x"));
      check(w.files().set_mode({"", "a/d/secret"}, 0777));
    }
  }
  check_outside(w);
  struct stat facts{};
  REQUIRE(::stat((w.outside() / "secret").c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777U) != 0777U);
}

TEST_CASE("Path race: moves and copies never go out through a swapped link, in or out",
          "[unit][agent][threads][security][pain-65]") {
  const WorkspaceFixture w;
  {
    const Swapper swapper(w);
    for (int i = 0; i < kTries; ++i) {
      const std::string mine = "mine" + std::to_string(i);
      check(w.files().move({"", "a/d/secret"}, {"", mine}, {}));
      REQUIRE_FALSE(fs::exists(w.workspace() / mine));
      w.put(w.workspace() / "x", "");
      check(w.files().move({"", "x"}, {"", "a/d/" + mine}, {}));
      const auto copying = w.files().begin_copy({"", "a/d"}, {"", mine}, {});
      check(copying);
      if (copying) check((*copying)->step());
      // A copy of the link itself is fine; what it leads to is not copied.
      if (fs::is_directory(fs::symlink_status(w.workspace() / mine))) {
        REQUIRE_FALSE(fs::exists(w.workspace() / mine / "secret"));
      }
    }
  }
  check_outside(w);
}

TEST_CASE("Path race: an archive is not placed through a link that comes meanwhile [pain-70]",
          "[unit][agent][threads][security][pain-65]") {
  const WorkspaceFixture w;
  std::string archive;
  for (int i = 0; i < 20; ++i) {
    base::append_tar_header(archive, {.path = "d/new" + std::to_string(i), .mode = 0644});
    base::append_tar_header(archive, {.path = "e/new", .mode = 0644});
  }
  archive.append(1024, '\0');
  {
    const Swapper swapper(w);
    for (int i = 0; i < 200; ++i) {
      const auto unpacker = w.files().begin_unpack({"", "a"});
      check(unpacker);
      if (!unpacker) continue;
      const auto fed = (*unpacker)->feed(bytes_of(archive));
      check(fed);
      if (fed) check((*unpacker)->finish());
    }
  }
  check_outside(w);
}
