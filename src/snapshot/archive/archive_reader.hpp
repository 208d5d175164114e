/// ArchiveReader: the compressed bytes of an archive in, checked entries out. Everything it reads
/// is hostile. It knows no files and no store.
#pragma once

#include <cstdint>
#include <memory>

#include <cove/bytes.hpp>
#include <cove/result.hpp>

#include "snapshot/archive/entry.hpp"

namespace cove::snapshot {

/// Takes what an archive has. Its errors end the reading as they are.
class EntrySink {
 public:
  virtual ~EntrySink() = default;

  /// The next entry, in the order of EntryOrder, `above` directories below the workspace.
  virtual Result<void> entry(const Entry& entry, std::size_t above) = 0;

  /// Content of the file that came last, in order; what is left out are holes.
  virtual Result<void> data(std::uint64_t offset, ByteView bytes) = 0;

  /// The entry that came last is whole.
  virtual Result<void> entry_end() = 0;

  /// The archive is whole.
  virtual Result<void> finish() = 0;
};

/// One thread at a time. Memory is bounded (some 8 MiB) whatever the archive says.
class ArchiveReader {
 public:
  enum class Progress : std::uint8_t {
    kNeedInput,  // feed() the next piece
    kMore,       // call step() again
    kDone,       // sink.finish() was called; only the end of the input may follow
  };

  explicit ArchiveReader(EntrySink& sink);
  ~ArchiveReader();
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  /// Gives the next piece; an empty one is the end. REQUIRES: the last step() asked for it.
  void feed(Bytes piece);

  /// Does a bounded piece of the work. Errors: kIntegrity - damaged, cut short, or an entry that no
  /// archive of ours has; those of the sink.
  Result<Progress> step();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cove::snapshot
