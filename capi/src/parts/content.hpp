/// cove_content: the bytes of an object that is being put, which the host's store asks for.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include <sys/types.h>

#include <cove/bytes.hpp>

#include "base/async/completion.hpp"
#include "parts/part.hpp"

namespace cove::capi {

/// The way from a host's store to the source of one put. What it shares with the put lives on the
/// scheduler; once the put has ended, neither the source nor the scheduler is touched any more: who
/// reads then might be what the scheduler's thread waits for.
class ContentFeed : public std::enable_shared_from_this<ContentFeed> {
 public:
  using Got = std::function<void(Result<Bytes>)>;

  /// `source` and `call` are borrowed until end().
  ContentFeed(ByteSource& source, const CallContext& call, const Part& part)
      : source_(source), call_(call), scheduler_(part.tools().scheduler()) {}

  /// Asks for the next piece; `got` is called on the scheduler, once, or here where the put has
  /// ended. From any thread.
  void read(Got got);

  /// Waits for the piece that is on its way, and lets go of the source. On the scheduler.
  Task<void> end();

  std::uint64_t given() const noexcept { return given_; }           ///< bytes; after end()
  bool was_read() const noexcept { return was_read_; }              ///< to its end; after end()
  const std::optional<Error>& failure() const { return failure_; }  ///< of the source; after end()

 private:
  static Task<void> run(std::shared_ptr<ContentFeed> self, Got got);
  void start(Got got);

  bool has_ended();

  ByteSource& source_;  // until end(); on the scheduler, as all but the next four
  const CallContext call_;
  Scheduler& scheduler_;  // until end()
  std::mutex mutex_;
  bool is_over_ = false;  // guarded by mutex_
  bool is_busy_ = false;
  std::shared_ptr<base::Completion<int>> idle_;
  std::uint64_t given_ = 0;
  bool was_read_ = false;
  std::optional<Error> failure_;
};

}  // namespace cove::capi

struct cove_content {
  explicit cove_content(std::shared_ptr<cove::capi::ContentFeed> its_feed);

  /// kFailedPrecondition after a fork.
  cove::Result<void> check_usable() const;

  const std::shared_ptr<cove::capi::ContentFeed> feed;
  cove::Bytes rest;  // of a piece that was larger than was asked for
  std::size_t used = 0;

 private:
  const pid_t process_;
};
