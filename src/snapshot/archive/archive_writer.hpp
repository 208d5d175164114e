/// ArchiveWriter: entries in, a pax tar compressed by zstd out (docs/formats.md, "Snapshot
/// formats 1 and 2"). It knows no files and no store.
#pragma once

#include <cstdint>
#include <memory>

#include <cove/bytes.hpp>
#include <cove/result.hpp>

#include "snapshot/archive/entry.hpp"

namespace cove::snapshot {

/// One thread at a time. After an error it is of no more use.
class ArchiveWriter {
 public:
  ArchiveWriter();
  ~ArchiveWriter();
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;

  /// Begins the next entry. After that of a file its content follows, in order, by data() and
  /// hole(), `size` bytes together.
  Result<void> begin(const Entry& entry);
  Result<void> data(ByteView bytes);
  Result<void> hole(std::uint64_t size);

  /// Ends the archive.
  Result<void> finish();

  /// The compressed bytes so far; they are then no longer held.
  Bytes take();
  std::size_t held() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cove::snapshot
