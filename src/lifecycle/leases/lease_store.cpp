#include "lifecycle/leases/lease_store.hpp"

#include <utility>

namespace cove::lifecycle {
namespace {

// Each conflict is somebody else's success; so many in a row mean that something is wrong.
constexpr int kMaxRounds = 200;

DocumentId document_of(const std::string& name) { return {DocumentKind::kLease, name}; }

}  // namespace

Task<Result<StoredLease>> LeaseStore::load(std::string name, const CallContext& call) {
  const DocumentId id = document_of(name);
  COVE_CO_TRY(const auto found, co_await store_.find(id, call));
  StoredLease stored;
  stored.document.name = std::move(name);
  if (!found) co_return stored;
  COVE_CO_TRY(stored.document, parse_lease(found->document.body));
  stored.version = found->version;
  co_return stored;
}

Task<Result<void>> LeaseStore::replace(StoredLease known, LeaseDocument next, Durability durability,
                                       const CallContext& call) {
  const DocumentId id = document_of(known.document.name);
  Document document;
  document.body = to_json(next);
  document.index.active_at = next.changed_at;
  if (known.version) {
    const auto swapped =
        co_await store_.compare_and_swap(id, *known.version, document, durability, call);
    if (!swapped) co_return swapped.error();
    co_return ok();
  }
  const auto inserted = co_await store_.insert(id, document, durability, call);
  if (inserted) co_return ok();
  if (inserted.error().code() != ErrorCode::kAlreadyExists) co_return inserted.error();
  co_return Error(ErrorCode::kConflict, "lease '" + id.name + "' was made by another meanwhile");
}

Task<Result<void>> LeaseStore::withdraw(std::string name, LeaseHoldId id, const CallContext& call) {
  for (int round = 0;; ++round) {
    COVE_CO_TRY(const StoreTime time, co_await now(call));
    COVE_CO_TRY(StoredLease known, co_await load(name, call));
    auto next = lifecycle::withdraw(known.document, id, time);
    if (!next) co_return ok();
    auto replaced =
        co_await replace(std::move(known), *std::move(next), Durability::kRelaxed, call);
    if (replaced) co_return ok();
    const ErrorCode code = replaced.error().code();
    const bool again = code == ErrorCode::kConflict || code == ErrorCode::kUnavailable;
    const int most = code == ErrorCode::kConflict ? kMaxRounds : 10;
    if (!again || round >= most) co_return replaced.error();
  }
}

Task<Result<std::uint32_t>> LeaseStore::remove_unused(StoreTime before, const CallContext& call) {
  DocumentQuery query;
  query.kind = DocumentKind::kLease;
  query.order = QueryOrder::kByActivity;
  query.active_before = before;
  std::uint32_t removed = 0;
  do {
    COVE_CO_TRY(const auto page, co_await store_.query(query, call));
    for (const StoredDocument& stored : page.documents) {
      const auto lease = parse_lease(stored.document.body);
      if (!lease || !lease->waiters.empty()) continue;
      if (!lease->holder.empty() && lease->expires_at >= before) continue;
      const auto gone = co_await store_.remove(stored.id, stored.version, call);
      if (gone) ++removed;  // else it is in use again
    }
    query.after = page.next;
  } while (!query.after.empty());
  co_return removed;
}

}  // namespace cove::lifecycle
