#include "agent/trees/file_copy.hpp"

#include <algorithm>
#include <cerrno>
#include <vector>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace cove::agent {
namespace {

constexpr std::uint64_t kPiece = 8U << 20U;
constexpr std::size_t kBuffer = 256 * 1024;

}  // namespace

FileCopy::Progress FileCopy::step() {
  if (!started_) {
    started_ = true;
    if (::ioctl(*to_, FICLONE, *from_) == 0) at_ = size_;
  }
  if (at_ >= size_) return finish();
  if (at_ >= data_end_ && !find_data()) return Progress::kFailed;
  if (at_ >= size_) return finish();
  return copy_some();
}

/// Passes a hole over. False: errno says why.
bool FileCopy::find_data() {
  const off_t data = ::lseek(*from_, static_cast<off_t>(at_), SEEK_DATA);
  if (data < 0 && errno == ENXIO) {  // a hole to the end
    at_ = size_;
    return true;
  }
  if (data < 0 && errno != EINVAL) return false;
  if (data < 0) {  // this file system knows no holes
    data_end_ = size_;
    return true;
  }
  const off_t hole = ::lseek(*from_, data, SEEK_HOLE);
  if (hole < 0) return false;
  at_ = static_cast<std::uint64_t>(data);
  data_end_ = std::min(size_, static_cast<std::uint64_t>(hole));
  return true;
}

FileCopy::Progress FileCopy::copy_some() {
  const std::uint64_t most = std::min(kPiece, data_end_ - at_);
  if (!by_kernel_) return copy_by_buffer(most);
  auto from = static_cast<loff_t>(at_);
  auto to = static_cast<loff_t>(at_);
  const ssize_t copied =
      ::copy_file_range(*from_, &from, *to_, &to, static_cast<std::size_t>(most), 0);
  if (copied > 0) {
    at_ += static_cast<std::uint64_t>(copied);
    return Progress::kMore;
  }
  if (copied == 0) {  // the original became shorter meanwhile
    size_ = at_;
    return finish();
  }
  if (errno == EINTR) return Progress::kMore;
  if (errno != EXDEV && errno != EINVAL && errno != EOPNOTSUPP && errno != ENOSYS &&
      errno != EPERM) {
    return Progress::kFailed;
  }
  by_kernel_ = false;
  return Progress::kMore;
}

FileCopy::Progress FileCopy::copy_by_buffer(std::uint64_t most) {
  std::vector<char> buffer(kBuffer);
  while (most > 0) {
    const std::size_t room = std::min<std::uint64_t>(buffer.size(), most);
    const ssize_t got = ::pread(*from_, buffer.data(), room, static_cast<off_t>(at_));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Progress::kFailed;
    if (got == 0) {
      size_ = at_;
      return finish();
    }
    ssize_t put = 0;
    while (put < got) {
      const ssize_t written =
          ::pwrite(*to_, buffer.data() + put, static_cast<std::size_t>(got - put),
                   static_cast<off_t>(at_) + put);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return Progress::kFailed;
      put += written;
    }
    at_ += static_cast<std::uint64_t>(got);
    most -= static_cast<std::uint64_t>(got);
  }
  return Progress::kMore;
}

/// A hole at the end is no data: only the size tells of it.
FileCopy::Progress FileCopy::finish() const {
  return ::ftruncate(*to_, static_cast<off_t>(size_)) == 0 ? Progress::kDone : Progress::kFailed;
}

}  // namespace cove::agent
