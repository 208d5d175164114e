/// Hashing beside unpacking: a package's bytes, and the files that come out of it.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/async/worker_pool.hpp"
#include "base/sha256.hpp"
#include "prepare/skills/package/package.hpp"

namespace cove::prepare {

/// The sha256 of bytes, some MB at a time.
class PieceHash {
 public:
  explicit PieceHash(ByteView bytes) : rest_(bytes) {}

  bool is_done() const noexcept { return rest_.empty(); }

  /// True: it is done.
  bool step();

  /// REQUIRES: it is done. Called once.
  std::string hex() { return hash_.hex(); }

 private:
  ByteView rest_;
  base::Sha256 hash_;
};

/// Hashes on a worker what another one made; neither waits for the other. On the scheduler's
/// thread.
class HashingBeside {
 public:
  /// Each turn of the worker does a step of `packed` too. All is borrowed.
  HashingBeside(base::BlockingExecutor& executor, Scheduler& scheduler, PieceHash& packed)
      : executor_(executor), scheduler_(scheduler), packed_(packed) {}

  /// Begins with what was added since, where the worker has ended what it had.
  Task<void> add(std::vector<ContentHash> files);

  /// What was hashed; what the worker had not begun is left. REQUIRES: awaited before this ends.
  Task<std::vector<ContentHash>> end();

 private:
  Task<void> take_over();

  base::BlockingExecutor& executor_;
  Scheduler& scheduler_;
  PieceHash& packed_;
  std::vector<ContentHash> waiting_;
  std::vector<ContentHash> working_;  // the worker's until is_over_
  std::vector<ContentHash> hashed_;
  std::shared_ptr<base::Completion<int>> running_;
  std::atomic<bool> is_over_{false};
};

}  // namespace cove::prepare
