/// The seam to what answers inside an instance: commands, files and search.
///
/// Two kinds exist: cove-agent over Cove's wire protocol, and a remote system's own API. What a
/// kind can do is data: ask `capabilities()`, never guess. All calls are safe from Cove's scheduler
/// and complete there; many may be in flight at once. A call fails with kUnavailable when the
/// connection or the guest is gone; whether a command ran is then known only where its id is asked
/// again.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <cove/guest_commands.hpp>
#include <cove/guest_files.hpp>
#include <cove/guest_search.hpp>
#include <cove/ids.hpp>

namespace cove {

/// What a kind of guest can do.
struct GuestCapabilities {
  bool pty = false;
  bool stdin_stream = false;
  bool exact_bytes = false;   ///< output comes as written, not line by line
  bool kernel_paths = false;  ///< the path rule is enforced by the kernel inside
  bool kill_tree = false;     ///< timeout and cancel leave nothing of the tree
  bool home_files = false;    ///< GuestRoot::kHome
  bool holds = false;         ///< hold_commands does something
};

/// What a guest says of itself.
struct GuestStatus {
  std::string build_id;
  Epoch epoch{};
  std::uint32_t running_commands = 0;     ///< those that a call waits for
  std::uint32_t keep_alive_commands = 0;  ///< background ones that forbid a stop
};

/// What answers inside one instance.
class Guest : public GuestCommands, public GuestFiles, public GuestSearch {
 public:
  /// What it can do; the same for its whole life.
  virtual GuestCapabilities capabilities() const = 0;

  /// The ping that proves the guest lives.
  virtual Task<Result<GuestStatus>> status(const CallContext& call) = 0;

  /// Starts no new command for so long, at most a minute: they end with kUnavailable, and what runs
  /// goes on. `by` names who asks, 1 to 64 bytes; 0 takes back what it asked for, for good. A stop
  /// does that while it lets what runs finish; hosts keep calls back by themselves, so a guest that
  /// cannot do it (no `holds`) just says yes. Errors: kConflict - it was taken back before.
  virtual Task<Result<void>> hold_commands(const std::string& /*by*/,
                                           std::chrono::milliseconds /*length*/,
                                           const CallContext& /*call*/) {
    co_return Result<void>();
  }

  /// Writes everything of the workspace to the disk (syncfs).
  virtual Task<Result<void>> sync(const CallContext& call) = 0;
};

}  // namespace cove
