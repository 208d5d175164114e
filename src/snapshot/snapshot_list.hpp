/// Finds snapshots by what is in the object store alone, for when the records are lost.
#pragma once

#include <string>
#include <vector>

#include <cove/object_store.hpp>
#include <cove/snapshot.hpp>

namespace cove::snapshot {

/// The deployments that have objects here, by their names.
Task<Result<std::vector<DeploymentId>>> list_deployments(ObjectStore& store,
                                                         const CallContext& call);

/// A page of a deployment's snapshots, by sandbox; see Snapshotter::find.
Task<Result<FoundSnapshots>> list_snapshots(ObjectStore& store, DeploymentId deployment,
                                            std::string after, const CallContext& call);

}  // namespace cove::snapshot
