/// What a guest does with files: the part of the seam guest.hpp that reads and changes a workspace.
#pragma once

#include <memory>
#include <string>

#include <cove/bytes.hpp>
#include <cove/files.hpp>

namespace cove {

/// A path as the guest resolves it: `path` seen from the directory `session`, which is relative to
/// /workspace and empty for /workspace itself.
struct GuestPath {
  std::string session;
  std::string path;
};

class GuestFiles {
 public:
  virtual ~GuestFiles() = default;

  /// Opens a file for reading. Errors: kNotFound; kPathEscape; kPermissionDenied;
  /// kFailedPrecondition - a directory, FIFO, socket or device.
  virtual Task<Result<std::unique_ptr<ByteSource>>> read_file(const GuestPath& path,
                                                              const ReadRange& range,
                                                              const CallContext& call) = 0;

  /// Creates or replaces a file by a rename: a reader sees the old or the new one, and on any error
  /// the old one is as it was. Errors: as read_file; kQuotaExceeded - the disk is full.
  virtual Task<Result<FileInfo>> write_file(const GuestPath& path, ByteSource& content,
                                            const WriteOptions& options,
                                            const CallContext& call) = 0;

  /// What the path itself is; a link at the end is not followed.
  virtual Task<Result<FileInfo>> stat(const GuestPath& path, const CallContext& call) = 0;

  /// A page of a directory. Errors: kNotFound; kPathEscape; kFailedPrecondition - no directory.
  virtual Task<Result<FilePage>> list(const GuestPath& path, const ListOptions& options,
                                      const CallContext& call) = 0;

  /// Makes a directory and its missing parents; success where it is there.
  /// kAlreadyExists: something else has the name.
  virtual Task<Result<void>> make_directory(const GuestPath& path, const CallContext& call) = 0;

  /// Removes a file, a link or an empty directory; a whole tree with `recursive`. /workspace itself
  /// is refused with kInvalidArgument. kNotFound where nothing is there.
  virtual Task<Result<void>> remove(const GuestPath& path, bool recursive,
                                    const CallContext& call) = 0;
};

}  // namespace cove
