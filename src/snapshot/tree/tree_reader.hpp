/// TreeReader: walks a workspace and gives an archive its entries, a bounded piece at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <sys/stat.h>

#include <cove/provider.hpp>
#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"
#include "snapshot/archive/archive_writer.hpp"
#include "snapshot/tree/directory_chain.hpp"
#include "snapshot/tree/extents.hpp"

namespace cove::snapshot {

struct TreeCounts {
  std::uint64_t entries = 0;        // below the workspace itself
  std::uint64_t content_bytes = 0;  // of files, without holes
  std::uint64_t sockets = 0;        // skipped: they mean nothing without their process
  std::uint64_t devices = 0;        // skipped
};

/// The names of one directory, read as they are asked for.
class NameReader {
 public:
  /// The next name; empty = there is none. `directory` is the same directory each time, maybe by
  /// another descriptor.
  Result<std::string> next(int directory);

  /// Lets go of memory; what was not given is read again.
  void forget() { buffer_ = {}; }

 private:
  Result<bool> read(int directory);

  std::vector<char> buffer_;
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  std::int64_t resume_ = 0;  // the kernel's cookie after the last name given
};

/// One thread at a time. All calls block. Memory grows with the depth of the tree and with hard
/// links whose other names have not come yet, not with files or sizes. Where the ordinary user that
/// we are has locked itself out of a file or directory of its own by the mode, the mode is widened
/// while it is read, and then set back.
class TreeReader {
 public:
  /// `volume` is borrowed for the call. Errors: kInvalidArgument - `ids` maps nothing.
  static Result<std::unique_ptr<TreeReader>> open(int volume, const IdMapping& ids);

  ~TreeReader();
  TreeReader(const TreeReader&) = delete;
  TreeReader& operator=(const TreeReader&) = delete;

  /// Writes about a MiB of content, some hundred entries. False = that was the end; the archive is
  /// not finished by it. Errors: kConflict - somebody changed what was being read; kTooLarge - a
  /// path of over 256 KiB; kPermissionDenied and others of the system: each names the path.
  Result<bool> step(ArchiveWriter& archive);

  const TreeCounts& counts() const noexcept { return counts_; }

 private:
  enum class State : std::uint8_t { kRoot, kNames, kScan, kContent, kDone };

  struct Level {
    NameReader names;
    int mode_to_restore = -1;  // -1 = it was not widened
  };

  struct HardLink {
    std::string path;
    std::uint64_t names_left = 0;
  };

  TreeReader(DirectoryChain chain, const IdMapping& ids) : chain_(std::move(chain)), ids_(ids) {}

  Result<void> advance(ArchiveWriter& archive);
  Result<void> add_root(ArchiveWriter& archive);
  Result<void> next_name(ArchiveWriter& archive);
  Result<void> visit(const std::string& name, ArchiveWriter& archive);
  Result<void> enter(const std::string& name, const struct stat& found, ArchiveWriter& archive);
  Result<void> leave();
  Result<void> begin_file(const std::string& name, Entry entry, const struct stat& found,
                          ArchiveWriter& archive);
  Result<void> scan(ArchiveWriter& archive);
  Result<void> read_content(ArchiveWriter& archive);
  Result<void> end_file(ArchiveWriter& archive);
  Result<bool> add_hard_link(const Entry& entry, const struct stat& found, ArchiveWriter& archive);
  Attributes attributes_of(const struct stat& status) const;

  DirectoryChain chain_;
  IdMapping ids_;
  State state_ = State::kRoot;
  std::vector<Level> levels_ = std::vector<Level>(1);
  std::unordered_map<std::uint64_t, HardLink> hard_links_;  // by inode
  TreeCounts counts_;
  std::uint64_t step_work_ = 0;

  // The file being read.
  base::UniqueFd file_;
  struct stat file_status_{};
  Entry file_entry_;
  std::unique_ptr<ExtentScan> scan_;
  std::size_t extent_ = 0;
  std::uint64_t at_ = 0;
};

}  // namespace cove::snapshot
