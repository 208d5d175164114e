/// Files of the host's machine as streams; the disk is read on the pool, piece by piece.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <cove/bytes.hpp>

#include "base/async/worker_pool.hpp"

namespace cove::prepare {

struct HostFileFacts {
  std::uint64_t size = 0;
  std::string fingerprint;  ///< changes with size, inode and times
};

/// Looks at a file; blocks. Errors: kNotFound; kPermissionDenied; kInvalidArgument - a link, a
/// directory, or anything else that is no file.
Result<HostFileFacts> look_at_host_file(const std::string& path);

/// Opens it to be read to its end. Errors: as look_at_host_file. `executor` outlives the source.
Task<Result<std::unique_ptr<ByteSource>>> open_host_file(std::string path,
                                                         base::BlockingExecutor& executor,
                                                         Scheduler& scheduler);

}  // namespace cove::prepare
