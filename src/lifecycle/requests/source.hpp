/// The source of workspaces (an app, a skill): deleted, it has no sandboxes any more.
///
/// A source's tombstone is written before its sandboxes are listed, and a provision inserts its
/// record before it reads the source: so one of the two sees the other.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "lifecycle/core.hpp"
#include "lifecycle/records/source_document.hpp"

namespace cove::lifecycle {

/// kFailedPrecondition where the record's source was deleted.
Task<Result<void>> check_source(Core& core, WorkspaceKey key, const CallContext& call);

using SourceProgressSink = std::function<void(const SourceProgress& so_far)>;

/// See LifecycleManager::destroy_source and revive_source.
Task<Result<std::uint32_t>> destroy_source(std::shared_ptr<Core> core, std::string source,
                                           SourceProgressSink progress, const CallContext& call);
Task<Result<void>> revive_source(std::shared_ptr<Core> core, std::string source,
                                 const CallContext& call);

/// See LifecycleManager::set_idle_policy and idle_policy.
Task<Result<void>> set_idle_policy(std::shared_ptr<Core> core, std::string source,
                                   IdlePolicy policy, const CallContext& call);
Task<Result<IdlePolicy>> idle_policy(std::shared_ptr<Core> core, std::string source,
                                     const CallContext& call);

/// Every source that wants something of its own, by its name. There are few.
Task<Result<std::map<std::string, IdlePolicy>>> idle_policies(std::shared_ptr<Core> core,
                                                              const CallContext& call);

}  // namespace cove::lifecycle
