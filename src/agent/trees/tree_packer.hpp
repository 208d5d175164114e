/// TreePacker: a directory and what is below it as the bytes of a tar archive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <cove/bytes.hpp>
#include <cove/result.hpp>

#include "agent/files/sorted_walk.hpp"
#include "agent/trees/hard_links.hpp"
#include "base/system/unique_fd.hpp"
#include "base/tar/tar_entry.hpp"

namespace cove::agent {

/// Entries come in the order of SortedWalk, so equal trees give equal archives. What the archive
/// cannot hold (FIFOs, sockets, devices) is left out.
class TreePacker {
 public:
  /// `top`: a directory, open for reading. `shown`: its path as errors name it.
  TreePacker(base::UniqueFd top, std::string shown);

  /// Called once, first.
  Result<void> start() { return walk_.start(); }

  /// The next bytes, at most `room`; none = the archive is whole. Errors: kPermissionDenied -
  /// something in it may not be read; kConflict - it is changed all the time.
  Result<Bytes> next(std::size_t room);

 private:
  void give_blocks(Bytes& piece, std::size_t room);
  Result<void> advance();
  Result<void> add(const SortedWalk::Step& step);
  Result<void> open_file(const SortedWalk::Step& step, base::TarEntry& entry);
  Result<void> read_file(Bytes& piece, std::size_t room);
  Error unreadable(const std::string& path, int error_number) const;

  SortedWalk walk_;
  std::string shown_;
  HardLinks links_;
  std::string blocks_;  // headers and padding: made, not yet given
  base::UniqueFd file_;
  std::uint64_t left_ = 0;  // of the file
  std::size_t padding_ = 0;
  bool ended_ = false;
};

}  // namespace cove::agent
