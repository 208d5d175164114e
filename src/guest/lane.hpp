/// Lane: a connection to an agent that one thread has for itself.
///
/// A call through the loop's thread is handed over twice, and each wake-up costs some ten
/// microseconds: more than a small file. Who blocks anyway can drive the connection instead. The
/// code behind it is the same: a guest, on a loop that the caller's thread runs.
#pragma once

#include <memory>
#include <utility>

#include <cove/task.hpp>

#include "base/async/drive.hpp"
#include "base/async/io_loop.hpp"
#include "guest/agent_guest.hpp"

namespace cove::guest {

/// Used by one thread at a time.
class Lane {
 public:
  /// Whether there is another way to this guest than its own connection.
  static bool is_possible(const Guest& guest);

  /// Another connection to the agent behind `guest`. Blocks until it is greeted, for a second at
  /// most. REQUIRES: is_possible(guest). Errors: as of connect_agent.
  static Result<std::unique_ptr<Lane>> open(const Guest& guest, const CallContext& call);

  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// True where the next call would reach the instance that the lane was opened to.
  bool is_good() const;

  Guest& guest() const noexcept { return *guest_; }

  /// Runs `task`, which uses the guest and nothing of another loop, on the calling thread.
  void run(Task<void> task) { base::drive(loop_, std::move(task)); }

  /// See IoLoop::clock_moved. From any thread.
  void clock_moved() { loop_.clock_moved(); }

  /// Sends what a call that failed has left to be said: that it was given up.
  void settle();

 private:
  explicit Lane(const Clock& clock);

  base::IoLoop loop_;
  std::shared_ptr<Guest> guest_;
};

}  // namespace cove::guest
