/// A provider of the host's, as Cove's seam.
#pragma once

#include <memory>

#include <cove/provider.hpp>

#include "parts/part.hpp"

namespace cove::capi {

/// Checks flags, names and slots. kInvalidArgument, kUnsupported.
Result<void> check_given(const cove_provider& slots);

/// `name` and `node` are copies of the struct's, which points to the host's memory.
struct ProviderNames {
  std::string name;
  std::string node;
};

/// REQUIRES: check_given.
std::shared_ptr<Provider> make_host_provider(GivenPtr<cove_provider> given, ProviderNames names,
                                             PartRuntime runtime);

}  // namespace cove::capi
