/// Leases (cove/lease.hpp) on a metadata store.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include <cove/id_source.hpp>
#include <cove/lease.hpp>
#include <cove/lifecycle.hpp>
#include <cove/metadata_store.hpp>
#include <cove/scheduler.hpp>

namespace cove::lifecycle {

/// What leases work with. Borrowed: all outlive the leases and every Lease.
struct LeaseParts {
  MetadataStore& store;
  const Clock& clock;
  Scheduler& scheduler;
  IdSource& ids;
  const OwnerRegistry& owners;
  std::function<void(Task<void>)> beside;                      ///< runs a task beside its caller
  std::chrono::milliseconds length{std::chrono::seconds(60)};  ///< without a renewal it ends then
};

std::unique_ptr<Leases> make_metadata_leases(LeaseParts parts);

}  // namespace cove::lifecycle
