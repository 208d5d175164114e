/// What a guest does with files: the part of the seam guest.hpp that reads and changes a workspace.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <cove/bytes.hpp>
#include <cove/edit.hpp>
#include <cove/file_watch.hpp>
#include <cove/files.hpp>

namespace cove {

/// Beneath what a path is resolved; nothing leads from one to the other.
enum class GuestRoot : std::uint8_t {
  kWorkspace = 0,
  kHome = 1,  ///< the sandbox's HOME: for Cove's own parts, never for what a model or user names
};

/// A path as the guest resolves it: `path` seen from the directory `session`, which is relative to
/// the root and empty for the root itself. An absolute path names the root as commands do.
struct GuestPath {
  std::string session;
  std::string path;
  GuestRoot root = GuestRoot::kWorkspace;
};

/// A file that is being read.
struct GuestFile {
  FileInfo info;
  std::string content_type;  ///< as of FileContent
  std::uint64_t length = 0;  ///< bytes of the range that are there now
  std::unique_ptr<ByteSource> content;
};

/// A directory that is being watched. One reader at a time.
class GuestWatch {
 public:
  /// Ends the watch.
  virtual ~GuestWatch() = default;

  /// Gives the next events, at least one. Events that nobody fetches wait, and become kOverflow
  /// when they are too many. kNotFound: the watched directory is gone. Cancellation: nothing
  /// happened.
  virtual Task<Result<std::vector<FileEvent>>> next(const CallContext& call) = 0;
};

/// Every call may also fail with kNotFound, kPathEscape, kPermissionDenied, kInvalidArgument (a
/// name of more than 255 bytes, a NUL; a move or copy from one root to the other), kUnsupported (an
/// older agent has no kHome) and, where it writes, kQuotaExceeded (the disk is full).
/// Writes, edits and moves of one file that go through the guest happen one after the other.
class GuestFiles {
 public:
  virtual ~GuestFiles() = default;

  /// Opens a file for reading. kFailedPrecondition: a directory, FIFO, socket or device.
  virtual Task<Result<GuestFile>> read_file(const GuestPath& path, const ReadRange& range,
                                            const CallContext& call) = 0;

  /// Reads lines without reading the file into memory; see LineSlice. Errors: as read_file.
  virtual Task<Result<LineSlice>> read_lines(const GuestPath& path, const LineRange& range,
                                             const CallContext& call) = 0;

  /// Creates or replaces a file by a rename: a reader sees the old or the new one, and on any error
  /// the old one is as it was. Errors: as read_file; kConflict, kAlreadyExists - as the options
  /// say; kTooLarge - more to append than goes at once.
  virtual Task<Result<FileInfo>> write_file(const GuestPath& path, ByteSource& content,
                                            const WriteOptions& options,
                                            const CallContext& call) = 0;

  /// Replaces texts in a file, in order, all or none, by a rename that keeps the mode. Where one of
  /// several edits fails, the error's context `edit` is its number from 1. Errors: as read_file;
  /// kFailedPrecondition - an old text is not there (the message shows the nearest lines);
  /// kInvalidArgument - it is there more than once (the message has the line numbers), or empty;
  /// kConflict - the file changed; kTooLarge - a file of more than 64 MiB, 16 MiB of texts, or
  /// 1,000 edits.
  virtual Task<Result<EditResult>> edit_file(const GuestPath& path, const std::vector<Edit>& edits,
                                             const EditOptions& options,
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

  /// Renames: `to` is the new path itself, never a directory to move into. Links are moved, not
  /// followed. Errors: kAlreadyExists - `to` is taken; kFailedPrecondition - by a directory with
  /// something in it, or by another kind; kInvalidArgument - a directory into itself.
  virtual Task<Result<FileInfo>> move(const GuestPath& from, const GuestPath& to,
                                      const MoveOptions& options, const CallContext& call) = 0;

  /// Copies a file, a link itself or a whole tree to the new path `to`, with modes, times, hard
  /// links within the tree and holes. `to` appears whole at the end; an error leaves nothing of it.
  /// Errors: as move.
  virtual Task<Result<TreeCounts>> copy(const GuestPath& from, const GuestPath& to,
                                        const CopyOptions& options, const CallContext& call) = 0;

  /// Sets the permission bits, 0 to 07777, of what the path names; a link at the end is followed.
  virtual Task<Result<FileInfo>> set_mode(const GuestPath& path, std::uint32_t mode,
                                          const CallContext& call) = 0;

  /// Makes a symlink with `target` as given, wherever it leads: the path rule holds when it is
  /// followed. kAlreadyExists: the name is taken.
  virtual Task<Result<FileInfo>> make_symlink(const GuestPath& path, const std::string& target,
                                              const CallContext& call) = 0;

  /// Gives a directory and all below it as a tar stream (pax): files, directories, symlinks and
  /// hard links within it, with modes, mtimes and names as bytes; FIFOs, sockets and devices are
  /// left out. A file that changes meanwhile is cut or filled to the size it had.
  virtual Task<Result<std::unique_ptr<ByteSource>>> read_tree(const GuestPath& path,
                                                              const CallContext& call) = 0;

  /// Places a tar stream (ustar, pax or GNU names) below the directory `path`, which is made where
  /// it is missing. Files replace files; nothing is written through a link. What an error leaves is
  /// a part of the tree, of whole files. Errors: kPathEscape - a name with `..` or from `/`, or
  /// below a link; kInvalidArgument - it is no tar or ends early; kUnsupported - a device or FIFO.
  virtual Task<Result<TreeCounts>> write_tree(const GuestPath& path, ByteSource& archive,
                                              const CallContext& call) = 0;

  /// Watches a directory. The events begin with what happens after this returns. kQuotaExceeded:
  /// more directories than the options or the system allow.
  virtual Task<Result<std::unique_ptr<GuestWatch>>> watch(const GuestPath& path,
                                                          const WatchOptions& options,
                                                          const CallContext& call) = 0;
};

}  // namespace cove
