/// Files of a workspace: what is said of one, and how one is read and written.
///
/// Paths are bytes. A relative one starts at the session's directory; `..` is fine while the result
/// stays in /workspace; an absolute one must lie under /workspace. An absolute link target under
/// /workspace is followed inside it, any other is kPathEscape. The kernel enforces this where the
/// path is resolved (openat2 beneath a descriptor of /workspace), so no race gets around it. What
/// lies under /home/sandbox/.cove/builtin and /home/sandbox/.cove/spill may be read by its absolute
/// path and never changed (kPermissionDenied); `~` is a name like any other.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <cove/bytes.hpp>

namespace cove {

/// What a path names.
enum class FileType : std::uint8_t {
  kRegular = 1,
  kDirectory = 2,
  kSymlink = 3,
  kOther = 4,  ///< FIFO, socket, device
};

/// What is said of one file, directory or link.
struct FileInfo {
  std::string path;  ///< of `list`: relative to the listed directory; of `stat`: below /workspace
  FileType type = FileType::kOther;
  std::uint64_t size = 0;  ///< bytes
  std::uint32_t mode = 0;  ///< permission bits, 07777
  std::chrono::sys_time<std::chrono::nanoseconds> modified{};
  std::string link_target;  ///< of a symlink

  /// Opaque text that is another one after every change of content, mode or place; compared, never
  /// read. Made of inode, size, mtime and ctime, so it is the same from every node.
  std::string etag;

  bool unreadable = false;  ///< of a recursive `list`: a directory that could not be looked into
};

/// Which bytes of a file. Past the end there are none.
struct ReadRange {
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;  ///< none = to the end
};

/// Bytes of a file and what is said of it at that moment. `content_type` is told from the file's
/// first bytes, also for a range: "text/plain; charset=utf-8", "image/png", "application/pdf", ...,
/// "application/octet-stream" where they say nothing.
struct FileContent {
  FileInfo info;
  std::string content_type;
  Bytes bytes;
};

/// Which lines of a file. A line ends after its LF; what follows the last LF is a line too.
struct LineRange {
  std::uint64_t first = 1;  ///< from 1
  std::uint64_t count = 2000;
  std::uint64_t max_bytes = 50 * 1024;  ///< 4 to 8 MiB of text; whole lines while they fit
};

/// The lines that were asked for, as far as the limits went.
struct LineSlice {
  std::string text;                   ///< bytes as in the file, line ends too
  std::uint64_t first = 1;            ///< number of the first line in it
  std::uint64_t count = 0;            ///< lines in it
  std::optional<std::uint64_t> next;  ///< the first line not given; none = the file ends here
  std::optional<std::uint64_t> total_lines;  ///< where it was cheap to know
  std::uint64_t offset = 0;                  ///< where in the file `text` begins, in bytes

  /// The only line in it is longer than `max_bytes` and goes on at `offset` + the text's size; no
  /// UTF-8 character is cut.
  bool cut = false;

  std::string content_type;  ///< as of FileContent
  FileInfo info;
};

/// How a file is written.
struct WriteOptions {
  std::optional<std::uint32_t> mode;  ///< none = keep an existing file's, else 0644
  bool create_parents = true;         ///< make missing directories, 0755
  bool durable = false;               ///< fsync the file and its directory before it counts

  /// Adds to the file's end instead, in one write, at most 16 MiB at once; a missing file is made.
  /// Where the disk is full the file is as it was.
  bool append = false;

  /// The etag that the file must still have; kConflict names both where it has another or is gone.
  std::optional<std::string> if_unchanged_since;

  bool if_absent = false;  ///< kAlreadyExists where the name is taken
};

/// Which part of a directory is wanted.
struct ListOptions {
  std::string after;           ///< a page's `next`; empty = from the start
  std::uint32_t limit = 1000;  ///< 1 to 10,000 entries a page
  std::uint32_t depth = 1;     ///< levels of directories: 1 = its own entries, 0 = the whole tree
};

/// What a move may replace and make.
struct MoveOptions {
  bool overwrite = false;      ///< replace a file, or an empty directory by a directory
  bool create_parents = true;  ///< make missing directories, 0755
};

using CopyOptions = MoveOptions;  ///< of `copy`, `overwrite` replaces a file by a file only

/// What was copied, or placed from an archive.
struct TreeCounts {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;    ///< of files' content
  std::uint64_t skipped = 0;  ///< sockets and devices, which are never copied
};

/// Entries in the order of their names' bytes, a directory's own before what follows it (depth
/// first). A directory that changes meanwhile never repeats an entry.
struct FilePage {
  std::vector<FileInfo> entries;
  std::string next;  ///< for `after`; empty = this was the last page
};

}  // namespace cove
