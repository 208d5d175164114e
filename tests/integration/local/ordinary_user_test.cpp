// Root runs the cases tagged [any-user] once more as an ordinary user.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/local_fixture.hpp"

namespace fs = std::filesystem;

TEST_CASE("Local provider: everything holds for an ordinary user too", "[integration][local]") {
  if (!cove::test::is_root()) {
    WARN("skipped: this run is an ordinary user's already");
    return;
  }
  if (!fs::exists("/usr/bin/setpriv")) {
    WARN("skipped: setpriv is not installed (apt install util-linux)");
    return;
  }
  constexpr unsigned kUser = 61'234;
  const cove::test::TemporaryDirectory directory;
  const std::string binary = directory.path() + "/tests";
  fs::copy_file(fs::read_symlink("/proc/self/exe"), binary);
  REQUIRE(::chmod(binary.c_str(), 0755) == 0);
  REQUIRE(::chown(directory.path().c_str(), kUser, kUser) == 0);
  const std::string id = std::to_string(kUser);
  const std::string output = directory.path() + "/output";
  const std::string command = "TMPDIR=" + directory.path() + " setpriv --reuid=" + id +
                              " --regid=" + id + " --clear-groups " + binary + " '[any-user]' > " +
                              output + " 2>&1";
  const int status = std::system(command.c_str());
  std::ifstream file(output);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  INFO(text);
  CHECK(status == 0);
  CHECK(text.find("All tests passed") != std::string::npos);
}
