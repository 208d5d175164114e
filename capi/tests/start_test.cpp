/// Start forms of what opens, closes, lists and lets go.
#include <future>

#include "support.hpp"

using namespace cove;

namespace {

/// What an open that was started gave, on its own thread.
struct Opened {
  std::promise<void> done;
  cove_handle* cove = nullptr;
  cove_error* error = nullptr;
  std::promise<void> dropped;
};

void on_opened(void* user_data, cove_handle* cove, cove_error* error) {
  auto& opened = *static_cast<Opened*>(user_data);
  opened.cove = cove;
  opened.error = error;
  opened.done.set_value();
}

void on_opened_drop(void* user_data) { static_cast<Opened*>(user_data)->dropped.set_value(); }

struct Closed {
  std::promise<cove_status> done;
};

void on_closed(void* user_data, cove_error* error) {
  const cove_status status = cove_error_code(error);
  cove_error_free(error);
  static_cast<Closed*>(user_data)->done.set_value(status);
}

}  // namespace

TEST_CASE("Start: an open gives its handle through the callback", "[capi][starts]") {
  fake::reset();
  Opened opened;
  REQUIRE(cove_open_start(kConfig, nullptr, on_opened, &opened, on_opened_drop, nullptr) ==
          COVE_OK);
  opened.done.get_future().get();
  opened.dropped.get_future().get();
  const CoveHandle cove(opened.cove);
  REQUIRE(cove);
  CHECK(opened.error == nullptr);
  CHECK(fake::world().open == 1);

  Closed closed;
  REQUIRE(cove_close_start(cove.get(), 100, on_closed, &closed, nullptr, nullptr) == COVE_OK);
  CHECK(closed.done.get_future().get() == COVE_OK);
}

TEST_CASE("Start: an open that fails says why, and what is wrong as written at once",
          "[capi][starts]") {
  fake::reset();
  Opened opened;
  fake::world().fail_with = Error(ErrorCode::kPermissionDenied, "open to others");
  REQUIRE(cove_open_start(kConfig, nullptr, on_opened, &opened, on_opened_drop, nullptr) ==
          COVE_OK);
  opened.done.get_future().get();
  opened.dropped.get_future().get();
  const ErrorHandle error(opened.error);
  CHECK(cove_error_code(error.get()) == COVE_PERMISSION_DENIED);
  CHECK(opened.cove == nullptr);
  fake::reset();

  Opened never;
  Heard logged;
  cove_open_options options = COVE_OPEN_OPTIONS_INIT;
  options.log = [](void*, int32_t, const char*) {};
  options.log_user_data = &logged;
  options.log_drop = on_drop;
  CHECK(cove_open_start("{", &options, on_opened, &never, on_opened_drop, nullptr) ==
        COVE_INVALID_ARGUMENT);
  never.dropped.get_future().get();
  CHECK(logged.dropped == 1);
  CHECK(never.cove == nullptr);
  CHECK(cove_open_start(kConfig, nullptr, nullptr, nullptr, nullptr, nullptr) ==
        COVE_INVALID_ARGUMENT);
}

TEST_CASE("Start: a list, a doctor's report and a release come through callbacks",
          "[capi][starts]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  Heard heard;
  cove_list_options list = COVE_LIST_OPTIONS_INIT;
  list.source = "app/demo";
  list.limit = 7;
  REQUIRE(cove_list_json_start(cove.get(), &list, on_buffer, &heard, on_drop, nullptr) == COVE_OK);
  fake::world().deliver();
  CHECK(heard.text == "{\"next\":\"next\",\"sandboxes\":[]}");
  CHECK(fake::world().source == "app/demo");
  CHECK(fake::world().limit == 7);
  REQUIRE(cove_doctor_json_start(cove.get(), nullptr, on_buffer, &heard, on_drop, nullptr) ==
          COVE_OK);
  fake::world().deliver();
  CHECK(heard.text.find("\"disk space\"") != std::string::npos);
  REQUIRE(cove_workspace_release_start(workspace.get(), nullptr, on_done, &heard, on_drop,
                                       nullptr) == COVE_OK);
  fake::world().deliver();
  CHECK(heard.order == "dxdxdx");
  CHECK(heard.status == COVE_OK);
}
