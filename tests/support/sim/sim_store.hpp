/// A metadata store of the simulated world: linearizable, with lost requests and replies, and with
/// writes that a crash of its machine loses where they were not durable.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <cove/metadata_store.hpp>
#include <cove/record.hpp>

#include "support/sim/sim_world.hpp"

namespace cove::testing {

/// What all hosts see.
class SimStoreState {
 public:
  explicit SimStoreState(SimWorld& world) : world_(world) {}

  /// The machine of the store lost power: what was relaxed since the last durable write is undone.
  void lose_power();

  /// The record as it is now; none where it is absent. For checks.
  std::optional<Record> record(const SandboxId& sandbox) const;
  std::vector<Record> records() const;
  std::size_t count(DocumentKind kind) const;
  std::uint64_t writes() const { return writes_; }

  /// Called before a record is removed.
  std::function<void(const Record&)> on_remove;

 private:
  friend class SimStore;
  struct Entry {
    Version version{};
    Document document;
  };
  void put(const DocumentId& id, std::optional<Document> next, Durability durability);

  SimWorld& world_;
  std::map<DocumentId, Entry> documents_;
  std::uint64_t next_version_ = 1;
  std::uint64_t writes_ = 0;
  std::vector<std::pair<DocumentId, std::optional<Document>>> undo_;
};

/// One host's connection.
class SimStore final : public MetadataStore {
 public:
  SimStore(SimHost& host, SimStoreState& state) : host_(host), state_(state) {}

  Task<Result<Version>> insert(const DocumentId& id, const Document& document,
                               Durability durability, const CallContext& call) override;
  Task<Result<std::optional<StoredDocument>>> find(const DocumentId& id,
                                                   const CallContext& call) override;
  Task<Result<Version>> compare_and_swap(const DocumentId& id, Version expected,
                                         const Document& next, Durability durability,
                                         const CallContext& call) override;
  Task<Result<void>> remove(const DocumentId& id, Version expected,
                            const CallContext& call) override;
  Task<Result<DocumentPage>> query(const DocumentQuery& query, const CallContext& call) override;
  Task<Result<StoreTime>> now(const CallContext& call) override;

 private:
  SimHost& host_;
  SimStoreState& state_;
};

}  // namespace cove::testing
