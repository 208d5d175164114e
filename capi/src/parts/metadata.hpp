/// A metadata store of the host's, as Cove's seam.
#pragma once

#include <memory>

#include <cove/metadata_store.hpp>

#include "parts/part.hpp"

namespace cove::capi {

/// Checks flags and slots. kInvalidArgument, kUnsupported.
Result<void> check_given(const cove_metadata_store& slots);

/// REQUIRES: check_given.
std::shared_ptr<MetadataStore> make_host_metadata(GivenPtr<cove_metadata_store> given,
                                                  PartRuntime runtime);

}  // namespace cove::capi
