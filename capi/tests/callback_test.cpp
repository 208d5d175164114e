/// Completions: called exactly once, or never where the start failed; `drop` once, always last.
#include "support.hpp"

using namespace cove;

namespace {

cove_status start_stop(cove_handle* cove, Heard* heard, const char* sandbox = "app-1") {
  return cove_stop_start(cove, sandbox, nullptr, on_done, heard, on_drop, nullptr);
}

}  // namespace

TEST_CASE("Callback: done comes once, then drop once", "[capi][callbacks]") {
  const auto cove = open_cove();
  Heard heard;
  REQUIRE(start_stop(cove.get(), &heard) == COVE_OK);
  CHECK(heard.order.empty());
  fake::world().deliver();
  CHECK(heard.order == "dx");
  CHECK(heard.status == COVE_OK);
}

TEST_CASE("Callback: an error arrives as an error object", "[capi][callbacks]") {
  const auto cove = open_cove();
  Heard heard;
  REQUIRE(start_stop(cove.get(), &heard) == COVE_OK);
  fake::world().fail_with = Error(ErrorCode::kNotFound, "no such sandbox");
  fake::world().deliver();
  fake::world().fail_with.reset();
  CHECK(heard.order == "dx");
  CHECK(heard.status == COVE_NOT_FOUND);
  CHECK(heard.text == "no such sandbox");
}

TEST_CASE("Callback: a start that fails drops once and never calls done", "[capi][callbacks]") {
  const auto cove = open_cove();
  Heard heard;
  SECTION("no handle") { CHECK(start_stop(nullptr, &heard) == COVE_INVALID_ARGUMENT); }
  SECTION("a wrong argument") {
    CHECK(start_stop(cove.get(), &heard, "") == COVE_INVALID_ARGUMENT);
  }
  SECTION("no callback") {
    CHECK(cove_stop_start(cove.get(), "app-1", nullptr, nullptr, &heard, on_drop, nullptr) ==
          COVE_INVALID_ARGUMENT);
  }
  fake::world().deliver();
  CHECK(heard.order == "x");
}

TEST_CASE("Callback: what is pending when the Cove is freed ends as cancelled",
          "[capi][callbacks]") {
  auto cove = open_cove();
  Heard heard;
  REQUIRE(start_stop(cove.get(), &heard) == COVE_OK);
  cove.reset();
  CHECK(heard.order == "dx");
  CHECK(heard.status == COVE_CANCELLED);
  CHECK(fake::world().open == 0);
}

TEST_CASE("Callback: every start form answers", "[capi][callbacks]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  Heard heard;
  const auto finish = [&](cove_status started) {
    REQUIRE(started == COVE_OK);
    fake::world().deliver();
    CHECK(heard.order == "dx");
    CHECK(heard.status == COVE_OK);
    const std::string text = heard.text;
    heard = Heard();
    return text;
  };
  finish(cove_archive_start(cove.get(), "a", nullptr, on_done, &heard, on_drop, nullptr));
  cove_relocate_options relocate = COVE_RELOCATE_OPTIONS_INIT;
  relocate.provider = "tree";
  finish(cove_relocate_start(cove.get(), "a", &relocate, on_done, &heard, on_drop, nullptr));
  CHECK(fake::world().relocated == SandboxId("a"));
  CHECK(fake::world().relocate.provider == "tree");
  finish(cove_destroy_start(cove.get(), "a", nullptr, on_done, &heard, on_drop, nullptr));
  CHECK(finish(cove_sweep_json_start(cove.get(), nullptr, on_buffer, &heard, on_drop, nullptr))
            .find("\"examined\":3") != std::string::npos);
  CHECK(finish(cove_destroy_source_json_start(cove.get(), "app/demo", nullptr, on_buffer, &heard,
                                              on_drop, nullptr)) == "{\"destroyed\":3}");
  CHECK(finish(
            cove_recover_json_start(cove.get(), "d1", nullptr, on_buffer, &heard, on_drop, nullptr))
            .find("\"deployment\":\"d1\"") != std::string::npos);
  CHECK(finish(cove_metrics_text_start(cove.get(), nullptr, on_buffer, &heard, on_drop, nullptr)) ==
        "cove_sandboxes 1\n");
  CHECK(finish(cove_status_json_start(cove.get(), "app-9", nullptr, on_buffer, &heard, on_drop,
                                      nullptr))
            .find("\"sandbox_id\":\"app-9\"") != std::string::npos);
  auto* const space = workspace.get();
  CHECK(finish(cove_workspace_read_file_start(space, "f", nullptr, on_buffer, &heard, on_drop,
                                              nullptr)) == "h");
  finish(
      cove_workspace_make_directory_start(space, "d", nullptr, on_done, &heard, on_drop, nullptr));
  finish(cove_workspace_remove_start(space, "d", nullptr, on_done, &heard, on_drop, nullptr));
  const auto on_info = [](void* user_data, cove_file_info* info, cove_error* error) {
    CHECK(std::string(cove_file_info_path(info)) == "f");
    cove_file_info_free(info);
    note_error(*static_cast<Heard*>(user_data), error);
  };
  finish(cove_workspace_stat_start(space, "f", nullptr, on_info, &heard, on_drop, nullptr));
  finish(cove_workspace_write_file_start(space, "f", "xy", 2, nullptr, on_info, &heard, on_drop,
                                         nullptr));
  CHECK(fake::world().written.size() == 2);
  const auto on_page = [](void* user_data, cove_file_page* page, cove_error* error) {
    CHECK(cove_file_page_count(page) == 1);
    cove_file_page_free(page);
    note_error(*static_cast<Heard*>(user_data), error);
  };
  finish(cove_workspace_list_start(space, "d", nullptr, on_page, &heard, on_drop, nullptr));
}

TEST_CASE("Callback: an acquire hands over a workspace that lives on its own",
          "[capi][callbacks]") {
  auto cove = open_cove();
  struct Got {
    WorkspaceHandle workspace;
    cove_status status = COVE_OK;
  } got;
  const auto done = [](void* user_data, cove_workspace* workspace, cove_error* error) {
    auto& result = *static_cast<Got*>(user_data);
    result.workspace.reset(workspace);
    result.status = cove_error_code(error);
    cove_error_free(error);
  };
  REQUIRE(cove_acquire_start(cove.get(), &kAna, nullptr, done, &got, nullptr, nullptr) == COVE_OK);
  fake::world().deliver();
  REQUIRE(got.workspace);
  cove.reset();
  CHECK(fake::world().open == 1);
  got.workspace.reset();
  CHECK(fake::world().open == 0);
}

TEST_CASE("Callback: a call that waits is refused inside one, a start is not",
          "[capi][callbacks]") {
  const auto cove = open_cove();
  struct Inside {
    cove_handle* cove;
    Heard second;
    cove_status waiting = COVE_OK;
    cove_status closing = COVE_OK;
    cove_status starting = COVE_INTERNAL;
  } inside{cove.get(), {}};
  const auto done = [](void* user_data, cove_error* error) {
    auto& self = *static_cast<Inside*>(user_data);
    cove_error_free(error);
    self.waiting = cove_stop(self.cove, "app-1", nullptr, nullptr);
    self.closing = cove_close(self.cove, 0, nullptr);
    self.starting = start_stop(self.cove, &self.second);
  };
  REQUIRE(cove_destroy_start(cove.get(), "a", nullptr, done, &inside, nullptr, nullptr) == COVE_OK);
  fake::world().deliver();
  CHECK(inside.waiting == COVE_FAILED_PRECONDITION);
  CHECK(inside.closing == COVE_FAILED_PRECONDITION);
  CHECK(inside.starting == COVE_OK);
  fake::world().deliver();
  CHECK(inside.second.order == "dx");
  CHECK(cove_stop(cove.get(), "app-1", nullptr, nullptr) == COVE_OK);
}
