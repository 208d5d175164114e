/// Who is in a story, what they do, and how rough the weather is: all from a seed.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <cove/workspace_key.hpp>

#include "support/sim/sim_faults.hpp"

namespace cove::testing {

// Shorter than they are by default, so that a story of hours has all of them in it.
inline constexpr std::chrono::minutes kStopAfter{10};
inline constexpr std::chrono::minutes kArchiveAfter{60};
inline constexpr std::chrono::hours kTombstoneKeep{3};

enum class ActionKind : std::uint8_t {
  kVisit,          ///< acquires, and writes some files
  kRelease,        ///< lets go
  kStop,           ///< by hand
  kArchive,        ///< by hand
  kSweep,          ///< one pass of a host's sweeper
  kReport,         ///< a call failed: asks what became of what runs
  kReboot,         ///< all that runs on a machine ends
  kClose,          ///< a host ends in good order
  kDestroy,        ///< a user goes
  kDestroySource,  ///< an app goes, with all its users
  kReviveSource,   ///< and comes again
  kDamage,         ///< an object of a snapshot rots
  kHide,           ///< a volume is moved away
  kMend,           ///< a person repairs all of that
  kForget,         ///< the metadata of one sandbox are gone, as with an older copy of the store
  kRelocate,       ///< by hand, to the machine's other provider or back
};
inline constexpr std::size_t kActionKinds = 16;

std::string_view name_of(ActionKind kind) noexcept;

struct Action {
  ActionKind kind = ActionKind::kVisit;
  std::uint32_t process = 0;  ///< which of those that live, modulo their number
  std::uint32_t user = 0;
  std::uint32_t choice = 0;  ///< for what else there is to choose
  std::chrono::milliseconds wait{0};
};

struct Cast {
  std::size_t users = 1;
  std::size_t processes = 2;  ///< that are there at a time
  std::size_t machines = 1;
  bool sees_deaths = true;  ///< by owner files; else only by heartbeats
  SimFaultRates weather;
  std::vector<Action> actions;
};

Cast draw_cast(std::uint64_t seed);

/// The user's workspace; of two apps.
WorkspaceKey key_of_user(std::size_t user);
std::string source_of_user(std::size_t user);

std::string machine_name(std::size_t number);

/// "process 1 visits user 0, then 12 ms".
std::string describe(const Action& action);

}  // namespace cove::testing
