/// FileCopy: copies one file's content in pieces: shared with the original where the file system
/// can do that, with its holes, through no buffer where the kernel copies.
#pragma once

#include <cstdint>

#include "base/system/unique_fd.hpp"

namespace cove::agent {

class FileCopy {
 public:
  /// Both are open; `to` is empty. What is behind `size` is not copied.
  FileCopy(base::UniqueFd from, base::UniqueFd to, std::uint64_t size)
      : from_(std::move(from)), to_(std::move(to)), size_(size) {}

  enum class Progress : std::uint8_t { kMore, kDone, kFailed };

  /// Copies some 8 MiB more. errno says why it failed.
  Progress step();

  int target() const noexcept { return *to_; }

 private:
  bool find_data();
  Progress copy_some();
  Progress copy_by_buffer(std::uint64_t most);
  Progress finish() const;

  base::UniqueFd from_;
  base::UniqueFd to_;
  std::uint64_t size_;
  std::uint64_t at_ = 0;
  std::uint64_t data_end_ = 0;  // of the run of data that at_ is in
  bool started_ = false;
  bool by_kernel_ = true;
};

}  // namespace cove::agent
