/// A metadata store of the simulated world: linearizable, with lost requests and replies, and with
/// writes that a crash of its machine loses where they were not durable.
#pragma once

#include <functional>
#include <map>
#include <memory>
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

  /// A record vanishes, as with an older copy of the file; nobody is told. A first write that was
  /// on its way to what is lost is lost with it.
  void forget(const SandboxId& sandbox);

  /// The record as it is now; null where it is absent. Valid until the next write. For checks.
  const Record* find(const SandboxId& sandbox) const;
  std::optional<Record> record(const SandboxId& sandbox) const;
  std::vector<Record> records() const;
  std::size_t count(DocumentKind kind) const;
  std::uint64_t writes() const { return writes_; }

  /// The text of a document; none where it is absent.
  std::optional<std::string> body(const DocumentId& id) const;

  /// Called after each write of a record; a null is absence.
  std::function<void(const Record* before, const Record* after)> on_change;
  /// Called where the loss of power undid writes of a record.
  std::function<void(const Record* lost, const Record* restored)> on_rollback;

 private:
  friend class SimStore;
  struct Entry {
    Version version{};
    Document document;
    std::shared_ptr<const Record> record;  // of a sandbox
  };
  void put(const DocumentId& id, std::optional<Document> next, Durability durability);
  void set(const DocumentId& id, std::optional<Entry> next);

  SimWorld& world_;
  std::map<DocumentId, Entry> documents_;
  std::uint64_t next_version_ = 1;
  std::uint64_t writes_ = 0;
  std::map<DocumentId, std::uint64_t> losses_;
  std::vector<std::pair<DocumentId, std::optional<Entry>>> undo_;
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
  std::string name_of_write(const char* verb, const DocumentId& id, const Document& document) const;

  SimHost& host_;
  SimStoreState& state_;
};

}  // namespace cove::testing
