#include "prepare/skills/package/content_store.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include <sys/mman.h>

namespace cove::prepare {
namespace {

constexpr std::size_t kBlock = std::size_t{8} << 20U;
constexpr std::size_t kStep = std::size_t{1} << 20U;  // of what is touched at once

constexpr std::size_t rounded_up(std::size_t size) { return (size + kStep - 1) / kStep * kStep; }

}  // namespace

ContentStore::~ContentStore() {
  for (const Block& block : blocks_) ::munmap(block.data, block.size);
}

void ContentStore::begin() {
  const std::span<std::byte> none = current_.last(0);
  current_ = none;
}

void ContentStore::append(ByteView bytes) {
  expect(current_.size() + bytes.size());
  if (bytes.empty()) return;
  touch(used_ + bytes.size());
  std::byte* const end = blocks_.back().data + used_;
  std::memcpy(end, bytes.data(), bytes.size());
  if (current_.empty()) current_ = std::span(end, 0);
  current_ = std::span(current_.data(), current_.size() + bytes.size());
  used_ += bytes.size();
}

void ContentStore::expect(std::size_t bytes) {
  const std::size_t more = bytes - std::min(bytes, current_.size());
  const bool fits = !blocks_.empty() && more <= blocks_.back().size - used_;
  if (more > 0 && !fits) move_to_new_block(bytes);
}

/// Where the kernel cannot (before Linux 5.14), pages come one by one as they are written.
void ContentStore::touch(std::size_t size) {
  if (size <= touched_) return;
  const Block& block = blocks_.back();
  const std::size_t end = std::min(rounded_up(size), block.size);
  static_cast<void>(::madvise(block.data + touched_, end - touched_, MADV_POPULATE_WRITE));
  touched_ = end;
}

/// A content lies in one block; what the last one had left is not used any more.
void ContentStore::move_to_new_block(std::size_t room) {
  // Twice as much, so that one that grows is moved a few times only.
  const std::size_t size = std::max(kBlock, rounded_up(room + current_.size()));
  void* const made =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) throw std::bad_alloc();
  auto* const data = static_cast<std::byte*>(made);
  try {
    blocks_.push_back({data, size});
  } catch (...) {
    ::munmap(made, size);
    throw;
  }
  touched_ = 0;
  touch(current_.size());
  if (!current_.empty()) std::memcpy(data, current_.data(), current_.size());
  used_ = current_.size();
  current_ = std::span(data, used_);
}

}  // namespace cove::prepare
