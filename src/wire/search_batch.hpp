/// What a search finds, packed: a data frame holds whole segments, and decodes alone.
///
/// Numbers are varints (LEB128) unless said otherwise; a text is its length and its bytes.
///
///     lines of a file   u32 bytes that follow | text path | u8 encoding | line*
///     line              u8 flags | number line | match? | number offset? | text
///         flags         1 a context line, 2 cut
///         match         number column | number count | (number offset, number length)*
///         offset        where the text begins in the line; only of one that is cut
///     entry             u8 type | u8 facts follow | text path | facts?
///         facts         number size | number mode | u64 mtime | text link target | text etag
///
/// u32 and u64 are little-endian; mtime is nanoseconds, two's complement.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <cove/bytes.hpp>
#include <cove/result.hpp>
#include <cove/search.hpp>

namespace cove::wire {

constexpr std::size_t kMostSubmatches = 64;

/// A line as it is packed; `text` and `submatches` are borrowed.
struct LineView {
  std::uint64_t line = 0;
  std::uint64_t column = 0;  ///< 0 = a context line
  std::string_view text;
  const TextSpan* submatches = nullptr;
  std::size_t submatch_count = 0;
  bool cut = false;
  std::uint64_t text_offset = 0;
};

/// Puts the lines of one file into a segment.
class LinePacker {
 public:
  void begin(std::string_view path, TextEncoding encoding);
  void add(const LineView& line);
  std::size_t size() const noexcept { return bytes_.size(); }

  /// The segment; begin starts the next.
  Bytes take();

  /// Makes a segment that was shortened behind a line right again.
  static void mend(Bytes& segment);

 private:
  Bytes bytes_;
};

/// Appends an entry.
void pack_entry(Bytes& out, std::string_view path, FileType type, const FileInfo* facts);

/// kIntegrity: not what the packers make.
Result<std::vector<GrepLine>> unpack_lines(ByteView payload);
Result<std::vector<FindEntry>> unpack_entries(ByteView payload);

}  // namespace cove::wire
