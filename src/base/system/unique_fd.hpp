/// UniqueFd: a file descriptor that closes itself.
#pragma once

#include <utility>

namespace cove::base {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) noexcept : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~UniqueFd() { reset(); }

  int operator*() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  int release() noexcept { return std::exchange(fd_, -1); }

  /// Closes what is held and holds `fd`; errno stays as it was.
  void reset(int fd = -1) noexcept;

 private:
  int fd_ = -1;
};

}  // namespace cove::base
