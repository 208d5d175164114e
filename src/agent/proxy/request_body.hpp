/// RequestBody: tells which of the bytes after an HTTP head belong to that request. They are passed
/// on as they are; only their framing is followed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cove::agent {

class RequestBody {
 public:
  /// No body.
  RequestBody() = default;

  static RequestBody of_length(std::uint64_t bytes);
  static RequestBody chunked();

  /// How many of these bytes belong to the request. What comes after its end does not; after a
  /// fault in the framing nothing does.
  std::size_t take(std::string_view bytes);

  bool is_over() const noexcept { return part_ == Part::kOver; }
  bool is_broken() const noexcept { return part_ == Part::kBroken; }

 private:
  enum class Part : std::uint8_t {
    kOver,
    kBroken,
    kPlain,      ///< `left_` bytes, then it is over
    kSize,       ///< digits of a chunk's size
    kExtension,  ///< the rest of that line
    kChunk,      ///< `left_` bytes of a chunk
    kChunkEnd,   ///< the line end behind it
    kTrailer,    ///< lines behind the last chunk, up to an empty one
  };
  std::size_t take_counted(std::string_view bytes);
  void take_framing(char c);
  void take_size(char c);
  void end_size_line();
  void take_trailer(char c);

  Part part_ = Part::kOver;
  std::uint64_t left_ = 0;
  std::uint32_t digits_ = 0;   ///< of the size at hand
  std::uint32_t line_ = 0;     ///< bytes of the line at hand
  std::uint32_t framing_ = 0;  ///< bytes of extensions or trailers since the last chunk
};

}  // namespace cove::agent
