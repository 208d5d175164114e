/// Files on an ordinary user's volume that belong to its subordinate ids: a sandbox that is root of a
/// system of its own makes them, and only root of such a user namespace may change or delete them.
#pragma once

#include <cove/result.hpp>

#include "providers/local/layer/subordinate_ids.hpp"

namespace cove::local {

/// Deletes the parts of a volume, as far as there are any. `launcher`: an open cove-launcher. Blocks
/// until it is done. Errors: kProvider - it did not work, with what rm said.
Result<void> remove_foreign_parts(int launcher, const SubordinateIds& ids, int volume);

/// Gives all of a volume's workspace back to the host's user, so that it can be archived.
Result<void> take_back_workspace(int launcher, const SubordinateIds& ids, int volume);

}  // namespace cove::local
