/// ScratchTree: a directory of one test, removed with it however deep it is.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <spawn.h>
#include <sys/wait.h>

namespace cove::test {

class ScratchTree {
 public:
  ScratchTree() : path_((std::filesystem::temp_directory_path() / "cove-test-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), "mkdtemp");
    }
  }
  ~ScratchTree() {
    // Not std::filesystem: it cannot remove what lies deeper than PATH_MAX.
    std::string program = "rm";
    std::string flags = "-rf";
    char* arguments[] = {program.data(), flags.data(), path_.data(), nullptr};
    pid_t child = 0;
    if (::posix_spawnp(&child, "rm", nullptr, nullptr, arguments, environ) == 0) {
      ::waitpid(child, nullptr, 0);
    }
  }
  ScratchTree(const ScratchTree&) = delete;
  ScratchTree& operator=(const ScratchTree&) = delete;

  const std::string& path() const { return path_; }
  std::string path(const std::string& below) const { return path_ + "/" + below; }

 private:
  std::string path_;
};

}  // namespace cove::test
