/// Records in one SQLite file, shared by every process of this machine that opens it.
///
///     auto store = metadata::open_sqlite_store(state + "/metadata.db", pool, loop, clock);
///
/// docs/formats.md describes the file. What to know of it:
/// - The file must be on a disk of this machine (SQLite's WAL needs shared memory), and in one
///   process only one copy of the SQLite library may have it open.
/// - Writers wait in a line, in the order they came, and hold no thread while they wait. One that
///   has waited for 10 s ends with kUnavailable and says when to try again.
/// - Store time is this machine's clock, except that it never goes back.
/// - Beyond the seam's errors: kQuotaExceeded - the disk is full; kIntegrity - the file is damaged,
///   was moved, or is no store of Cove; kUnsupported - a newer Cove has changed the file's form.
#pragma once

#include <memory>
#include <string>

#include <cove/clock.hpp>
#include <cove/metadata_store.hpp>
#include <cove/scheduler.hpp>

#include "base/async/worker_pool.hpp"

namespace cove::metadata {

/// Opens the file, and makes it, with mode 0600, where there is none. Blocks, for at most 10 s
/// where other processes are in the way. The three seams outlive the store; every task of the
/// store ends before its last reference goes. Besides the errors above: kNotFound - no such
/// directory; kPermissionDenied; kUnavailable; kInvalidArgument - the path is empty or has a NUL.
Result<std::shared_ptr<MetadataStore>> open_sqlite_store(const std::string& path,
                                                         base::BlockingExecutor& executor,
                                                         Scheduler& scheduler, const Clock& clock);

}  // namespace cove::metadata
