/// How much of a text an answer has: 2,000 lines or 50 KiB, whichever is reached first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cove::tools {

inline constexpr std::size_t kMostLines = 2000;
inline constexpr std::size_t kMostBytes = std::size_t{50} * 1024;

/// Lines in `text`; what follows the last LF is one too.
std::uint64_t count_lines(std::string_view text) noexcept;

/// The part of `text` that fits, in whole lines; of a single longer line a part, cut between
/// characters.
std::string_view head_of(std::string_view text) noexcept;
std::string_view tail_of(std::string_view text) noexcept;

/// Collects lines while they fit.
class BoundedLines {
 public:
  /// False: the line, given without LF, is not taken, and none will be.
  bool add(std::string_view line);

  bool full() const noexcept { return full_; }
  std::size_t count() const noexcept { return count_; }
  std::string take() && { return std::move(text_); }

 private:
  std::string text_;
  std::size_t count_ = 0;
  bool full_ = false;
};

}  // namespace cove::tools
