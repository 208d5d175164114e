/// Snapshots as compressed tars and a manifest (docs/formats.md, "Snapshot formats 1 and 2").
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <cove/clock.hpp>
#include <cove/log.hpp>
#include <cove/object_store.hpp>
#include <cove/scheduler.hpp>
#include <cove/snapshot.hpp>

#include "base/async/worker_pool.hpp"

namespace cove::snapshot {

/// What a save keeps of a volume. Either restores both.
enum class Keeps : std::uint8_t { kWorkspace, kHomeToo };

/// Makes a Snapshotter. Everything given must outlive it.
///
/// A save streams: it needs no room on the local disk. A restore keeps the compressed bytes in an
/// unnamed file in `spool_directory` (an existing one) until it is done. What is skipped by a save
/// (sockets, devices) is counted in the manifest and told to `log`, where there is one. A volume
/// that a restore failed in after it began to write is to be deleted; a next restore refuses it as
/// not empty.
///
/// A volume without a HOME that can be opened is refused where HOME is to be saved or restored:
/// kUnsupported.
///
/// A cancelled call, or one past its deadline, ends between two pieces of about a MiB.
std::unique_ptr<Snapshotter> make_tar_snapshotter(
    ObjectStore& store, base::BlockingExecutor& executor, Scheduler& scheduler, const Clock& clock,
    const std::string& spool_directory, LogSink* log = nullptr, Keeps keeps = Keeps::kWorkspace);

}  // namespace cove::snapshot
