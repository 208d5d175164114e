/// Watching: changes on the calling thread, and through callbacks.
#include "support.hpp"

using namespace cove;

namespace {

using WatchOwner = std::unique_ptr<cove_watch, FreeBy<cove_watch_free>>;

int32_t on_event(void* user_data, const cove_file_event* event) {
  auto& heard = *static_cast<Heard*>(user_data);
  heard.text += std::to_string(cove_file_event_change(event)) + cove_file_event_path(event);
  return cove_file_event_change(event) == COVE_CHANGE_REMOVED ? COVE_STOP : COVE_CONTINUE;
}

void on_events(void* user_data, const cove_file_events* events) {
  auto& heard = *static_cast<Heard*>(user_data);
  heard.order += 'e';
  for (size_t i = 0; i < cove_file_events_count(events); ++i) {
    const cove_file_event* const event = cove_file_events_entry(events, i);
    heard.text += cove_file_event_path(event);
    heard.text += cove_file_event_old_path(event);
    heard.text += cove_file_event_is_directory(event) == 1 ? "/" : "";
  }
}

cove_watch_callbacks callbacks_to(Heard* heard) {
  return {sizeof(cove_watch_callbacks), 0, on_events, on_done, heard, on_drop};
}

}  // namespace

TEST_CASE("Watch: one on the calling thread goes on until it is told to stop", "[capi][watch]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  fake::world().events = {{FileChange::kCreated, "a", "", false},
                          {FileChange::kRemoved, "b\xff", "", false},
                          {FileChange::kModified, "c", "", false}};
  Heard heard;
  cove_watch_options options = COVE_WATCH_OPTIONS_INIT;
  options.flags = COVE_WATCH_NOT_RECURSIVE;
  options.max_directories = 5;
  options.timeout_ms = 60000;
  REQUIRE(cove_workspace_watch(workspace.get(), "src", &options, on_event, &heard, nullptr) ==
          COVE_OK);
  CHECK(heard.text == "1a3b\xff");
  CHECK(fake::world().path == "src");
  CHECK_FALSE(fake::world().watch.recursive);
  CHECK(fake::world().watch.max_directories == 5);
  CHECK(fake::world().call.deadline);
  fake::world().events.clear();
  CHECK(cove_workspace_watch(workspace.get(), ".", nullptr, on_event, &heard, nullptr) ==
        COVE_NOT_FOUND);
  CHECK(fake::world().watch.recursive);
  CHECK(fake::world().watch.max_directories == WatchOptions().max_directories);
  CHECK(cove_workspace_watch(workspace.get(), ".", nullptr, nullptr, &heard, nullptr) ==
        COVE_INVALID_ARGUMENT);
}

TEST_CASE("Watch: changes come to callbacks, and the end comes once", "[capi][watch][callbacks]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  Heard heard;
  const auto callbacks = callbacks_to(&heard);
  cove_watch* raw = nullptr;
  REQUIRE(cove_workspace_watch_start(workspace.get(), "src", nullptr, &callbacks, &raw, nullptr) ==
          COVE_OK);
  const WatchOwner watch(raw);
  auto facade = std::move(fake::world().watch_callbacks);
  facade.on_events(
      {{FileChange::kMoved, "new", "old", true}, {FileChange::kOverflow, "", "", false}});
  CHECK(heard.text == "newold/");
  cove_watch_cancel(raw);
  CHECK(fake::world().cancelled == 1);
  facade.on_done(Error(ErrorCode::kCancelled, "called off"));
  facade = {};
  CHECK(heard.order == "edx");
  CHECK(heard.status == COVE_CANCELLED);
}

TEST_CASE("Watch: what is wrong in a start is named, and drop comes once", "[capi][watch]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  Heard heard;
  auto callbacks = callbacks_to(&heard);
  cove_watch_options options = COVE_WATCH_OPTIONS_INIT;
  cove_watch* watch = nullptr;
  cove_status status = COVE_OK;
  const auto start = [&](const char* path, cove_watch** out) {
    return cove_workspace_watch_start(workspace.get(), path, &options, &callbacks, out, nullptr);
  };
  int dropped = 1;
  SECTION("no path") { status = start(nullptr, &watch); }
  SECTION("no handle") { status = start(".", nullptr); }
  SECTION("no completion") {
    callbacks.on_done = nullptr;
    status = start(".", &watch);
  }
  SECTION("nobody to take changes") {
    callbacks.on_events = nullptr;
    status = start(".", &watch);
  }
  SECTION("options of no version") {
    options.struct_size = 8;
    status = start(".", &watch);
  }
  SECTION("callbacks of no version: nothing of them is read") {
    callbacks.struct_size = 8;
    status = start(".", &watch);
    dropped = 0;
  }
  CHECK(status == COVE_INVALID_ARGUMENT);
  CHECK(watch == nullptr);
  CHECK(heard.done == 0);
  CHECK(heard.dropped == dropped);
}

TEST_CASE("Watch: getters of nothing give nothing", "[capi][watch]") {
  CHECK(cove_file_event_change(nullptr) == 0);
  CHECK(std::string(cove_file_event_path(nullptr)).empty());
  CHECK(std::string(cove_file_event_old_path(nullptr)).empty());
  CHECK(cove_file_event_is_directory(nullptr) == 0);
  CHECK(cove_file_events_count(nullptr) == 0);
  CHECK(cove_file_events_entry(nullptr, 0) == nullptr);
  cove_watch_cancel(nullptr);
  cove_watch_free(nullptr);
}
