/// KeptOutput: the first and the last bytes of a stream, in bounded memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <cove/exec.hpp>

namespace cove::wire {

class KeptOutput {
 public:
  KeptOutput(std::uint64_t head_bytes, std::uint64_t tail_bytes)
      : head_limit_(head_bytes), tail_limit_(tail_bytes) {}

  void append(std::string_view bytes);

  std::uint64_t total() const noexcept { return total_; }

  /// What is kept: everything in `head` where nothing had to go; else the middle is left out, and
  /// no UTF-8 character is cut at either edge.
  StreamOutput take();

 private:
  std::uint64_t head_limit_;
  std::uint64_t tail_limit_;
  std::uint64_t total_ = 0;
  std::string head_;  ///< the first head_limit_ bytes, and some more to see a character's end
  std::string tail_;  ///< at least the last tail_limit_ bytes, and some before them
};

}  // namespace cove::wire
