/// TreeCopy: copies a file or a tree to a new name, in short steps.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cove/files.hpp>
#include <cove/result.hpp>

#include "agent/files/directory_trail.hpp"
#include "agent/files/file_locks.hpp"
#include "agent/files/path_walk.hpp"
#include "agent/files/sorted_walk.hpp"
#include "agent/trees/file_copy.hpp"
#include "agent/trees/hard_links.hpp"

namespace cove::agent {

/// The copy grows under a name of its own beside `to`, and takes that name at the end. Destroyed
/// before, it removes what it made. Errors: as of GuestFiles::copy.
class TreeCopy {
 public:
  struct Names {
    std::string from;  ///< as errors show it
    std::string to;
  };

  /// `from` is there. `locks` is borrowed.
  TreeCopy(Place from, Place to, const CopyOptions& options, Names shown, FileLocks& locks);
  ~TreeCopy();
  TreeCopy(const TreeCopy&) = delete;
  TreeCopy& operator=(const TreeCopy&) = delete;

  /// Called once, first.
  Result<void> begin();

  /// Goes on for some 50 ms. True: it is done.
  Result<bool> step();

  const TreeCounts& counts() const noexcept { return counts_; }

 private:
  Result<void> check() const;
  Result<void> begin_directory();
  Result<bool> advance();
  Result<bool> advance_walk();
  Result<void> make(int from, const std::string& name, const struct stat& facts, int to,
                    const std::string& as);
  Result<void> make_file(int from, const std::string& name, int to, const std::string& as);
  Result<void> make_link(int from, const std::string& name, const struct stat& facts, int to,
                         const std::string& as);
  Result<bool> link_again(const SortedWalk::Step& step, int to);
  Result<void> enter(const SortedWalk::Step& step, int to);
  Result<void> leave();
  Result<void> finish_file();
  Result<bool> place();
  Result<int> target();
  Error failed(int error_number) const;

  Place from_;
  Place to_;
  CopyOptions options_;
  Names shown_;
  FileLocks& locks_;
  TreeCounts counts_;
  std::string temporary_;  // the copy's name in to_.parent until it is placed; empty = none
  std::optional<SortedWalk> walk_;
  base::UniqueFd target_top_;
  std::optional<DirectoryTrail> target_;
  std::vector<struct stat> entered_;  // what the directories on the way get when they are left
  HardLinks links_;
  std::optional<FileCopy> file_;
  struct stat file_facts_{};
};

}  // namespace cove::agent
