/// The seams with a deliberate fault; all else goes to the simulated part behind.
#pragma once

#include <map>
#include <utility>

#include "support/story/mutations.hpp"

namespace cove::testing {

class MutantStore final : public MetadataStore {
 public:
  MutantStore(Mutation mutation, const SimSeams& seams)
      : mutation_(mutation), host_(seams.host), state_(seams.state), store_(*seams.store) {}

  Task<Result<Version>> insert(const DocumentId& id, const Document& document,
                               Durability durability, const CallContext& call) override;
  Task<Result<std::optional<StoredDocument>>> find(const DocumentId& id,
                                                   const CallContext& call) override;
  Task<Result<Version>> compare_and_swap(const DocumentId& id, Version expected,
                                         const Document& next, Durability durability,
                                         const CallContext& call) override;
  Task<Result<void>> remove(const DocumentId& id, Version expected,
                            const CallContext& call) override {
    co_return co_await store_.remove(id, expected, call);
  }
  Task<Result<DocumentPage>> query(const DocumentQuery& query, const CallContext& call) override {
    co_return co_await store_.query(query, call);
  }
  Task<Result<StoreTime>> now(const CallContext& call) override {
    co_return co_await store_.now(call);
  }

 private:
  void change_read(StoredDocument& document);
  Document written(const DocumentId& id, const Document& next);
  void keep_id(Record& next, const Record& stored);
  Durability weakened(Durability durability) const {
    return mutation_ == Mutation::kNotDurable ? Durability::kRelaxed : durability;
  }

  Mutation mutation_;
  SimHost& host_;
  SimStoreState& state_;
  MetadataStore& store_;
  std::map<OperationId, OperationId> ids_;  // the stored one, by what the manager here calls it
};

class MutantProvider final : public Provider {
 public:
  MutantProvider(Mutation mutation, const SimSeams& seams, Provider& provider)
      : mutation_(mutation), node_(seams.node), provider_(provider) {}

  std::string_view name() const override { return provider_.name(); }
  NodeId node() const override { return provider_.node(); }
  ProviderCapabilities capabilities() const override { return provider_.capabilities(); }
  Task<Result<void>> create_volume(const VolumeRef& volume, const CallContext& call) override {
    co_return co_await provider_.create_volume(volume, call);
  }
  Task<Result<void>> delete_volume(const VolumeRef& volume, const CallContext& call) override;
  Task<Result<std::unique_ptr<OfflineVolume>>> open_volume(const VolumeRef& volume,
                                                           VolumeAccess access,
                                                           const CallContext& call) override;
  Task<Result<void>> start_instance(const InstanceRef& instance, const SandboxPolicy& policy,
                                    const CallContext& call) override;
  Task<Result<void>> stop_instance(const InstanceRef& instance, const CallContext& call) override {
    co_return co_await provider_.stop_instance(instance, call);
  }
  Task<Result<InstanceStatus>> inspect(const InstanceRef& instance,
                                       const CallContext& call) override;
  Task<Result<std::shared_ptr<Guest>>> connect(const InstanceRef& instance,
                                               const CallContext& call) override {
    co_return co_await provider_.connect(instance, call);
  }
  Task<Result<ProviderInventory>> list(const DeploymentId& deployment,
                                       const CallContext& call) override {
    co_return co_await provider_.list(deployment, call);
  }

 private:
  void make_missing(const VolumeRef& volume);

  Mutation mutation_;
  SimNode& node_;
  Provider& provider_;
};

class MutantSnapshotter final : public Snapshotter {
 public:
  MutantSnapshotter(Mutation mutation, const SimSeams& seams)
      : mutation_(mutation),
        state_(seams.state),
        objects_(seams.objects),
        snapshotter_(*seams.snapshotter) {}

  Task<Result<SnapshotRef>> save(OfflineVolume& volume, const SnapshotOwner& owner,
                                 const OperationId& attempt, const CallContext& call) override;
  Task<Result<void>> verify(const SnapshotRef& snapshot, const CallContext& call) override;
  Task<Result<void>> restore(const SnapshotRef& snapshot, OfflineVolume& volume,
                             const CallContext& call) override;
  Task<Result<void>> remove(const SnapshotRef& snapshot, const CallContext& call) override {
    co_return co_await snapshotter_.remove(snapshot, call);
  }
  Task<Result<void>> remove_all(const SnapshotOwner& owner, const OperationId& attempt,
                                const CallContext& call) override {
    co_return co_await snapshotter_.remove_all(owner, attempt, call);
  }

 private:
  bool deletes_first(const SandboxId& sandbox) const;

  Mutation mutation_;
  SimStoreState& state_;
  SimObjects& objects_;
  Snapshotter& snapshotter_;
};

}  // namespace cove::testing
