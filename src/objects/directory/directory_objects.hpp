/// Objects as files below one directory (docs/formats.md, "Object store directory").
#pragma once

#include <memory>
#include <string>

#include <cove/object_store.hpp>
#include <cove/scheduler.hpp>

#include "base/async/worker_pool.hpp"

namespace cove::objects {

struct DirectoryObjectsOptions {
  /// Write new objects as files without a name (O_TMPFILE), which the kernel itself drops when a
  /// process dies. Where the file system cannot, or this is false, they have a name below `tmp~`
  /// until they are whole, locked by their writer. Tests use false.
  bool unnamed_files = true;
};

/// Opens the store below `path`, an absolute path of the host; makes the directory and missing
/// parents, mode 0700, synced. Several processes may use one store at once. Removes what crashed
/// puts left behind, where it is certain that no process writes it. Blocks, briefly.
///
/// `executor` and `scheduler` must outlive the store and every source that it gave. Each piece of
/// an object, each page of a list is one unit of work on `executor`. Errors: kInvalidArgument - the
/// path is not absolute; kPermissionDenied; kQuotaExceeded - no room; kFailedPrecondition -
/// something on the path is no directory.
Result<std::unique_ptr<ObjectStore>> open_directory_objects(
    const std::string& path, base::BlockingExecutor& executor, Scheduler& scheduler,
    const DirectoryObjectsOptions& options = {});

}  // namespace cove::objects
