/// Named leases as documents of the metadata store.
#pragma once

#include <optional>
#include <string>

#include <cove/metadata_store.hpp>

#include "lifecycle/leases/lease_rules.hpp"

namespace cove::lifecycle {

struct StoredLease {
  LeaseDocument document;
  std::optional<Version> version;  ///< none = it is not in the store yet
};

class LeaseStore {
 public:
  explicit LeaseStore(MetadataStore& store) : store_(store) {}

  Task<Result<StoreTime>> now(const CallContext& call) { return store_.now(call); }

  /// Reads a lease; one that nobody ever had is free and has no version.
  Task<Result<StoredLease>> load(std::string name, const CallContext& call);

  /// Replaces what was loaded. kConflict: somebody else was faster, load again.
  Task<Result<void>> replace(StoredLease known, LeaseDocument next, Durability durability,
                             const CallContext& call);

  /// Takes out whatever `id` has in the document, the lease or a ticket.
  Task<Result<void>> withdraw(std::string name, LeaseHoldId id, const CallContext& call);

  /// Removes leases that nobody has, waits for, or has had since `before`. Returns how many.
  Task<Result<std::uint32_t>> remove_unused(StoreTime before, const CallContext& call);

 private:
  MetadataStore& store_;
};

}  // namespace cove::lifecycle
