/// Published skills that an acquire names by their version id alone.
#pragma once

#include <vector>

#include "runtime/core.hpp"

namespace cove::runtime {

/// Fills in what published_skill() leaves open, from the object store, and from memory where this
/// process found the version before: a version never changes. kNotFound: it was not added.
Task<Result<void>> find_published(Core& core, std::vector<SkillPackage>& skills,
                                  const CallContext& call);

}  // namespace cove::runtime
