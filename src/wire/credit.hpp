/// Flow control of one direction of one stream: data is sent only within credit that the receiver
/// gave, so whoever does not read makes the other side wait and nothing piles up.
#pragma once

#include <algorithm>
#include <cstdint>

namespace cove::wire {

/// What the sender may still send.
class SendWindow {
 public:
  explicit SendWindow(std::uint64_t initial) noexcept : available_(std::min(initial, kMax)) {}

  std::uint64_t available() const noexcept { return available_; }

  /// REQUIRES: bytes <= available().
  void spend(std::uint64_t bytes) noexcept { available_ -= bytes; }

  /// A hostile receiver may grant anything; the sum saturates.
  void grant(std::uint64_t bytes) noexcept {
    available_ = std::min(kMax, available_ + std::min(bytes, kMax));
  }

 private:
  static constexpr std::uint64_t kMax = 1ULL << 40;
  std::uint64_t available_;
};

/// What the receiver has allowed, and when it allows more.
class ReceiveWindow {
 public:
  explicit ReceiveWindow(std::uint64_t window) noexcept : window_(window), allowed_(window) {}

  std::uint64_t size() const noexcept { return window_; }

  /// Makes the window larger, and returns the credit to give for it.
  std::uint64_t widen(std::uint64_t window) noexcept {
    if (window <= window_) return 0;
    const std::uint64_t credit = window - window_;
    window_ = window;
    allowed_ += credit;
    return credit;
  }

  /// Counts what came. False: the sender went past its credit.
  bool receive(std::uint64_t bytes) noexcept {
    if (bytes > allowed_) return false;
    allowed_ -= bytes;
    return true;
  }

  /// Counts what was used up, and returns the credit to give now; 0 = not yet worth a frame.
  std::uint64_t consume(std::uint64_t bytes) noexcept {
    consumed_ += bytes;
    if (consumed_ < window_ / 4) return 0;
    const std::uint64_t credit = consumed_;
    consumed_ = 0;
    allowed_ += credit;
    return credit;
  }

 private:
  std::uint64_t window_;
  std::uint64_t allowed_;
  std::uint64_t consumed_ = 0;
};

}  // namespace cove::wire
