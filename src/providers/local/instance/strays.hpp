/// Processes of an instance that its record does not lead to.
///
/// bubblewrap's child that is killed from outside before it has asked to die with its parent goes
/// on, or waits for its parent for ever, and holds the volume's lock.
#pragma once

#include <cove/provider.hpp>

namespace cove::local {

/// Kills the first process of every pid namespace that was made for this volume: with it goes all
/// that is in there. Looks at every process of the machine: for when the lock is held and no
/// recorded process lives. Only a process that is called as bubblewrap or the agent is, is the
/// first of a pid namespace, and was given this volume's workspace is hit.
void kill_strays(const VolumeRef& volume);

}  // namespace cove::local
