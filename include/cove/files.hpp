/// Files of a workspace: what is said of one, and how one is read and written.
///
/// Paths are bytes. A relative one starts at the session's directory; `..` is fine while the result
/// stays in /workspace; an absolute one must lie under /workspace. An absolute link target under
/// /workspace is followed inside it, any other is kPathEscape. The kernel enforces this where the
/// path is resolved (openat2 beneath a descriptor of /workspace), so no race gets around it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cove {

enum class FileType : std::uint8_t {
  kRegular = 1,
  kDirectory = 2,
  kSymlink = 3,
  kOther = 4,  ///< FIFO, socket, device
};

struct FileInfo {
  std::string path;  ///< of `list`: relative to the listed directory; of `stat`: below /workspace
  FileType type = FileType::kOther;
  std::uint64_t size = 0;  ///< bytes
  std::uint32_t mode = 0;  ///< permission bits, 07777
  std::chrono::sys_time<std::chrono::nanoseconds> modified{};
  std::string link_target;  ///< of a symlink
};

/// Which bytes of a file. Past the end there are none.
struct ReadRange {
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;  ///< none = to the end
};

struct WriteOptions {
  std::optional<std::uint32_t> mode;  ///< none = keep an existing file's, else 0644
  bool create_parents = true;         ///< make missing directories, 0755
  bool durable = false;               ///< fsync the file and its directory before it counts
};

struct ListOptions {
  std::string after;           ///< a page's `next`; empty = from the start
  std::uint32_t limit = 1000;  ///< 1 to 10,000 entries a page
};

/// Entries in the order of their names' bytes.
struct FilePage {
  std::vector<FileInfo> entries;
  std::string next;  ///< for `after`; empty = this was the last page
};

}  // namespace cove
