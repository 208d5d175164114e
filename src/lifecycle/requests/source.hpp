/// The source of workspaces (an app, a skill): deleted, it has no sandboxes any more.
///
/// A source's tombstone is written before its sandboxes are listed, and a provision inserts its
/// record before it reads the source: so one of the two sees the other.
#pragma once

#include <memory>
#include <string>

#include "lifecycle/core.hpp"

namespace cove::lifecycle {

/// kFailedPrecondition where the record's source was deleted.
Task<Result<void>> check_source(Core& core, WorkspaceKey key, const CallContext& call);

/// See LifecycleManager::destroy_source and revive_source.
Task<Result<std::uint32_t>> destroy_source(std::shared_ptr<Core> core, std::string source,
                                           const CallContext& call);
Task<Result<void>> revive_source(std::shared_ptr<Core> core, std::string source,
                                 const CallContext& call);

}  // namespace cove::lifecycle
