/// A file server with nothing around it: one process behind a Unix socket that reads and replaces
/// files of 4 KiB by the system calls that an agent needs for the same.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>

#include <sys/types.h>

namespace bench {

using Page = std::array<char, 4096>;

/// To be made while the process has one thread: it forks. The destructor ends the server.
class BareFiles {
 public:
  /// Serves `note` in `directory`, which is made.
  explicit BareFiles(const std::filesystem::path& directory);
  ~BareFiles();
  BareFiles(const BareFiles&) = delete;
  BareFiles& operator=(const BareFiles&) = delete;

  bool write(const Page& page);
  bool read(Page& page);

 private:
  int socket_ = -1;
  pid_t server_ = -1;
};

}  // namespace bench
