/// Objects in this process's memory: for tests, simulations and programs that keep nothing.
#pragma once

#include <memory>

#include <cove/object_store.hpp>

namespace cove::objects {

/// Makes an empty store. It keeps the contract of ObjectStore but one: nothing outlives it. A call
/// completes where it was made, without waiting for anything but the content of a put. Sources that
/// `get` gave stay readable after the store and the object are gone.
std::unique_ptr<ObjectStore> make_memory_objects();

}  // namespace cove::objects
