/// Where the contents of a package's files lie: one behind the other, in a few large blocks.
///
/// Memory that is touched for the first time comes page by page, which costs more than to fill it:
/// here it comes a MB at a time.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <cove/bytes.hpp>

namespace cove::prepare {

class ContentStore {
 public:
  ContentStore() = default;
  ~ContentStore();
  ContentStore(const ContentStore&) = delete;
  ContentStore& operator=(const ContentStore&) = delete;

  /// Begins a content; the one before stays as it is.
  void begin();

  /// Adds to the content that was begun last. Throws std::bad_alloc. What was there of it may move.
  void append(ByteView bytes);

  /// Room for so much of the content that was begun last; a hint.
  void expect(std::size_t bytes);

  /// The content that was begun last.
  ByteView current() const noexcept { return current_; }

 private:
  struct Block {
    std::byte* data;
    std::size_t size;
  };

  void move_to_new_block(std::size_t room);
  void touch(std::size_t size);

  std::vector<Block> blocks_;
  std::size_t used_ = 0;          // of the last block
  std::size_t touched_ = 0;       // of it
  std::span<std::byte> current_;  // its end is at `used_`
};

}  // namespace cove::prepare
