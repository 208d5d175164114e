/// Directory: the entries of one directory that a walk goes through, in the order of their names'
/// bytes, with what its ignore files say already applied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include <cove/result.hpp>

#include "agent/search/walk/entry_filter.hpp"
#include "agent/search/walk/ignore_rules.hpp"
#include "base/system/unique_fd.hpp"

namespace cove::agent {

using SharedFd = std::shared_ptr<const base::UniqueFd>;

class Directory {
 public:
  struct Entry {
    std::uint64_t order = 0;  ///< the first bytes of the name, as a number
    std::uint32_t name = 0;   ///< where it is in names_
    std::uint16_t length = 0;
    unsigned char type = 0;  ///< DT_*
    bool wanted = false;     ///< it is found, not only walked through
  };

  /// Reads the directory that the walk begins at. `path`: below /workspace, empty or ending in `/`;
  /// `outer`: the rules of the directories around it. `filter` is borrowed.
  static Result<std::shared_ptr<Directory>> read_root(base::UniqueFd fd, std::string path,
                                                      std::shared_ptr<const IgnoreLevel> outer,
                                                      const EntryFilter& filter);

  /// One file, as if it were alone in its directory. `path`: below /workspace.
  static std::shared_ptr<Directory> of_file(base::UniqueFd fd, const std::string& path);

  /// Reads an inner directory. Null where it is gone, or is something else or another file system
  /// by now. `parent` is kept alive.
  static Result<std::shared_ptr<Directory>> read_inner(const std::shared_ptr<Directory>& parent,
                                                       const Entry& entry,
                                                       const EntryFilter& filter);

  const std::vector<Entry>& entries() const noexcept { return entries_; }
  std::string_view name(const Entry& entry) const noexcept { return {c_name(entry), entry.length}; }
  const char* c_name(const Entry& entry) const noexcept {
    return names_.data() + entry.name;  // NUL follows
  }

  /// Below /workspace: empty or ending in `/`.
  const std::string& path() const noexcept { return path_; }
  std::string path_of(const Entry& entry) const { return path_ + std::string(name(entry)); }
  std::uint32_t depth() const noexcept { return depth_; }

  /// Opens a file to read, as no link, never waiting. An empty one: errno says why.
  base::UniqueFd open_file(const Entry& entry) const;

  /// The directory itself; null where it is not there any more.
  SharedFd descriptor() const;

 private:
  Directory(std::string path, std::shared_ptr<Directory> parent);
  Result<void> read(const EntryFilter& filter);
  Result<void> read_names();
  void read_rules(const EntryFilter& filter);
  void select(const EntryFilter& filter);
  bool has(std::string_view name) const;
  void let_go_of_ancestor() const;
  void let_go() const;
  SharedFd open_again() const;

  std::string path_;
  std::shared_ptr<Directory> parent_;
  std::shared_ptr<const IgnoreLevel> level_;
  std::uint32_t depth_ = 1;
  bool is_file_ = false;
  std::string names_;
  std::vector<Entry> entries_;
  mutable std::mutex mutex_;
  mutable SharedFd fd_;  ///< guarded by mutex_; of outer directories on a deep way it is let go
  mutable dev_t device_ = 0;
  mutable ino_t inode_ = 0;
};

/// The rules of `fd`'s own ignore files over `outer`; `outer` itself where it has none.
/// `prefix`: bytes of paths below /workspace that lead here.
std::shared_ptr<const IgnoreLevel> read_ignore_level(int fd,
                                                     std::shared_ptr<const IgnoreLevel> outer,
                                                     std::size_t prefix);

}  // namespace cove::agent
