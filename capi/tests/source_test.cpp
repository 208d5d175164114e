/// Sweeps, sources, sessions, orphans and events: what arrives, and what is heard meanwhile.
#include <cstring>

#include "support.hpp"

using namespace cove;

namespace {

/// Keeps the last JSON that it heard.
void on_report(void* user_data, const char* json) {
  auto& heard = *static_cast<Heard*>(user_data);
  heard.text = json;
  heard.order += 'r';
}

/// The text of a call's answer; `ask` takes the out parameter.
template <class Ask>
std::string text_of(Ask ask) {
  cove_buffer* raw = nullptr;
  REQUIRE(ask(&raw) == COVE_OK);
  const BufferHandle buffer(raw);
  return {cove_buffer_data(raw), cove_buffer_size(raw)};
}

}  // namespace

TEST_CASE("Sweep: options and progress arrive, and its data is dropped once", "[capi][sources]") {
  const auto cove = open_cove();
  Heard heard;
  cove_sweep_options options = COVE_SWEEP_OPTIONS_INIT;
  options.flags = COVE_SWEEP_DRY_RUN;
  options.at_once = 64;
  options.timeout_ms = 60000;
  options.on_progress = on_report;
  options.user_data = &heard;
  options.drop = on_drop;
  const std::string report = text_of(
      [&](cove_buffer** out) { return cove_sweep_json(cove.get(), &options, out, nullptr); });
  CHECK(report ==
        "{\"archived\":0,\"deleted\":0,\"errors\":[\"one\"],\"examined\":3,\"failed\":1,\"lost\":0,"
        "\"planned\":[],\"recovered\":0,\"skipped\":0,\"stopped\":0}");
  CHECK(heard.text ==
        "{\"action\":\"stop\",\"archived\":0,\"deleted\":0,\"error\":\"busy\",\"examined\":3,"
        "\"failed\":1,\"lost\":0,\"recovered\":0,\"sandbox_id\":\"app-1\",\"skipped\":0,"
        "\"stopped\":0}");
  CHECK(fake::world().sweep.dry_run);
  CHECK(fake::world().sweep.at_once == 64);
  CHECK(fake::world().call.deadline);
  fake::world().sweep = {};
  CHECK(heard.dropped == 1);

  Heard answered;
  REQUIRE(cove_sweep_json_start(cove.get(), &options, on_buffer, &answered, on_drop, nullptr) ==
          COVE_OK);
  CHECK(heard.order == "rxr");
  fake::world().deliver();
  CHECK(answered.text.find("\"examined\":3") != std::string::npos);
  CHECK(answered.order == "dx");
  fake::world().sweep = {};
  CHECK(heard.dropped == 2);
}

TEST_CASE("Sweep: what is wrong is named, and the progress's data is dropped all the same",
          "[capi][sources]") {
  const auto cove = open_cove();
  Heard heard;
  cove_sweep_options options = COVE_SWEEP_OPTIONS_INIT;
  options.on_progress = on_report;
  options.user_data = &heard;
  options.drop = on_drop;
  cove_buffer* raw = nullptr;
  cove_handle* asked = cove.get();
  cove_status expected = COVE_INVALID_ARGUMENT;
  SECTION("too many at once") { options.at_once = 65; }
  SECTION("no cove") { asked = nullptr; }
  SECTION("a flag that nobody knows") {
    options.flags = 2;
    expected = COVE_UNSUPPORTED;
  }
  SECTION("the facade's error") {
    fake::world().fail_with = Error(ErrorCode::kUnavailable, "no");
    expected = COVE_UNAVAILABLE;
  }
  CHECK(cove_sweep_json(asked, &options, &raw, nullptr) == expected);
  CHECK(raw == nullptr);
  fake::world().sweep = {};
  CHECK(heard.dropped == 1);
  fake::world().fail_with.reset();
}

TEST_CASE("Sweep: the options of a program from before there was progress are read",
          "[capi][sources][options]") {
  const auto cove = open_cove();
  cove_call_options old = COVE_CALL_OPTIONS_INIT;
  old.timeout_ms = 60000;
  // SAFETY: cove_sweep_options began as this struct; its struct_size says that no more is there.
  const auto* const options = reinterpret_cast<const cove_sweep_options*>(&old);
  CHECK(text_of([&](cove_buffer** out) {
          return cove_sweep_json(cove.get(), options, out, nullptr);
        }).size() > 2);
  CHECK(fake::world().call.deadline);
  CHECK(fake::world().sweep.at_once == 4);
}

TEST_CASE("Source: its end tells how far it is", "[capi][sources]") {
  const auto cove = open_cove();
  Heard heard;
  cove_destroy_source_options options = COVE_DESTROY_SOURCE_OPTIONS_INIT;
  options.on_progress = on_report;
  options.user_data = &heard;
  options.drop = on_drop;
  CHECK(text_of([&](cove_buffer** out) {
          return cove_destroy_source_json(cove.get(), "app/demo", &options, out, nullptr);
        }) == "{\"destroyed\":3}");
  CHECK(heard.text == "{\"destroyed\":2,\"failed\":1,\"sandbox_id\":\"app-1\"}");
  CHECK(heard.dropped == 1);
  Heard answered;
  REQUIRE(cove_destroy_source_json_start(cove.get(), "app/x", &options, on_buffer, &answered,
                                         on_drop, nullptr) == COVE_OK);
  fake::world().deliver();
  CHECK(answered.text == "{\"destroyed\":3}");
  CHECK(fake::world().source == "app/x");
  CHECK(heard.text == "{\"destroyed\":1,\"failed\":0,\"sandbox_id\":\"app-1\"}");
  cove_buffer* raw = nullptr;
  CHECK(cove_destroy_source_json(cove.get(), "demo", &options, &raw, nullptr) ==
        COVE_INVALID_ARGUMENT);
  CHECK(heard.dropped == 3);
}

TEST_CASE("Source: it is revived, and what it wants is set, read and taken back",
          "[capi][sources]") {
  const auto cove = open_cove();
  cove_handle* const c = cove.get();
  CHECK(cove_revive_source(c, "app/demo", nullptr, nullptr) == COVE_OK);
  CHECK(fake::world().source == "app/demo");
  CHECK(cove_revive_source(c, "demo", nullptr, nullptr) == COVE_INVALID_ARGUMENT);

  cove_idle_policy policy = COVE_IDLE_POLICY_INIT;
  policy.archive = COVE_ARCHIVE_AT_ONCE;
  policy.stop_after_ms = 1500;
  policy.archive_after_ms = COVE_NO_TIME;
  CHECK(cove_set_idle_policy(c, "app/a", &policy, nullptr, nullptr) == COVE_OK);
  CHECK(fake::world().policy == IdlePolicy{.stop_after = std::chrono::milliseconds(1500),
                                           .archive_after = std::chrono::milliseconds(0),
                                           .archive = ArchiveRule::kAtOnce});
  CHECK(text_of([&](cove_buffer** out) {
          return cove_idle_policy_json(c, "app/a", nullptr, out, nullptr);
        }) == "{\"archive\":\"at_once\",\"archive_after_ms\":0,\"stop_after_ms\":1500}");
  policy.archive = 3;
  CHECK(cove_set_idle_policy(c, "app/a", &policy, nullptr, nullptr) == COVE_UNSUPPORTED);
  CHECK(cove_set_idle_policy(c, "app/a", nullptr, nullptr, nullptr) == COVE_OK);
  CHECK(fake::world().policy == IdlePolicy{});
  CHECK(text_of([&](cove_buffer** out) {
          return cove_idle_policy_json(c, "app/a", nullptr, out, nullptr);
        }) == "{\"archive\":\"when_idle\",\"archive_after_ms\":null,\"stop_after_ms\":null}");

  Heard heard;
  policy.archive = COVE_ARCHIVE_NEVER;
  CHECK(cove_set_idle_policy_start(c, "app/b", &policy, nullptr, on_done, &heard, on_drop,
                                   nullptr) == COVE_OK);
  CHECK(cove_revive_source_start(c, "app/b", nullptr, on_done, &heard, on_drop, nullptr) ==
        COVE_OK);
  CHECK(cove_idle_policy_json_start(c, "app/b", nullptr, on_buffer, &heard, on_drop, nullptr) ==
        COVE_OK);
  fake::world().deliver();
  CHECK(heard.order == "dxdxdx");
  CHECK(heard.status == COVE_OK);
  CHECK(heard.text.find("\"never\"") != std::string::npos);
}

TEST_CASE("Session: its directory is removed by its chat, and nothing is prepared for that",
          "[capi][sources]") {
  const auto cove = open_cove();
  cove_acquire_options options = COVE_ACQUIRE_OPTIONS_INIT;
  options.chat_id = "c1";
  options.sandbox_id = "app-old";
  CHECK(cove_remove_session(cove.get(), &kAna, &options, nullptr) == COVE_OK);
  CHECK(fake::world().key == WorkspaceKey{"app", "demo", "ana"});
  CHECK(fake::world().acquire.chat_id == "c1");
  CHECK(fake::world().acquire.sandbox == SandboxId("app-old"));
  Heard heard;
  REQUIRE(cove_remove_session_start(cove.get(), &kAna, &options, on_done, &heard, on_drop,
                                    nullptr) == COVE_OK);
  fake::world().deliver();
  CHECK(heard.order == "dx");
  cove_prepare* prepare = nullptr;
  REQUIRE(cove_prepare_create(&prepare, nullptr) == COVE_OK);
  options.prepare = prepare;
  CHECK(cove_remove_session(cove.get(), &kAna, &options, nullptr) == COVE_INVALID_ARGUMENT);
  cove_prepare_free(prepare);
}

TEST_CASE("Orphans: are told with their deployment, generation, epoch and provider",
          "[capi][sources]") {
  const auto cove = open_cove();
  const std::string expected =
      "{\"foreign_instances\":[{\"deployment\":\"d\",\"epoch\":2,\"generation\":\"g\","
      "\"provider\":\"tree\",\"sandbox_id\":\"app-1\"}],\"foreign_volumes\":[],"
      "\"instances\":[],\"volumes\":[{\"deployment\":\"d\",\"generation\":\"g\","
      "\"provider\":\"tree\",\"sandbox_id\":\"app-1\"}]}";
  CHECK(text_of([&](cove_buffer** out) {
          return cove_orphans_json(cove.get(), nullptr, out, nullptr);
        }) == expected);
  Heard heard;
  REQUIRE(cove_orphans_json_start(cove.get(), nullptr, on_buffer, &heard, on_drop, nullptr) ==
          COVE_OK);
  fake::world().deliver();
  CHECK(heard.text == expected);
}

TEST_CASE("Observer: hears events until it is replaced, taken back or the Cove is freed",
          "[capi][callbacks]") {
  auto cove = open_cove();
  LifecycleEvent event;
  event.sandbox = SandboxId("app-1");
  event.duration = std::chrono::milliseconds(7);
  fake::world().observer->on_event(event);  // nobody hears it
  Heard first;
  Heard second;
  REQUIRE(cove_set_observer(cove.get(), on_report, &first, on_drop, nullptr) == COVE_OK);
  fake::world().observer->on_event(event);
  CHECK(
      first.text ==
      "{\"completed\":false,\"duration_ms\":7,\"error\":\"\",\"operation\":\"restore\","
      "\"phase\":\"claimed\",\"reason\":\"idle\",\"sandbox_id\":\"app-1\",\"state\":\"archived\"}");
  REQUIRE(cove_set_observer(cove.get(), on_report, &second, on_drop, nullptr) == COVE_OK);
  CHECK(first.order == "rx");
  fake::world().observer->on_event(event);
  CHECK(second.order == "r");
  SECTION("taken back") {
    REQUIRE(cove_set_observer(cove.get(), nullptr, nullptr, nullptr, nullptr) == COVE_OK);
  }
  SECTION("freed") {
    fake::world().observer.reset();
    cove.reset();
  }
  CHECK(second.order == "rx");
  CHECK(cove_set_observer(nullptr, on_report, &second, on_drop, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(second.dropped == 2);
}

TEST_CASE("Cove: the schema of its configuration is text", "[capi][handles]") {
  CHECK(std::strlen(cove_config_schema()) == config_schema().size());
}
