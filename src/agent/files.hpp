/// File operations of the agent: synchronous, by direct system calls, under the path rule.
///
/// The rule (docs/architecture.md, "Paths"): a relative path starts at the session's directory,
/// `..` is fine while the result stays in /workspace, an absolute path must lie under /workspace,
/// an absolute link target under /workspace is followed inside it, everything else is kPathEscape.
/// Two directories of HOME may be read by their absolute paths and are never changed. The kernel
/// enforces it (openat2, beneath a descriptor of the root); no call here opens anything by a full
/// path. Calls may run on several threads at once; changes of one file happen one after the other.
/// A FIFO, socket or device in the way never hangs a call.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cove/bytes.hpp>
#include <cove/edit.hpp>
#include <cove/files.hpp>
#include <cove/guest.hpp>
#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::agent {

class DirectoryWatch;
class FileLocks;
class LineReader;
struct OpenedPath;
struct Place;
class TreeCopy;
class TreePacker;
class TreeUnpacker;
struct WalkRules;

/// A file that is being written: beside its name, put in its place by commit. Destroyed without
/// commit, it leaves the old file and nothing else.
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

/// What is to be looked through: a file or a directory.
struct SearchedPlace {
  base::UniqueFd fd;    ///< opened to read
  std::string below;    ///< its real path below `root`; empty for the root
  base::UniqueFd root;  ///< of what the path was resolved beneath
  std::string shown;    ///< the path as errors name it
};

/// The user's HOME, of which `.cove/builtin` and `.cove/spill` may be read.
struct Home {
  base::UniqueFd fd;  ///< of the directory; empty = there is none
  std::string path;   ///< how commands name it
};

class Files {
 public:
  /// `root`: a directory descriptor of /workspace, opened to read. `root_path`: how commands name
  /// it
  /// ("/workspace").
  Files(base::UniqueFd root, std::string root_path, Home home = {});
  ~Files();

  /// Opens a directory to run a command in; empty path = the session's directory.
  Result<base::UniqueFd> open_directory(const GuestPath& path) const;

  Result<OpenedFile> open_file(const GuestPath& path, const ReadRange& range) const;

  /// The same without a wait for the disk: none where the kernel does not have all of the path in
  /// memory, where a link is on the way, in HOME, and for every error, which open_file tells.
  std::optional<OpenedFile> open_cached_file(const GuestPath& path, const ReadRange& range) const;

  Result<SearchedPlace> open_searched(const GuestPath& path) const;
  Result<std::unique_ptr<LineReader>> open_lines(const GuestPath& path,
                                                 const LineRange& range) const;
  Result<std::unique_ptr<FileWriter>> begin_write(const GuestPath& path,
                                                  const WriteOptions& options) const;
  Result<EditResult> edit(const GuestPath& path, const std::vector<Edit>& edits,
                          const EditOptions& options) const;
  Result<FileInfo> stat(const GuestPath& path) const;
  Result<FilePage> list(const GuestPath& path, const ListOptions& options) const;
  Result<void> make_directory(const GuestPath& path) const;
  Result<void> remove(const GuestPath& path, bool recursive) const;
  Result<FileInfo> move(const GuestPath& from, const GuestPath& to,
                        const MoveOptions& options) const;
  Result<std::unique_ptr<TreeCopy>> begin_copy(const GuestPath& from, const GuestPath& to,
                                               const CopyOptions& options) const;
  Result<FileInfo> set_mode(const GuestPath& path, std::uint32_t mode) const;
  Result<FileInfo> make_symlink(const GuestPath& path, const std::string& target) const;
  Result<std::unique_ptr<TreePacker>> begin_pack(const GuestPath& path) const;
  Result<std::unique_ptr<TreeUnpacker>> begin_unpack(const GuestPath& path) const;
  Result<std::unique_ptr<DirectoryWatch>> begin_watch(const GuestPath& path,
                                                      const WatchOptions& options) const;
  Result<void> sync() const;

 private:
  class Scope;

  /// Where `path` is resolved: in the workspace, or in what may be read of HOME.
  Result<Scope> scope_of(const GuestPath& path) const;

  static Result<OpenedFile> opened_file(const Scope& scope, OpenedPath opened,
                                        const ReadRange& range);

  /// kPermissionDenied: a path in what may only be read.
  Result<void> check_writable(const GuestPath& path) const;

  Result<Place> locate_file(const GuestPath& path, const WalkRules& rules) const;
  Result<Place> locate_entry(const GuestPath& path, const WalkRules& rules,
                             const std::string& use) const;
  std::string shown(const GuestPath& path) const;

  base::UniqueFd root_;
  std::string root_path_;
  Home home_;
  std::unique_ptr<FileLocks> locks_;
};

}  // namespace cove::agent
