/// CountingStore: a metadata store that counts what it is asked.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include <cove/metadata_store.hpp>

namespace cove::testing {

class CountingStore final : public MetadataStore {
 public:
  explicit CountingStore(std::shared_ptr<MetadataStore> inner) : inner_(std::move(inner)) {}

  std::atomic<int> writes{0};
  std::atomic<int> lease_writes{0};  // of these, after the others
  std::atomic<int> reads{0};

  Task<Result<Version>> insert(const DocumentId& id, const Document& document,
                               Durability durability, const CallContext& call) override {
    count_write(id);
    return inner_->insert(id, document, durability, call);
  }
  Task<Result<std::optional<StoredDocument>>> find(const DocumentId& id,
                                                   const CallContext& call) override {
    ++reads;
    return inner_->find(id, call);
  }
  Task<Result<Version>> compare_and_swap(const DocumentId& id, Version expected,
                                         const Document& next, Durability durability,
                                         const CallContext& call) override {
    count_write(id);
    return inner_->compare_and_swap(id, expected, next, durability, call);
  }
  Task<Result<void>> remove(const DocumentId& id, Version expected,
                            const CallContext& call) override {
    count_write(id);
    return inner_->remove(id, expected, call);
  }
  Task<Result<DocumentPage>> query(const DocumentQuery& query, const CallContext& call) override {
    ++reads;
    return inner_->query(query, call);
  }
  Task<Result<StateCounts>> count_by_state(DocumentKind kind, const CallContext& call) override {
    return inner_->count_by_state(kind, call);
  }
  Task<Result<StoreTime>> now(const CallContext& call) override { return inner_->now(call); }

  /// Blocks until leases were written so often: what is given back is so beside the call that took
  /// it.
  void wait_for_lease_writes(int count) const {
    for (int seen = lease_writes; seen < count; seen = lease_writes) lease_writes.wait(seen);
  }

 private:
  void count_write(const DocumentId& id) {
    ++writes;
    if (id.kind != DocumentKind::kLease) return;
    ++lease_writes;
    lease_writes.notify_all();
  }

  std::shared_ptr<MetadataStore> inner_;
};

}  // namespace cove::testing
