#include "lifecycle/quotas/quotas.hpp"

#include <algorithm>
#include <utility>

namespace cove::lifecycle {
namespace {

using namespace std::chrono_literals;

constexpr int kMaxRounds = 200;
constexpr int kMostUnsure =
    10;  // writes whose outcome is not known: done again, they change nothing
constexpr auto kReclaimEvery = 1s;  // a full quota is not searched for every caller it refuses
constexpr std::size_t kMaxRemembered = 1000;

/// True where the write is to be decided again; ends what goes on for too long.
bool is_again(const Error& error, int round) {
  const bool unsure = error.code() == ErrorCode::kUnavailable && round < kMostUnsure;
  return unsure || (error.code() == ErrorCode::kConflict && round < kMaxRounds);
}

}  // namespace

Quotas::Quotas(MetadataStore& store, RecordStore& records, Scheduler& scheduler, const Clock& clock,
               const RunningQuotas& limits)
    : store_(store), records_(records), clock_(clock), limits_(limits), gates_(scheduler) {}

bool Quotas::is_limited() const { return limits_ != RunningQuotas{}; }

Task<Result<void>> Quotas::take(Record record, const CallContext& call) {
  if (!is_limited()) co_return ok();
  COVE_CO_TRY_VOID(co_await count_running(call));
  for (const QuotaScope& scope : scopes_of(record.key, limits_)) {
    COVE_CO_TRY_VOID(co_await take_one(scope, record.sandbox_id, call));
  }
  co_return ok();
}

Task<Result<void>> Quotas::give_back(Record record, const CallContext& call) {
  for (const QuotaScope& scope : scopes_of(record.key, limits_)) {
    COVE_CO_TRY_VOID(co_await give_back_one(scope, record.sandbox_id, call));
  }
  co_return ok();
}

/// What runs already, perhaps since before there were limits, has its places too.
Task<Result<void>> Quotas::count_running(const CallContext& call) {
  if (counted_) co_return ok();
  const std::string name = "count";
  COVE_CO_TRY(const auto turn, co_await gates_.enter(name, Urgency::kCanWait, call));
  if (counted_) co_return ok();
  std::map<std::string, std::pair<QuotaScope, std::vector<SandboxId>>> found;
  DocumentQuery query;
  query.state = name_of(SandboxState::kRunning);
  query.limit = 1000;
  do {
    COVE_CO_TRY(const auto page, co_await records_.query(query, call));
    for (const StoredDocument& stored : page.documents) {
      const auto record = parse_record(stored.document.body);
      if (!record) continue;  // its own acquire tells
      for (const QuotaScope& scope : scopes_of(record->key, limits_)) {
        auto& [known, sandboxes] = found[scope.document];
        known = scope;
        sandboxes.push_back(record->sandbox_id);
      }
    }
    query.after = page.next;
  } while (!query.after.empty());
  for (auto& [document, entry] : found) {
    COVE_CO_TRY_VOID(co_await add(entry.first, std::move(entry.second), call));
  }
  counted_ = true;
  co_return ok();
}

Task<Result<void>> Quotas::add(QuotaScope scope, std::vector<SandboxId> sandboxes,
                               const CallContext& call) {
  for (int round = 0;; ++round) {
    COVE_CO_TRY(Stored known, co_await load(scope.document, scope.of, call));
    Places next = known.places;
    for (const SandboxId& sandbox : sandboxes) {
      if (!holds(next, sandbox)) next.held.push_back(sandbox);
    }
    if (next.held.size() == known.places.held.size()) co_return ok();
    const auto replaced =
        co_await replace(scope.document, scope.source, std::move(known), std::move(next), call);
    if (replaced || !is_again(replaced.error(), round)) co_return replaced;
  }
}

Task<Result<void>> Quotas::take_one(QuotaScope scope, SandboxId sandbox, const CallContext& call) {
  for (int round = 0;; ++round) {
    COVE_CO_TRY(Stored known, co_await load(scope.document, scope.of, call));
    Places next = known.places;
    if (!holds(next, sandbox)) {
      if (next.held.size() >= scope.limit) {
        if (!may_reclaim(scope.document)) co_return quota_exceeded(scope, next);
        COVE_CO_TRY(const auto freed, co_await reclaim(scope.document, scope.source, call));
        if (freed == 0) co_return quota_exceeded(scope, next);
        continue;
      }
      next.held.push_back(sandbox);
    }
    const auto replaced =
        co_await replace(scope.document, scope.source, std::move(known), std::move(next), call);
    if (replaced || !is_again(replaced.error(), round)) co_return replaced;
  }
}

Task<Result<void>> Quotas::give_back_one(QuotaScope scope, SandboxId sandbox,
                                         const CallContext& call) {
  for (int round = 0;; ++round) {
    COVE_CO_TRY(Stored known, co_await load(scope.document, scope.of, call));
    if (!holds(known.places, sandbox)) co_return ok();
    // Read after the places: a start that comes in between writes them.
    COVE_CO_TRY(const auto found, co_await records_.load(sandbox, call));
    if (found && occupies(found->record)) co_return ok();
    Places next = known.places;
    std::erase(next.held, sandbox);
    const auto replaced =
        co_await replace(scope.document, scope.source, std::move(known), std::move(next), call);
    if (replaced || !is_again(replaced.error(), round)) co_return replaced;
  }
}

bool Quotas::may_reclaim(const std::string& document) {
  const Instant now = clock_.now();
  if (reclaimed_.size() > kMaxRemembered) reclaimed_.clear();
  const auto [found, is_new] = reclaimed_.try_emplace(document, now);
  if (!is_new && now - found->second < kReclaimEvery) return false;
  found->second = now;
  return true;
}

Task<Result<std::uint32_t>> Quotas::reclaim(std::string document, std::string source,
                                            const CallContext& call) {
  const std::string as_it_is;
  for (int round = 0;; ++round) {
    COVE_CO_TRY(Stored known, co_await load(document, as_it_is, call));
    Places next = known.places;
    next.held.clear();
    for (const SandboxId& sandbox : known.places.held) {
      const auto found = co_await records_.load(sandbox, call);
      // One that cannot be read may run.
      if (!found && found.error().code() != ErrorCode::kIntegrity) co_return found.error();
      const bool needed = !found || (*found && occupies((*found)->record));
      if (needed) next.held.push_back(sandbox);
    }
    const auto freed = static_cast<std::uint32_t>(known.places.held.size() - next.held.size());
    if (freed == 0) co_return freed;
    const auto replaced =
        co_await replace(document, source, std::move(known), std::move(next), call);
    if (replaced) co_return freed;
    if (!is_again(replaced.error(), round)) co_return replaced.error();
  }
}

Task<Result<std::uint32_t>> Quotas::reclaim_all(const CallContext& call) {
  DocumentQuery query;
  query.kind = DocumentKind::kQuota;
  std::uint32_t freed = 0;
  do {
    COVE_CO_TRY(const auto page, co_await store_.query(query, call));
    for (const StoredDocument& stored : page.documents) {
      const std::string source = stored.document.index.source;
      COVE_CO_TRY(const auto more, co_await reclaim(stored.id.name, source, call));
      freed += more;
      const auto places = parse_places(stored.document.body);
      if (!places || !places->held.empty()) continue;
      // A user who is long gone leaves nothing. Somebody else may have written it: then it stays.
      static_cast<void>(co_await store_.remove(stored.id, stored.version, call));
    }
    query.after = page.next;
  } while (!query.after.empty());
  co_return freed;
}

Task<Result<std::map<std::string, QuotaUse>>> Quotas::in_use(const CallContext& call) {
  std::map<std::string, QuotaUse> uses;
  const auto limited = [&uses](const char* name, std::uint32_t limit) {
    if (limit > 0) uses[name].limit = limit;
  };
  limited("running", limits_.all);
  limited("running_per_source", limits_.per_source);
  limited("running_per_user", limits_.per_user);
  if (uses.empty()) co_return uses;
  DocumentQuery query;
  query.kind = DocumentKind::kQuota;
  do {
    COVE_CO_TRY(const auto page, co_await store_.query(query, call));
    for (const StoredDocument& stored : page.documents) {
      const auto use = uses.find(std::string(quota_of_document(stored.id.name)));
      const auto places = parse_places(stored.document.body);
      if (use == uses.end() || !places) continue;
      const auto held = static_cast<std::uint32_t>(places->held.size());
      use->second.places += held;
      use->second.fullest = std::max(use->second.fullest, held);
      if (held >= use->second.limit) ++use->second.at_limit;
    }
    query.after = page.next;
  } while (!query.after.empty());
  co_return uses;
}

Task<Result<Quotas::Stored>> Quotas::load(std::string document, std::string of,
                                          const CallContext& call) {
  const DocumentId id{DocumentKind::kQuota, document};
  COVE_CO_TRY(const auto found, co_await store_.find(id, call));
  Stored stored;
  stored.places.of = std::move(of);
  if (!found) co_return stored;
  COVE_CO_TRY(stored.places, parse_places(found->document.body));
  stored.version = found->version;
  co_return stored;
}

Task<Result<void>> Quotas::replace(std::string document, std::string source, Stored known,
                                   Places next, const CallContext& call) {
  const DocumentId id{DocumentKind::kQuota, document};
  Document body;
  body.body = to_json(next);
  body.index.source = source;
  if (known.version) {
    const auto swapped =
        co_await store_.compare_and_swap(id, *known.version, body, Durability::kDurable, call);
    if (!swapped) co_return swapped.error();
    co_return ok();
  }
  const auto inserted = co_await store_.insert(id, body, Durability::kDurable, call);
  if (inserted) co_return ok();
  if (inserted.error().code() != ErrorCode::kAlreadyExists) co_return inserted.error();
  co_return Error(ErrorCode::kConflict, "the quota was made by another meanwhile");
}

}  // namespace cove::lifecycle
