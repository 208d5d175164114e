/// Keeping an instance from starting anything new while it is about to be stopped.
#pragma once

#include <cove/guest.hpp>

#include "lifecycle/core.hpp"

namespace cove::lifecycle {

/// Asks for it in the stop's name, for some seconds: whoever asks again keeps it so.
Task<Result<void>> hold_commands(Guest& guest, OperationId stop, const CallContext& call);

/// Takes it back, after a stop that was abandoned. Where that is not possible it lapses by itself.
Task<void> let_commands_in(Core& core, std::shared_ptr<Guest> guest, OperationId stop);

/// The same of what a record says runs, where this process may have no connection to it yet.
Task<void> let_commands_in(Core& core, Record running, OperationId stop);

}  // namespace cove::lifecycle
