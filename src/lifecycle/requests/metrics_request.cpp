#include "lifecycle/requests/metrics_request.hpp"

#include <map>
#include <utility>

namespace cove::lifecycle {
namespace {

/// What all records together say.
struct Census {
  std::map<SandboxState, std::uint64_t> states;
  std::map<OperationKind, std::uint64_t> operations;
  std::uint64_t in_use = 0;
  std::uint64_t garbage = 0;
  std::uint64_t attention = 0;
  std::uint64_t unreadable = 0;
};

void count(Census& census, const Record& record, StoreTime now) {
  ++census.states[record.state];
  if (record.operation) ++census.operations[record.operation->kind];
  if (has_live_lease(record, now, OwnerId())) ++census.in_use;
  census.garbage += record.garbage.size();
  if (!record.needs_attention.empty()) ++census.attention;
}

Task<Result<Census>> take_census(Core& core, const CallContext& call) {
  COVE_CO_TRY(const StoreTime now, co_await core.records.now(call));
  Census census;
  DocumentQuery query;
  query.limit = 1000;
  do {
    COVE_CO_TRY(const auto page, co_await core.records.query(query, call));
    for (const StoredDocument& stored : page.documents) {
      const auto record = parse_record(stored.document.body);
      if (record) {
        count(census, *record, now);
      } else {
        ++census.unreadable;
      }
    }
    query.after = page.next;
  } while (!query.after.empty());
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
              static_cast<double>(census.states[state]));
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
  write_gauge(out, "cove_records_unreadable", "Records that are damaged.", census.unreadable);
}

}  // namespace

Task<Result<std::string>> metrics_text(std::shared_ptr<Core> core, const CallContext& call) {
  COVE_CO_TRY(Census census, co_await take_census(*core, call));
  MetricsText out;
  write(out, census);
  core->metrics.write(out);
  co_return std::move(out).text();
}

}  // namespace cove::lifecycle
