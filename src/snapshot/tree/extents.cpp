#include "snapshot/tree/extents.hpp"

#include <algorithm>
#include <cerrno>

#include <unistd.h>

#include "base/system/system_error.hpp"

namespace cove::snapshot {

void ExtentList::add(const Extent& extent) {
  if (!extents_.empty() && extent.offset - extents_.back().end() <= smallest_hole_) {
    extents_.back().size = extent.end() - extents_.back().offset;
    return;
  }
  extents_.push_back(extent);
  if (extents_.size() > limit_) coarsen();
}

void ExtentList::coarsen() {
  constexpr std::uint64_t kBlock = 4096;
  while (extents_.size() > limit_ / 2) {
    smallest_hole_ = std::max(kBlock, smallest_hole_ * 2);
    std::vector<Extent> all;
    all.swap(extents_);
    for (const Extent& extent : all) {
      if (!extents_.empty() && extent.offset - extents_.back().end() <= smallest_hole_) {
        extents_.back().size = extent.end() - extents_.back().offset;
      } else {
        extents_.push_back(extent);
      }
    }
  }
}

Result<bool> ExtentScan::step(unsigned extents) {
  for (unsigned i = 0; i < extents; ++i) {
    if (at_ >= size_) return false;
    const off_t data = ::lseek(file_, static_cast<off_t>(at_), SEEK_DATA);
    if (data < 0 && errno == ENXIO) {
      at_ = size_;
      return false;
    }
    if (data < 0 && (errno == EINVAL || errno == EOPNOTSUPP)) {
      list_.add({at_, size_ - at_});
      at_ = size_;
      return false;
    }
    if (data < 0) return base::system_error(errno, "find the data of a sparse file");
    const off_t hole = ::lseek(file_, data, SEEK_HOLE);
    if (hole < 0) return base::system_error(errno, "find the holes of a sparse file");
    const auto begin = static_cast<std::uint64_t>(data);
    const std::uint64_t end = std::min(static_cast<std::uint64_t>(hole), size_);
    if (begin < end) list_.add({begin, end - begin});
    at_ = std::max(end, at_ + 1);
  }
  return at_ < size_;
}

}  // namespace cove::snapshot
