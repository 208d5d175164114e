/// TextBuffer: a file's text, a part at a time, in one buffer that is used again and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <cove/search.hpp>

namespace cove::agent {

class TextBuffer {
 public:
  /// A line longer than this is taken for several.
  static constexpr std::size_t kLongestLine = 4U << 20U;

  /// `short_is_end`: a read that gives less than was asked for came to the file's end.
  explicit TextBuffer(bool short_is_end);

  /// Begins a file: borrows `fd`, reads its first part and looks what it is. Returns 0 or the
  /// system's error number.
  int begin(int fd);

  /// Reads more behind what is there, after the bytes before `keep` were let go. The rest moves:
  /// places become smaller by `keep`. Returns 0 or the system's error number.
  int more(std::size_t keep);

  const char* data() const noexcept { return text_.data(); }
  std::size_t size() const noexcept { return size_; }
  bool at_end() const noexcept { return at_end_; }
  TextEncoding encoding() const noexcept { return encoding_; }

  /// A NUL byte near its beginning.
  bool is_binary() const noexcept { return binary_; }

  /// Frees what one file with very long lines needed.
  void shrink();

 private:
  int fill();
  int fill_converted();
  void make_room(std::size_t room);
  void look_at_mark();
  int convert_mark(std::size_t length);
  void convert(std::size_t end);
  void put_character(std::uint32_t character);

  bool short_is_end_;
  int fd_ = -1;
  std::vector<char> text_;
  std::size_t size_ = 0;
  bool at_end_ = false;
  bool binary_ = false;
  TextEncoding encoding_ = TextEncoding::kBytes;
  std::vector<unsigned char> raw_;  ///< UTF-16 that is not converted yet
  std::size_t raw_size_ = 0;
};

}  // namespace cove::agent
