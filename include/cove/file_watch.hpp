/// Watching a directory: what changed below it, as it changes.
///
/// Events say where to look, not what happened in detail: two changes may come as one, and one
/// twice. After kOverflow some were lost: list again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cove {

/// What happened to a file or directory.
enum class FileChange : std::uint8_t {
  kCreated = 1,   ///< also each entry of a directory that appeared
  kModified = 2,  ///< content; also a file that Cove wrote, new or in place of another
  kRemoved = 3,   ///< also moved out of what is watched
  kMoved = 4,     ///< from `old_path` to `path`, both below the watched directory
  kAttributes = 5,
  kOverflow = 6,  ///< events were lost; without a path
};

/// One change below a watched directory.
struct FileEvent {
  FileChange change = FileChange::kOverflow;
  std::string path;  ///< relative to the watched directory; empty = that directory itself
  std::string old_path;
  bool is_directory = false;
};

/// How much of a directory is watched.
struct WatchOptions {
  bool recursive = true;  ///< also directories that appear later

  /// Directories to watch at most, 1 to 100,000; more end the watch with kQuotaExceeded.
  std::uint32_t max_directories = 20'000;
};

}  // namespace cove
