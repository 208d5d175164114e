#include "metadata/sqlite/waiting_line.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>

#include <fcntl.h>

#include "base/system/system_error.hpp"

namespace cove::metadata::sqlite {
namespace {

using std::chrono_literals::operator""s;

constexpr Duration kOldest = 5s;

std::int64_t number_of(Instant instant) {
  return std::max<std::int64_t>(1, instant.time_since_epoch().count());
}

/// `length` 0 = to the end.
struct flock bytes(short type, std::int64_t start, std::int64_t length) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = start;
  lock.l_len = length;
  return lock;
}

}  // namespace

Result<WaitingLine> WaitingLine::open(const std::string& path) {
  base::UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return base::system_error(errno, "open '" + path + "'");
  return WaitingLine(std::move(file));
}

Result<bool> WaitingLine::is_first(Instant now) const {
  const std::int64_t oldest = number_of(now - kOldest);
  if (place_ != 0 && place_ <= oldest) return true;
  struct flock ahead = bytes(F_WRLCK, oldest, place_ == 0 ? 0 : place_ - oldest);
  // SAFETY: locks of the open file description, not of the process: those would be lost when any
  // other part of the process closes the same file.
  if (::fcntl(*file_, F_OFD_GETLK, &ahead) != 0) {
    return base::system_error(errno, "look at the line of the metadata store's writers");
  }
  return ahead.l_type == F_UNLCK;
}

Result<void> WaitingLine::join(Instant now) {
  if (place_ != 0) return {};
  // Two that come in the same nanosecond: the second one takes the next byte.
  for (std::int64_t place = number_of(now);; ++place) {
    struct flock lock = bytes(F_WRLCK, place, 1);
    if (::fcntl(*file_, F_OFD_SETLK, &lock) == 0) {
      place_ = place;
      return {};
    }
    if (errno == EAGAIN || errno == EACCES) continue;
    return base::system_error(errno, "join the line of the metadata store's writers");
  }
}

void WaitingLine::leave() noexcept {
  if (place_ == 0) return;
  struct flock lock = bytes(F_UNLCK, place_, 1);
  ::fcntl(*file_, F_OFD_SETLK, &lock);  // a lock that stays is passed by after kOldest
  place_ = 0;
}

}  // namespace cove::metadata::sqlite
