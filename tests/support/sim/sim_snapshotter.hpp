/// A snapshotter of the simulated world: objects that hold files, in two pieces each.
#pragma once

#include <map>
#include <string>

#include <cove/snapshot.hpp>

#include "support/sim/sim_provider.hpp"

namespace cove::testing {

/// The object store that all hosts see.
struct SimObjects {
  struct Object {
    SimFiles files;
    bool broken = false;
  };
  std::map<std::string, Object> objects;
  std::uint64_t changes = 0;  ///< grows with each
};

class SimSnapshotter final : public Snapshotter {
 public:
  SimSnapshotter(SimHost& host, SimStoreState& store, SimObjects& objects)
      : host_(host), store_(store), objects_(objects) {}

  Task<Result<SnapshotRef>> save(OfflineVolume& volume, const SnapshotOwner& owner,
                                 const OperationId& attempt, const CallContext& call) override;
  Task<Result<void>> verify(const SnapshotRef& snapshot, const CallContext& call) override;
  Task<Result<void>> restore(const SnapshotRef& snapshot, OfflineVolume& volume,
                             const CallContext& call) override;
  Task<Result<void>> remove(const SnapshotRef& snapshot, const CallContext& call) override;
  Task<Result<void>> remove_all(const SnapshotOwner& owner, const OperationId& attempt,
                                const CallContext& call) override;

 private:
  Result<void> check(const SnapshotRef& snapshot) const;
  void erase(const std::string& key);

  SimHost& host_;
  SimStoreState& store_;
  SimObjects& objects_;
};

}  // namespace cove::testing
