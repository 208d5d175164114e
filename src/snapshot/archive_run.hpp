/// Archives on their way between volume and object store: made piece by piece as they are asked
/// for, and read piece by piece while their bytes are checked. Work that blocks is done by an
/// executor.
#pragma once

#include <cstdint>
#include <string>

#include <cove/clock.hpp>
#include <cove/scheduler.hpp>
#include <cove/snapshot.hpp>

#include "base/async/worker_pool.hpp"
#include "base/sha256.hpp"
#include "snapshot/archive/archive_reader.hpp"
#include "snapshot/archive/archive_writer.hpp"
#include "snapshot/archive/spool.hpp"
#include "snapshot/tree/tree_reader.hpp"

namespace cove::snapshot {

/// Where the work is done. All outlive who has it.
struct Machine {
  base::BlockingExecutor& executor;
  Scheduler& scheduler;
  const Clock& clock;
};

/// kIntegrity: what is wrong with an object, and what to do.
Error wrong(const ObjectKey& key, const std::string& how);

/// The compressed archive of a tree, made as it is asked for.
class ArchiveSource final : public ByteSource {
 public:
  ArchiveSource(TreeReader& tree, const Machine& machine) : tree_(tree), machine_(machine) {}

  Task<Result<Bytes>> next(const CallContext& call) override;

  std::uint64_t size() const noexcept { return size_; }
  std::string sha256() { return hash_.hex(); }

 private:
  Result<Bytes> produce();

  TreeReader& tree_;
  const Machine& machine_;
  ArchiveWriter archive_;
  base::Sha256 hash_;
  std::uint64_t size_ = 0;
  bool finished_ = false;
};

/// Compares what an object gives with what it must be.
class ObjectCheck {
 public:
  explicit ObjectCheck(const SnapshotObject& expected) : expected_(expected) {}

  Result<void> add(ByteView bytes);
  Result<void> finish();

 private:
  const SnapshotObject& expected_;
  base::Sha256 hash_;
  std::uint64_t size_ = 0;
};

/// Drives one archive from a source into a sink, piece by piece.
class ArchiveRun {
 public:
  /// `check` and `spool` may be null.
  ArchiveRun(EntrySink& sink, ObjectCheck* check, Spool* spool, const Machine& machine)
      : reader_(sink), check_(check), spool_(spool), machine_(machine) {}

  Task<Result<void>> run(ByteSource& source, const CallContext& call);

 private:
  Result<ArchiveReader::Progress> take(const Bytes& piece);

  ArchiveReader reader_;
  ObjectCheck* check_;
  Spool* spool_;
  const Machine& machine_;
};

}  // namespace cove::snapshot
