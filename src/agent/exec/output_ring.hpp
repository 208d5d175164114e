/// OutputRing: the last bytes of a stream, by their offset in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cove::agent {

class OutputRing {
 public:
  explicit OutputRing(std::size_t capacity) : capacity_(capacity) {}

  /// Bytes from `begin` to `end` are here; grows with its content, up to the capacity.
  std::uint64_t begin() const noexcept { return end_ - held_; }
  std::uint64_t end() const noexcept { return end_; }

  /// True where these bytes would push others out.
  bool overflows_with(std::size_t bytes) const noexcept { return held_ + bytes > capacity_; }

  void append(std::string_view bytes);

  /// A run of bytes from `offset` on, at most `limit`; it may end where the ring wraps, so ask
  /// again for more. Lives until the next append. REQUIRES: begin() <= offset <= end().
  std::string_view at(std::uint64_t offset, std::size_t limit) const;

 private:
  std::size_t capacity_;
  std::string buffer_;  ///< byte `offset` of the stream is at offset % capacity
  std::size_t held_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace cove::agent
