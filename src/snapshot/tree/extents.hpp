/// Where the data of a sparse file lies.
#pragma once

#include <cstdint>
#include <vector>

#include <cove/result.hpp>

#include "snapshot/archive/entry.hpp"

namespace cove::snapshot {

/// Collects the extents of a file in order. There are at most `limit` of them: beyond, the smallest
/// holes are counted as data, so memory stays bounded for a file that is all holes.
class ExtentList {
 public:
  explicit ExtentList(std::size_t limit = 16 * 1024) : limit_(limit) {}

  /// REQUIRES: `extent` begins at or after the end of the last.
  void add(const Extent& extent);

  std::vector<Extent> take() { return std::move(extents_); }

 private:
  void coarsen();

  std::size_t limit_;
  std::uint64_t smallest_hole_ = 0;
  std::vector<Extent> extents_;
};

/// Asks the kernel, by SEEK_DATA and SEEK_HOLE, some extents at a time.
class ExtentScan {
 public:
  /// `file` is borrowed.
  ExtentScan(int file, std::uint64_t size) : file_(file), size_(size) {}

  /// Looks for at most `extents` more. True = there may be more to find. A file system that does
  /// not know holes has one extent.
  Result<bool> step(unsigned extents);

  std::vector<Extent> take() { return list_.take(); }

 private:
  int file_;
  std::uint64_t size_;
  std::uint64_t at_ = 0;
  ExtentList list_;
};

}  // namespace cove::snapshot
