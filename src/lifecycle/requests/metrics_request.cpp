#include "lifecycle/requests/metrics_request.hpp"

#include <functional>
#include <map>
#include <set>
#include <utility>

namespace cove::lifecycle {
namespace {

/// What the store says of all sandboxes together.
struct Census {
  StateCounts states;
  std::map<OperationKind, std::uint64_t> operations;
  std::map<std::string, QuotaUse> quotas;
  std::uint64_t in_use = 0;
  std::uint64_t garbage = 0;
  std::uint64_t attention = 0;
  std::uint64_t unreadable = 0;
};

using Count = std::function<void(const Record& record)>;

/// Reads what a query finds, page by page.
Task<Result<void>> read_all(Core& core, DocumentQuery query, Census& census, Count count,
                            const CallContext& call) {
  query.limit = 1000;
  do {
    COVE_CO_TRY(const auto page, co_await core.records.query(query, call));
    for (const StoredDocument& stored : page.documents) {
      const auto record = parse_record(stored.document.body);
      if (record) {
        count(*record);
      } else {
        ++census.unreadable;
      }
    }
    query.after = page.next;
  } while (!query.after.empty());
  co_return ok();
}

/// Those with something to do: an operation, garbage, or a person's attention.
Task<Result<void>> count_unfinished(Core& core, Census& census, const CallContext& call) {
  DocumentQuery unfinished;
  unfinished.order = QueryOrder::kByHeartbeat;
  const Count count = [&census](const Record& record) {
    if (record.operation) ++census.operations[record.operation->kind];
    census.garbage += record.garbage.size();
    if (!record.needs_attention.empty()) ++census.attention;
  };
  co_return co_await read_all(core, unfinished, census, count, call);
}

/// Only what runs can be in use. In the order that has an index; what is renewed meanwhile comes
/// once more, further on.
Task<Result<void>> count_in_use(Core& core, Census& census, const CallContext& call) {
  COVE_CO_TRY(const StoreTime now, co_await core.records.now(call));
  DocumentQuery running;
  running.state = name_of(SandboxState::kRunning);
  running.order = QueryOrder::kByActivity;
  std::set<SandboxId> used;
  const Count count = [&used, now](const Record& record) {
    if (has_live_lease(record, now, OwnerId())) used.insert(record.sandbox_id);
  };
  COVE_CO_TRY_VOID(co_await read_all(core, running, census, count, call));
  census.in_use = used.size();
  co_return ok();
}

Task<Result<Census>> take_census(Core& core, const CallContext& call) {
  Census census;
  COVE_CO_TRY(census.states, co_await core.records.count(call));
  COVE_CO_TRY_VOID(co_await count_unfinished(core, census, call));
  COVE_CO_TRY_VOID(co_await count_in_use(core, census, call));
  COVE_CO_TRY(census.quotas, co_await core.quotas.in_use(call));
  co_return census;
}

std::string label(std::string_view name, std::string_view value) {
  return std::string(name) + "=\"" + std::string(value) + "\"";
}

void write_gauge(MetricsText& out, std::string_view name, std::string_view help,
                 std::uint64_t number) {
  out.begin(name, "gauge", help);
  out.value(name, "", static_cast<double>(number));
}

void write(MetricsText& out, Census& census) {
  out.begin("cove_sandboxes", "gauge", "Sandboxes by state.");
  for (const SandboxState state : kAllStates) {
    out.value("cove_sandboxes", label("state", name_of(state)),
              static_cast<double>(census.states[std::string(name_of(state))]));
  }
  out.begin("cove_operations_running", "gauge", "Operations that are in records now.");
  for (const OperationKind kind : kAllKinds) {
    out.value("cove_operations_running", label("operation", name_of(kind)),
              static_cast<double>(census.operations[kind]));
  }
  write_gauge(out, "cove_sandboxes_in_use", "Sandboxes with a live activity lease.", census.in_use);
  write_gauge(out, "cove_garbage", "Volumes and objects that are still to be deleted.",
              census.garbage);
  write_gauge(out, "cove_needs_attention", "Sandboxes that a person should look at.",
              census.attention);
  write_gauge(out, "cove_records_unreadable",
              "Damaged records among those that run or have something to do.", census.unreadable);
}

void write_quota(MetricsText& out, const Census& census, std::string_view name,
                 std::string_view help, const std::function<std::uint64_t(const QuotaUse&)>& of) {
  out.begin(name, "gauge", help);
  for (const auto& [quota, use] : census.quotas) {
    out.value(name, label("quota", quota), static_cast<double>(of(use)));
  }
}

/// Nothing where nothing is limited.
void write_quotas(MetricsText& out, const Census& census) {
  if (census.quotas.empty()) return;
  write_quota(out, census, "cove_quota_limit", "Places of a deployment, a source, a user.",
              [](const QuotaUse& use) { return use.limit; });
  write_quota(out, census, "cove_quota_places", "Places in use, over all sources or users.",
              [](const QuotaUse& use) { return use.places; });
  write_quota(out, census, "cove_quota_fullest", "Places in use where most are.",
              [](const QuotaUse& use) { return use.fullest; });
  write_quota(out, census, "cove_quota_at_limit", "How many sources or users have no place left.",
              [](const QuotaUse& use) { return use.at_limit; });
}

}  // namespace

Task<Result<std::string>> metrics_text(std::shared_ptr<Core> core, const CallContext& call) {
  COVE_CO_TRY(Census census, co_await take_census(*core, call));
  MetricsText out;
  write(out, census);
  write_quotas(out, census);
  core->metrics.write(out);
  co_return std::move(out).text();
}

}  // namespace cove::lifecycle
