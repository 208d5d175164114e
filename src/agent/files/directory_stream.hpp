/// DirectoryStream: reads the names of an open directory.
#pragma once

#include <memory>
#include <string_view>

#include <dirent.h>

#include "base/system/unique_fd.hpp"

namespace cove::agent {

class DirectoryStream {
 public:
  /// Takes over `directory`, open for reading. False afterwards: no memory, errno is set.
  explicit DirectoryStream(base::UniqueFd directory);
  explicit operator bool() const noexcept { return stream_ != nullptr; }

  struct Entry {
    std::string_view name;   ///< valid until the next call; empty = the end, or an error
    unsigned char type = 0;  ///< DT_*; DT_UNKNOWN where the file system does not say
    int error_number = 0;
  };
  /// The next entry but `.` and `..`.
  Entry next();

  /// Starts again with the first.
  void rewind();

  int fd() const;

 private:
  struct Close {
    void operator()(DIR* stream) const noexcept { ::closedir(stream); }
  };
  std::unique_ptr<DIR, Close> stream_;
};

}  // namespace cove::agent
