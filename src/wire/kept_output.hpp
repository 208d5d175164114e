/// KeptOutput: the first and the last bytes of a stream, in bounded memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <cove/exec.hpp>

namespace cove::wire {

class KeptOutput {
 public:
  /// Of `limits`, what is kept: bytes and lines of head and tail.
  explicit KeptOutput(const OutputLimits& limits)
      : head_limit_(limits.head_bytes),
        tail_limit_(limits.tail_bytes),
        head_lines_(limits.head_lines),
        tail_lines_(limits.tail_lines) {}

  void append(std::string_view bytes);

  std::uint64_t total() const noexcept { return total_; }

  /// True while every byte is held, so that `whole` gives all of them.
  bool is_whole() const noexcept { return total_ <= head_limit_ + tail_limit_; }
  std::string whole() const;

  /// What is kept: everything in `head` where nothing had to go; else the middle is left out, and
  /// no UTF-8 character is cut at either edge. Of lines, the last one counts without its end too.
  StreamOutput take();

 private:
  std::uint64_t head_limit_;
  std::uint64_t tail_limit_;
  std::uint64_t head_lines_;
  std::uint64_t tail_lines_;
  std::uint64_t total_ = 0;
  std::string head_;  ///< the first head_limit_ bytes, and some more to see a character's end
  std::string tail_;  ///< at least the last tail_limit_ bytes, and some before them
};

}  // namespace cove::wire
