/// LineReader: finds lines in a file of any size, in short steps and with little memory.
#pragma once

#include <cstdint>
#include <string>

#include <cove/files.hpp>
#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::agent {

/// kInvalidArgument: a number of the range is out of its bounds.
Result<void> check_range(const LineRange& range);

class LineReader {
 public:
  /// `file`: a regular file, open for reading; what is appended to it meanwhile is not seen.
  /// REQUIRES: check_range(range).
  LineReader(base::UniqueFd file, FileInfo info, const LineRange& range);

  /// Reads on, some 16 MiB at most. True: `take` has the lines.
  Result<bool> step();

  /// The lines. REQUIRES: step gave true.
  LineSlice take() { return std::move(slice_); }

 private:
  enum class Phase : std::uint8_t { kSkip, kCollect, kCount, kDone };

  Result<bool> fill();
  void use_buffer();
  void skip();
  void collect();
  void take_line(std::string_view piece, bool ends);
  void count_rest();
  void stop_collecting(bool line_is_open);
  void finish();
  bool at_end() const noexcept { return position_ >= size_; }

  base::UniqueFd file_;
  std::uint64_t size_;
  LineRange range_;
  LineSlice slice_;
  Phase phase_ = Phase::kSkip;
  std::string buffer_;
  std::size_t used_ = 0;        // of buffer_
  std::uint64_t read_to_ = 0;   // where in the file the buffer ends
  std::uint64_t position_ = 0;  // where the scan stands
  std::uint64_t lines_ = 0;     // that ended before position_
  std::uint64_t count_until_ = 0;
  std::size_t line_begin_ = 0;  // in slice_.text, of the line being collected
  bool in_line_ = false;        // the last byte before position_ was no LF
};

}  // namespace cove::agent
