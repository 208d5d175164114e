/// An object store of the host's, as Cove's seam.
#pragma once

#include <memory>

#include <cove/object_store.hpp>

#include "parts/part.hpp"

namespace cove::capi {

/// Checks flags and slots. kInvalidArgument, kUnsupported.
Result<void> check_given(const cove_object_store& slots);

/// REQUIRES: check_given.
std::shared_ptr<ObjectStore> make_host_objects(GivenPtr<cove_object_store> given,
                                               PartRuntime runtime);

}  // namespace cove::capi
