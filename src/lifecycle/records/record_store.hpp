/// Records and tombstones as documents of the metadata store.
#pragma once

#include <functional>
#include <optional>

#include <cove/call_context.hpp>
#include <cove/clock.hpp>
#include <cove/id_source.hpp>
#include <cove/metadata_store.hpp>
#include <cove/record.hpp>
#include <cove/scheduler.hpp>

#include "lifecycle/records/tombstone.hpp"

namespace cove::lifecycle {

struct StoredRecord {
  Record record;
  Version version{};
};

struct StoredTombstone {
  Tombstone tombstone;
  Version version{};
};

DocumentId document_of(const SandboxId& sandbox);

/// What a record can be found by. Where it has garbage or needs attention, and no operation, its
/// heartbeat is the year 1970: so one query by heartbeat finds everything that still has to be
/// done.
DocumentIndex index_of(const Record& record);

/// What an update makes of a record; nothing = leave it as it is.
using Change = std::function<Result<std::optional<Record>>(const Record& record, StoreTime now)>;

class RecordStore {
 public:
  RecordStore(MetadataStore& store, Scheduler& scheduler, const Clock& clock)
      : store_(store), scheduler_(scheduler), clock_(clock) {}

  /// Reads the deployment's document, or makes it.
  Task<Result<DeploymentId>> deployment(IdSource& ids, const CallContext& call);

  /// Gives the store the name of a deployment that was here before. REQUIRES: it has no records.
  Task<Result<void>> adopt(DeploymentId deployment, const CallContext& call);

  Task<Result<StoreTime>> now(const CallContext& call) { return store_.now(call); }

  Task<Result<std::optional<StoredRecord>>> load(const SandboxId& sandbox, const CallContext& call);

  /// The same after a write whose outcome is not known: asks again, for up to half a minute, while
  /// the store is unavailable.
  Task<Result<std::optional<StoredRecord>>> load_again(const SandboxId& sandbox,
                                                       const CallContext& call);

  Task<Result<Version>> insert(const Record& record, const CallContext& call);
  Task<Result<Version>> swap(Version expected, const Record& next, Durability durability,
                             const CallContext& call);
  Task<Result<void>> remove(const SandboxId& sandbox, Version expected, const CallContext& call);

  /// Reads, changes and swaps until it succeeds or `change` refuses. What `change` does must be
  /// harmless when it is done twice. Nothing: there is no such record.
  Task<Result<std::optional<StoredRecord>>> update(const SandboxId& sandbox, Durability durability,
                                                   Change change, const CallContext& call);

  Task<Result<DocumentPage>> query(const DocumentQuery& query, const CallContext& call) {
    return store_.query(query, call);
  }

  /// How many records there are in each state, without reading them where the store can do that.
  Task<Result<StateCounts>> count(const CallContext& call) {
    return store_.count_by_state(DocumentKind::kSandbox, call);
  }

  Task<Result<std::optional<StoredTombstone>>> tombstone(const SandboxId& sandbox,
                                                         const CallContext& call);

  /// Adds a grave to the sandbox's tombstone, made where there is none; durable.
  Task<Result<void>> bury(const SandboxId& sandbox, Grave grave, const CallContext& call);

  /// Takes a grave that was swept away, and with the last one the tombstone. One that still has
  /// volumes (on other nodes) stays, with these alone.
  Task<Result<void>> unbury(const SandboxId& sandbox, Grave grave, const CallContext& call);

 private:
  Task<Result<void>> write_tombstone(const std::optional<StoredTombstone>& known,
                                     const Tombstone& next, const CallContext& call);
  Task<Result<void>> pause(int round, const CallContext& call);

  MetadataStore& store_;
  Scheduler& scheduler_;
  const Clock& clock_;
};

/// True where a write may have been done though it failed, or the store may answer later.
bool is_unsure(const Error& error);

}  // namespace cove::lifecycle
