/// The JSON that the C ABI gives.
#include "views.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace cove;
using Json = nlohmann::json;

namespace {

Record archived() {
  Record record;
  record.sandbox_id = SandboxId("app-1");
  record.key = {"app", "数据", "ana"};
  record.state = SandboxState::kArchived;
  record.provider = "local";
  record.last_active_at = StoreTime(std::chrono::milliseconds(1234));
  record.snapshot = SnapshotRef{1, {{ObjectKey("a"), 10, ""}, {ObjectKey("b"), 5, ""}}, 3, 99};
  return record;
}

}  // namespace

TEST_CASE("Views: a status has the key, the state, the times and the snapshot", "[capi][views]") {
  const Json status = Json::parse(capi::status_json(archived()));
  CHECK(status["sandbox_id"] == "app-1");
  CHECK(status["source_id"] == "数据");
  CHECK(status["state"] == "archived");
  CHECK(status["last_active_at_ms"] == 1234);
  CHECK(status["users"] == 0);
  CHECK(status["operation"].is_null());
  CHECK(status["snapshot"] == Json{{"entries", 3}, {"content_bytes", 99}, {"stored_bytes", 15}});
}

TEST_CASE("Views: an operation that is going on shows its kind, phase and error", "[capi][views]") {
  Record record = archived();
  Operation operation;
  operation.kind = OperationKind::kRestore;
  operation.attempt = 2;
  operation.error = "disk full";
  record.operation = operation;
  const Json shown = Json::parse(capi::status_json(record))["operation"];
  CHECK(shown["kind"] == "restore");
  CHECK(shown["phase"] == "claimed");
  CHECK(shown["attempt"] == 2);
  CHECK(shown["error"] == "disk full");
}

TEST_CASE("Views: a list, a sweep and a doctor's report are objects", "[capi][views]") {
  const Json list = Json::parse(capi::list_json({{archived()}, "app-1"}));
  CHECK(list["sandboxes"].size() == 1);
  CHECK(list["next"] == "app-1");
  const Json sweep = Json::parse(capi::sweep_json({.examined = 2, .archived = 1, .errors = {"e"}}));
  CHECK(sweep["archived"] == 1);
  CHECK(sweep["errors"] == Json::array({"e"}));
  const Json doctor =
      Json::parse(capi::doctor_json({{Finding::Level::kBroken, "bubblewrap", "missing", "apt"}}));
  CHECK(doctor["findings"][0]["level"] == "broken");
  CHECK(doctor["findings"][0]["remedy"] == "apt");
}
