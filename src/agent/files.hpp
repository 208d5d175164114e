/// File operations of the agent: synchronous, by direct system calls, under the path rule.
///
/// The rule (docs/architecture.md, "Paths"): a relative path starts at the session's directory,
/// `..` is fine while the result stays in /workspace, an absolute path must lie under /workspace,
/// an absolute link target under /workspace is followed inside it, everything else is kPathEscape.
/// The kernel enforces it (openat2, beneath a descriptor of /workspace); no call here opens
/// anything by a full path. Calls may run on several threads at once. A FIFO, socket or device in
/// the way never hangs a call.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <cove/bytes.hpp>
#include <cove/files.hpp>
#include <cove/guest.hpp>
#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::agent {

/// A file that is being replaced: written beside its name, put in its place by commit. Destroyed
/// without commit, it leaves the old file and nothing else.
class FileWriter {
 public:
  virtual ~FileWriter() = default;
  virtual Result<void> write(ByteView bytes) = 0;
  virtual Result<FileInfo> commit() = 0;
};

struct OpenedFile {
  base::UniqueFd fd;  ///< positioned at the range's start
  FileInfo info;
  std::uint64_t length = 0;  ///< bytes of the range that are there now
};

class Files {
 public:
  /// `root`: a directory descriptor of /workspace. `root_path`: how commands name it
  /// ("/workspace").
  Files(base::UniqueFd root, std::string root_path);

  /// Opens a directory to run a command in; empty path = the session's directory.
  Result<base::UniqueFd> open_directory(const GuestPath& path) const;

  Result<OpenedFile> open_file(const GuestPath& path, const ReadRange& range) const;
  Result<std::unique_ptr<FileWriter>> begin_write(const GuestPath& path,
                                                  const WriteOptions& options) const;
  Result<FileInfo> stat(const GuestPath& path) const;
  Result<FilePage> list(const GuestPath& path, const ListOptions& options) const;
  Result<void> make_directory(const GuestPath& path) const;
  Result<void> remove(const GuestPath& path, bool recursive) const;
  Result<void> sync() const;

 private:
  base::UniqueFd root_;
  std::string root_path_;
};

}  // namespace cove::agent
