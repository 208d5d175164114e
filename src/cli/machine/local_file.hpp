/// Files of this machine that `put` reads and `get` writes.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include <cove/bytes.hpp>
#include <cove/call_context.hpp>
#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::cli {

/// Opens a file for reading, never waiting for a FIFO's writer; "-" is stdin. kFailedPrecondition:
/// a directory.
Result<base::UniqueFd> open_local(const std::string& path);

/// The next piece of an open file, 256 KiB at most; empty = the end. kCancelled, kTimeout: the call
/// ended while it waited.
Result<Bytes> read_piece(int fd, const std::string& shown, const CallContext& call);

/// All that is left of an open file. kTooLarge: more than `limit`.
Result<std::string> read_all(int fd, const std::string& shown, std::size_t limit,
                             const CallContext& call);

/// A file of this machine that appears whole, by commit, or not at all. What is there and is no
/// regular file (a terminal, a pipe) is written to as it is.
class LocalFile {
 public:
  /// Where `path` is a directory, or ends with a slash, the file is `name` in it. A link is
  /// followed and stays. kFailedPrecondition: it leads to nothing, or nobody reads from the pipe.
  static Result<LocalFile> create(const std::string& path, const std::string& name);

  LocalFile(LocalFile&& other) noexcept;
  LocalFile& operator=(LocalFile&&) = delete;
  ~LocalFile();

  Result<void> write(ByteView bytes);
  Result<void> commit();
  const std::string& path() const noexcept { return path_; }

 private:
  LocalFile(base::UniqueFd fd, std::string path, std::string temporary)
      : fd_(std::move(fd)), path_(std::move(path)), temporary_(std::move(temporary)) {}

  base::UniqueFd fd_;
  std::string path_;
  std::string temporary_;  // empty = none, or committed
};

/// What follows the last slash of a path, trailing slashes aside.
std::string last_name(const std::string& path);

}  // namespace cove::cli
