/// Files on an ordinary user's volume that belong to its subordinate ids: a sandbox that is root of
/// a system of its own makes them, and only root of such a user namespace may change or delete
/// them.
#pragma once

#include <cove/result.hpp>

#include "providers/local/instance/launch.hpp"
#include "providers/local/volume/volumes.hpp"

namespace cove::local {

/// Deletes the parts of a volume as far as there are any, the system part last; gives all of
/// workspace and home back to the host's user. Errors: kUnsupported - the subordinate ids are gone;
/// kProvider - it did not work, with what the program said. `toolbox` is borrowed.
ForeignWork foreign_work(LaunchToolbox& toolbox);

}  // namespace cove::local
