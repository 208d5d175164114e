/// Deliberate faults: each breaks one rule of docs/lifecycle.md, and a simulation that does not
/// find it is worth nothing.
///
/// They are put before the seams of the manager, so that nothing of the product knows of them: what
/// the manager does is what a manager with that fault would do.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "support/sim/sim_cluster.hpp"

namespace cove::testing {

enum class Mutation : std::uint8_t {
  kNone,
  kTakeOverKeepsId,          ///< rule 1: whoever takes over goes on under the former holder's id
  kDeleteBeforeVerify,       ///< rule 2: the volume goes before its archive was read back
  kVerifySkipped,            ///< rule 2: an archive counts as soon as it is uploaded
  kRestoreUnsynced,          ///< rule 2: a restored workspace counts before it is on disk
  kOlderSnapshot,            ///< rule 3: a restore in place of an archive takes the one before
  kDeleteIgnoresGeneration,  ///< rule 4: what is deleted is named by its sandbox alone
  kOrphansDeleted,           ///< rule 4: what nothing names is deleted
  kGarbageForgotten,         ///< rule 4: what is replaced is on no list
  kTombstoneForgotten,       ///< rule 4: a destroy leaves no tombstone
  kRestoreGoesOn,            ///< rule 5: a take-over goes on with the volume of a dead restore
  kActivityIgnored,          ///< rule 6: nobody sees the activity leases of others
  kSourceNotRead,            ///< rule 7: nobody reads whether the source was deleted
  kMarkerIgnored,            ///< rule 8: a start makes the volume that it does not find
  kHalfRestore,              ///< rule 9: a restore leaves out what is damaged
  kLostByGuess,              ///< rule 10: an instance that nobody asked for counts as gone
  kNotDurable,               ///< durability: no commit is waited for
  kRelocateDeletesFirst,  ///< rule 2: a relocate's old volume goes before the archive is verified
  kGarbageElsewhere,      ///< rule 4: garbage is deleted where the workspace is now
};
inline constexpr std::size_t kMutations = 19;  ///< with kNone

std::string_view name_of(Mutation mutation) noexcept;  ///< "verify-skipped"

/// kNone for a name that is none.
Mutation mutation_of(std::string_view name) noexcept;

/// Puts it before the seams of one process.
void mutate(Mutation mutation, SimSeams& seams);

}  // namespace cove::testing
