/// The state file in a sandbox. All references outlive the tasks.
#pragma once

#include <cove/guest.hpp>

#include "prepare/pipeline/state.hpp"

namespace cove::prepare {

/// Reads it, in one round trip that also proves that the guest lives. A file that is not there,
/// cannot be read or is none of ours is the empty state. Errors: kUnavailable - the guest is gone,
/// or gave no answer within 10 s; kTimeout; kCancelled.
Task<Result<State>> load_state(Guest& guest, const Clock& clock, const CallContext& call);

/// Replaces it by a rename. Errors: as GuestFiles::write_file.
Task<Result<void>> save_state(Guest& guest, const State& state, const CallContext& call);

}  // namespace cove::prepare
