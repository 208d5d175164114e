/// Spool: bytes kept on the local disk for the length of one call, in a file without a name.
#pragma once

#include <memory>
#include <string>

#include <cove/bytes.hpp>
#include <cove/result.hpp>
#include <cove/scheduler.hpp>

#include "base/async/worker_pool.hpp"
#include "base/system/unique_fd.hpp"

namespace cove::snapshot {

/// One thread at a time. create() and append() block. The file is gone with the process, however
/// that ends.
class Spool {
 public:
  static Result<Spool> create(const std::string& directory);

  /// kQuotaExceeded: no room.
  Result<void> append(ByteView bytes);

  /// Reads what was appended, from the front. The source borrows everything.
  std::unique_ptr<ByteSource> read(base::BlockingExecutor& executor, Scheduler& scheduler) const;

 private:
  explicit Spool(base::UniqueFd file) : file_(std::move(file)) {}

  base::UniqueFd file_;
};

}  // namespace cove::snapshot
