/// A Package as a tar stream that begins while the package is still being read.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <cove/scheduler.hpp>

#include "base/async/completion.hpp"
#include "prepare/skills/package/package.hpp"
#include "prepare/skills/package/tar_pieces.hpp"

namespace cove::prepare {

/// Files go as they are offered; directories and links, which are checked when all is there, go
/// last. On the scheduler's thread only.
class PackageStream final : public ByteSource {
 public:
  explicit PackageStream(Scheduler& scheduler) : scheduler_(scheduler) {}

  /// A file that came whole. Its content stays where it is until fail(), or finish() and the end of
  /// the package.
  void offer(const PackageEntry& file);

  /// What has not gone yet goes now, and then the stream ends.
  void finish(std::shared_ptr<const Package> package);

  /// The stream ends with the error; what was offered is looked at no more. Nothing after finish().
  void fail(Error error);

  /// Waits for what is offered. Errors: that of fail(); kTimeout, kCancelled.
  Task<Result<Bytes>> next(const CallContext& call) override;

 private:
  bool advance();
  bool advance_to_the_rest();
  void wake();

  Scheduler& scheduler_;
  std::deque<PackageEntry> offered_;
  std::set<std::string> gone_;  // paths
  std::shared_ptr<const Package> package_;
  std::size_t at_ = 0;  // of the package: the entry to come
  std::optional<Error> error_;
  TarPieces pieces_;
  bool ended_ = false;
  std::shared_ptr<base::Completion<Result<void>>> waiter_;
};

}  // namespace cove::prepare
