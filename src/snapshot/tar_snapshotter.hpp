/// Snapshots as one compressed tar and a manifest (docs/formats.md, "Snapshot format 1").
#pragma once

#include <memory>
#include <string>

#include <cove/clock.hpp>
#include <cove/log.hpp>
#include <cove/object_store.hpp>
#include <cove/scheduler.hpp>
#include <cove/snapshot.hpp>

#include "base/async/worker_pool.hpp"

namespace cove::snapshot {

/// Makes a Snapshotter. Everything given must outlive it.
///
/// A save streams: it needs no room on the local disk. A restore keeps the compressed bytes in an
/// unnamed file in `spool_directory` (an existing one) until it is done. What is skipped by a save
/// (sockets, devices) is counted in the manifest and told to `log`, where there is one. A volume
/// that a restore failed in after it began to write is to be deleted; a next restore refuses it as
/// not empty.
///
/// A cancelled call, or one past its deadline, ends between two pieces of about a MiB.
std::unique_ptr<Snapshotter> make_tar_snapshotter(ObjectStore& store,
                                                  base::BlockingExecutor& executor,
                                                  Scheduler& scheduler, const Clock& clock,
                                                  const std::string& spool_directory,
                                                  LogSink* log = nullptr);

}  // namespace cove::snapshot
