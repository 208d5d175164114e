/// LineSearch: one thread's search through one file after the other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <cove/search.hpp>

#include "agent/search/pattern/pattern.hpp"
#include "agent/search/text_buffer.hpp"
#include "agent/search/walk/found.hpp"
#include "wire/search_batch.hpp"

namespace cove::agent {

/// Takes what is found, in the file's order. False: no more is wanted.
class LineSink {
 public:
  virtual ~LineSink() = default;
  virtual bool take(FoundSegment&& segment) = 0;
};

class LineSearch {
 public:
  /// All are borrowed. `short_is_end`: as of TextBuffer.
  LineSearch(const GrepQuery& query, const Pattern& pattern, const std::atomic<bool>& stopped,
             bool short_is_end);

  /// Searches an open file; `path` as the lines say it. Adds to `counts`. Returns 0 or the system's
  /// error number.
  int search(int fd, std::string_view path, LineSink& sink, SearchSummary& counts);

 private:
  enum class Step : std::uint8_t { kGoOn, kEnough, kBinary };

  Step search_block(std::size_t end);
  Step take_line(const char* begin, const char* end);
  void add_match(const char* begin, std::string_view line, const MatchSpan& first);
  void add_context_before(const char* line);
  bool add_context_after(const char* until);
  void add_context_line(const char* begin, const char* end);
  std::uint64_t number_of(const char* line);
  void before_adding();
  bool flush();
  std::size_t block_end() const;
  std::size_t keep_from(std::size_t end);
  const char* end_of_line(const char* begin, const char* limit) const;

  const GrepQuery& query_;
  const std::atomic<bool>& stopped_;
  Matcher matcher_;
  TextBuffer text_;
  wire::LinePacker packer_;
  std::vector<TextSpan> submatches_;

  // The file at hand.
  std::string_view path_;
  LineSink* sink_ = nullptr;
  SearchSummary* counts_ = nullptr;
  std::size_t searched_ = 0;     ///< places in text_: searched up to here,
  std::size_t added_ = 0;        ///< results are given up to here,
  std::size_t counted_ = 0;      ///< lines are counted up to here,
  std::uint64_t line_ = 1;       ///< and this is the number of the line there
  std::size_t block_limit_ = 0;  ///< the end of the block that is searched
  bool block_checked_ = false;   ///< it has no NUL byte
  bool full_ = false;            ///< the sink wants no more
  std::uint32_t after_left_ = 0;
  std::uint64_t matches_ = 0;
  FoundSegment segment_;
  std::size_t unpacked_ = 0;  ///< about the bytes that the segment becomes on the host
};

}  // namespace cove::agent
