#include "runtime/assembly/state_directory.hpp"

#include <fstream>

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <cove/cove.hpp>

#include "support/fixtures/agent_fixture.hpp"
#include "support/skip.hpp"
#include "support/trees/scratch_directory.hpp"

using cove::ErrorCode;
using cove::runtime::open_state_directory;
using cove::testing::ScratchDirectory;

namespace {

unsigned mode_of(const std::string& path) {
  struct stat info{};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777U;
}

}  // namespace

TEST_CASE("Cove: a state directory too long for SQLite is refused with the limit and the way out",
          "[unit][runtime]") {
  const cove::test::TemporaryDirectory directory;
  const std::string database = "/metadata.db";
  const auto open_with_path_of = [&](std::size_t bytes) {
    cove::Config config;
    config.state_dir = directory.path();
    while (config.state_dir.size() + 101 < bytes - database.size()) {
      config.state_dir += "/" + std::string(100, 'x');
    }
    const std::size_t rest = bytes - database.size() - config.state_dir.size();
    config.state_dir += "/" + std::string(rest - 1, 'y');
    return cove::Cove::open(config);
  };
  const auto refused = open_with_path_of(501);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kInvalidArgument);
  CHECK(refused.error().message() ==
        "the database's path has 501 bytes, and SQLite takes at most 500: choose a shorter "
        "state_dir, or set metadata.path");
  auto longest = open_with_path_of(500);
  REQUIRE(longest);
  CHECK(longest->close());
}

TEST_CASE("state directory: is made closed to others, with its parents", "[unit][runtime]") {
  const ScratchDirectory scratch;
  const std::string path = scratch / "a/b/state/";
  REQUIRE(open_state_directory(path));
  CHECK(mode_of(path) == 0700);
  CHECK(open_state_directory(path));
}

TEST_CASE("state directory: is refused where others may enter it, and not changed",
          "[unit][runtime]") {
  const ScratchDirectory scratch;
  const std::string path = scratch / "state";
  for (const unsigned mode : {0755U, 0710U, 0701U, 0740U, 01777U}) {
    REQUIRE((::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST));
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    const auto opened = open_state_directory(path);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code() == ErrorCode::kPermissionDenied);
    CHECK(opened.error().message().find("chmod 0700 '" + path + "'") != std::string::npos);
    CHECK(mode_of(path) == mode);
  }
}

TEST_CASE("state directory: is refused where another user owns it", "[unit][runtime]") {
  if (::geteuid() != 0) return cove::test::skip("needs root to give a directory away");
  const ScratchDirectory scratch;
  const std::string path = scratch / "state";
  REQUIRE(::mkdir(path.c_str(), 0700) == 0);
  REQUIRE(::chown(path.c_str(), 12345, 12345) == 0);
  const auto opened = open_state_directory(path);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code() == ErrorCode::kPermissionDenied);
  CHECK(opened.error().message().find("belongs to uid 12345") != std::string::npos);
}

TEST_CASE("state directory: is refused where it is no directory", "[unit][runtime]") {
  const ScratchDirectory scratch;
  const std::string path = scratch / "state";
  std::ofstream(path) << "a file";
  CHECK(open_state_directory(path).error().code() == ErrorCode::kFailedPrecondition);
  const auto below = open_state_directory(path + "/deeper");
  REQUIRE_FALSE(below);
  CHECK(below.error().message().find("'" + path + "/deeper'") != std::string::npos);
}
