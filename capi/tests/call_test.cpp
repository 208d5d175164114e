/// Handles: who keeps whom alive, what is refused, what arrives.
#include <cstring>

#include <sys/wait.h>
#include <unistd.h>

#include "base/async/waiting.hpp"
#include "support.hpp"

using namespace cove;

namespace {

void on_log(void* user_data, int32_t level, const char* message) {
  auto& heard = *static_cast<Heard*>(user_data);
  CHECK(level == COVE_LOG_INFO);
  heard.text = message;
}

}  // namespace

TEST_CASE("Cove: every free accepts NULL", "[capi][handles]") {
  cove_free(nullptr);
  cove_workspace_free(nullptr);
  cove_process_free(nullptr);
  cove_process_resume(nullptr);
  cove_process_cancel(nullptr);
  cove_exec_result_free(nullptr);
  cove_file_info_free(nullptr);
  cove_file_page_free(nullptr);
  cove_buffer_free(nullptr);
  cove_cancel_free(nullptr);
  cove_cancel_trigger(nullptr);
  CHECK(cove_buffer_size(nullptr) == 0);
  CHECK(cove_exec_result_outcome(nullptr) == 0);
  CHECK(std::strlen(cove_workspace_directory(nullptr)) == 0);
  CHECK(cove_file_page_count(nullptr) == 0);
}

TEST_CASE("cove_thread_set_wait_check: 0 calls off what waits", "[capi]") {
  int32_t may_wait = 1;
  const auto check = [](void* answer) { return *static_cast<int32_t*>(answer); };
  cove_thread_set_wait_check(check, &may_wait);
  {
    const cove::CallContext call;
    cove::base::Waiting waiting(call);
    waiting.look();
    CHECK_FALSE(waiting.call().stop.stop_requested());
    may_wait = 0;
    waiting.look();
    CHECK(waiting.call().stop.stop_requested());
  }
  cove_thread_set_wait_check(nullptr, nullptr);
  CHECK(cove::base::Waiting::current() == nullptr);
}

TEST_CASE("Cove: a NULL where something is needed is named", "[capi][handles]") {
  const auto cove = open_cove();
  cove_error* raw = nullptr;
  cove_workspace* workspace = nullptr;
  const auto message = [&raw] {
    const ErrorHandle error(raw);
    CHECK(cove_error_code(raw) == COVE_INVALID_ARGUMENT);
    return std::string(cove_error_message(raw));
  };
  cove_acquire(nullptr, &kAna, nullptr, &workspace, &raw);
  CHECK(message() == "cove is NULL");
  cove_acquire(cove.get(), nullptr, nullptr, &workspace, &raw);
  CHECK(message() == "key is NULL");
  cove_acquire(cove.get(), &kAna, nullptr, nullptr, &raw);
  CHECK(message() == "out_workspace is NULL");
  cove_open(nullptr, nullptr, nullptr, &raw);
  CHECK(message() == "out_cove is NULL");
  cove_stop(cove.get(), nullptr, nullptr, &raw);
  CHECK(message() == "sandbox_id is NULL");
  cove_stop(cove.get(), "", nullptr, &raw);
  CHECK(message() == "sandbox_id is empty");
  cove_workspace_key key = kAna;
  key.user_id = nullptr;
  cove_acquire(cove.get(), &key, nullptr, &workspace, &raw);
  CHECK(message() == "key.user_id is NULL");
}

TEST_CASE("Cove: on failure every out parameter is NULL", "[capi][handles]") {
  const auto cove = open_cove();
  auto* workspace = reinterpret_cast<cove_workspace*>(1);
  fake::world().fail_with = Error(ErrorCode::kUnavailable, "no");
  CHECK(cove_acquire(cove.get(), &kAna, nullptr, &workspace, nullptr) == COVE_UNAVAILABLE);
  CHECK(workspace == nullptr);
  fake::world().fail_with.reset();
}

TEST_CASE("Cove: a child keeps its Cove open, in any order of the frees", "[capi][handles]") {
  auto cove = open_cove();
  auto workspace = acquire(cove);
  cove.reset();
  CHECK(fake::world().open == 1);
  CHECK(std::string(cove_workspace_directory(workspace.get())) == "/workspace/sessions/c1");
  CHECK(std::string(cove_workspace_sandbox_id(workspace.get())) == "app-1");
  CHECK(cove_workspace_work(workspace.get()) == COVE_WORK_RESTORED);
  workspace.reset();
  CHECK(fake::world().open == 0);
}

TEST_CASE("Cove: the key and the options of an acquire arrive", "[capi][handles]") {
  const auto cove = open_cove();
  cove_acquire_options options = COVE_ACQUIRE_OPTIONS_INIT;
  options.chat_id = "c1";
  options.sandbox_id = "app-old";
  cove_workspace* workspace = nullptr;
  REQUIRE(cove_acquire(cove.get(), &kAna, &options, &workspace, nullptr) == COVE_OK);
  const WorkspaceHandle owned(workspace);
  CHECK(fake::world().key == WorkspaceKey{"app", "demo", "ana"});
  CHECK(fake::world().acquire.chat_id == "c1");
  CHECK(fake::world().acquire.sandbox == SandboxId("app-old"));
}

TEST_CASE("Cove: the sandbox id needs no open Cove and is the promised one", "[capi][handles]") {
  cove_buffer* raw = nullptr;
  REQUIRE(cove_sandbox_id_of(&kAna, &raw, nullptr) == COVE_OK);
  const BufferHandle id(raw);
  CHECK(std::string(cove_buffer_data(raw)) == "app-52b3bfdf3477b4e1a1bf8608dc581e36");
  cove_workspace_key wrong = kAna;
  wrong.source_type = "a-b";
  CHECK(cove_sandbox_id_of(&wrong, &raw, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(raw == nullptr);
}

TEST_CASE("Cove: files go in and out with every option", "[capi][handles]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  cove_read_options read = COVE_READ_OPTIONS_INIT;
  read.offset = 3;
  read.max_bytes = 9;
  cove_buffer* buffer = nullptr;
  REQUIRE(cove_workspace_read_file(workspace.get(), "a/b", &read, &buffer, nullptr) == COVE_OK);
  const BufferHandle content(buffer);
  CHECK(std::string(cove_buffer_data(buffer), cove_buffer_size(buffer)) == std::string("h\0i", 3));
  CHECK(cove_buffer_data(buffer)[3] == '\0');
  CHECK(fake::world().path == "a/b");
  CHECK(fake::world().range.offset == 3);
  CHECK(fake::world().range.length == 9U);

  cove_write_options write = COVE_WRITE_OPTIONS_INIT;
  write.flags = COVE_WRITE_DURABLE | COVE_WRITE_EXISTING_PARENTS;
  write.mode = 0755;
  cove_file_info* info = nullptr;
  REQUIRE(cove_workspace_write_file(workspace.get(), "f", "x\0", 2, &write, &info, nullptr) ==
          COVE_OK);
  CHECK(fake::world().written == Bytes{std::byte{'x'}, std::byte{0}});
  CHECK(fake::world().write.durable);
  CHECK_FALSE(fake::world().write.create_parents);
  CHECK(fake::world().write.mode == 0755U);
  CHECK(cove_file_info_type(info) == COVE_FILE_REGULAR);
  CHECK(cove_file_info_size(info) == 5);
  CHECK(cove_file_info_mode(info) == 0644);
  CHECK(cove_file_info_modified_ns(info) == 7);
  cove_file_info_free(info);
  write.mode = 010000;
  CHECK(cove_workspace_write_file(workspace.get(), "f", "x", 1, &write, nullptr, nullptr) ==
        COVE_INVALID_ARGUMENT);
  CHECK(cove_workspace_write_file(workspace.get(), "f", nullptr, 0, nullptr, nullptr, nullptr) ==
        COVE_OK);
  CHECK(cove_workspace_write_file(workspace.get(), "f", nullptr, 1, nullptr, nullptr, nullptr) ==
        COVE_INVALID_ARGUMENT);

  cove_remove_options remove = COVE_REMOVE_OPTIONS_INIT;
  remove.flags = COVE_REMOVE_RECURSIVE;
  CHECK(cove_workspace_remove(workspace.get(), "d", &remove, nullptr) == COVE_OK);
  CHECK(fake::world().recursive);
}

TEST_CASE("Cove: a page gives its entries, also names that are no UTF-8", "[capi][handles]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  cove_file_page* page = nullptr;
  REQUIRE(cove_workspace_list(workspace.get(), ".", nullptr, &page, nullptr) == COVE_OK);
  REQUIRE(cove_file_page_count(page) == 2);
  CHECK(std::string(cove_file_info_path(cove_file_page_entry(page, 1))) == "\xff");
  CHECK(cove_file_page_entry(page, 2) == nullptr);
  CHECK(std::string(cove_file_page_next(page)) == "\xff");
  CHECK(fake::world().list.limit == 1000);
  cove_file_page_free(page);
}

TEST_CASE("Cove: the log callback hears, and its drop comes once, after the close",
          "[capi][callbacks]") {
  fake::reset();
  Heard heard;
  cove_open_options options = COVE_OPEN_OPTIONS_INIT;
  options.log = on_log;
  options.log_user_data = &heard;
  options.log_drop = on_drop;
  cove_handle* cove = nullptr;
  REQUIRE(cove_open(kConfig, &options, &cove, nullptr) == COVE_OK);
  CHECK(heard.text == "opened");
  CHECK(heard.dropped == 0);
  CHECK(cove_close(cove, 100, nullptr) == COVE_OK);
  cove_free(cove);
  CHECK(heard.dropped == 1);
}

TEST_CASE("Cove: the log's drop comes once whatever made the open fail", "[capi][callbacks]") {
  fake::reset();
  Heard heard;
  cove_open_options options = COVE_OPEN_OPTIONS_INIT;
  options.log_user_data = &heard;
  options.log_drop = on_drop;
  cove_handle* cove = nullptr;
  SECTION("no log was wanted") {
    REQUIRE(cove_open(kConfig, &options, &cove, nullptr) == COVE_OK);
    cove_free(cove);
  }
  SECTION("the configuration") {
    options.log = on_log;
    CHECK(cove_open("{", &options, &cove, nullptr) == COVE_INVALID_ARGUMENT);
  }
  SECTION("the out parameter") {
    options.log = on_log;
    CHECK(cove_open(kConfig, &options, nullptr, nullptr) == COVE_INVALID_ARGUMENT);
  }
  SECTION("the options") {
    options.log = on_log;
    options.reserved0 = 1;
    CHECK(cove_open(kConfig, &options, &cove, nullptr) == COVE_UNSUPPORTED);
  }
  SECTION("the facade") {
    options.log = on_log;
    fake::world().fail_with = Error(ErrorCode::kPermissionDenied, "open to others");
    CHECK(cove_open(kConfig, &options, &cove, nullptr) == COVE_PERMISSION_DENIED);
    fake::reset();
  }
  CHECK(heard.dropped == 1);
}

TEST_CASE("Cove: the calls on a whole deployment give their answers", "[capi][calls]") {
  auto cove = open_cove();
  cove_buffer* raw = nullptr;
  const auto text = [&raw] {
    const std::string bytes(static_cast<const char*>(cove_buffer_data(raw)), cove_buffer_size(raw));
    cove_buffer_free(raw);
    return bytes;
  };
  REQUIRE(cove_destroy_source_json(cove.get(), "app/demo", nullptr, &raw, nullptr) == COVE_OK);
  CHECK(text() == "{\"destroyed\":3}");
  CHECK(fake::world().source == "app/demo");
  REQUIRE(cove_recover_json(cove.get(), nullptr, nullptr, &raw, nullptr) == COVE_OK);
  CHECK(text() ==
        "{\"archived\":2,\"deployment\":\"\",\"destroyed\":0,\"kept\":0,\"problems\":[\"one\"],"
        "\"stopped\":0}");
  REQUIRE(cove_metrics_text(cove.get(), nullptr, &raw, nullptr) == COVE_OK);
  CHECK(text() == "cove_sandboxes 1\n");
  for (const char* wrong : {static_cast<const char*>(nullptr), "demo"}) {
    CHECK(cove_destroy_source_json(cove.get(), wrong, nullptr, &raw, nullptr) ==
          COVE_INVALID_ARGUMENT);
    CHECK(raw == nullptr);
  }
  REQUIRE(cove_metrics_text(cove.get(), nullptr, &raw, nullptr) == COVE_OK);
  CHECK(text() == "cove_sandboxes 1\n");
  cove_sweep_options sweep = COVE_SWEEP_OPTIONS_INIT;
  sweep.struct_size = 1;
  CHECK(cove_sweep_json(cove.get(), &sweep, &raw, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(raw == nullptr);
}

TEST_CASE("Cove: a stop is given its time to wait", "[capi][calls]") {
  auto cove = open_cove();
  cove_stop_options options = COVE_STOP_OPTIONS_INIT;
  options.wait_ms = 1500;
  CHECK(cove_stop(cove.get(), "app-1", &options, nullptr) == COVE_OK);
  CHECK(fake::world().wait == std::chrono::milliseconds(1500));
  options.wait_ms = 3'600'001;
  CHECK(cove_stop(cove.get(), "app-1", &options, nullptr) == COVE_INVALID_ARGUMENT);
}

TEST_CASE("Cove: a relocate is given its provider, drain and times", "[capi][calls]") {
  const auto cove = open_cove();
  cove_relocate_options options = COVE_RELOCATE_OPTIONS_INIT;
  options.provider = "tree";
  CHECK(cove_relocate(cove.get(), "app-1", &options, nullptr) == COVE_OK);
  CHECK(fake::world().relocated == SandboxId("app-1"));
  CHECK(fake::world().relocate.provider == "tree");
  CHECK(fake::world().relocate.drain == StopDrain::kRefuse);
  CHECK(fake::world().relocate.wait == std::chrono::milliseconds(0));
  CHECK_FALSE(fake::world().call.deadline);
  options.drain = COVE_DRAIN_CANCEL;
  options.wait_ms = 1500;
  options.timeout_ms = 60'000;
  CHECK(cove_relocate(cove.get(), "app-1", &options, nullptr) == COVE_OK);
  CHECK(fake::world().relocate.drain == StopDrain::kCancel);
  CHECK(fake::world().relocate.wait == std::chrono::milliseconds(1500));
  CHECK(fake::world().call.deadline);
  fake::world().fail_with = Error(ErrorCode::kInvalidArgument, "no provider 'tree'");
  cove_error* error = nullptr;
  CHECK(cove_relocate(cove.get(), "app-1", &options, &error) == COVE_INVALID_ARGUMENT);
  CHECK(std::string(cove_error_message(error)) == "no provider 'tree'");
  cove_error_free(error);
}

TEST_CASE("Cove: a relocate without a provider, or with what it cannot mean, is refused",
          "[capi][calls]") {
  const auto cove = open_cove();
  cove_relocate_options options = COVE_RELOCATE_OPTIONS_INIT;
  CHECK(cove_relocate(cove.get(), "app-1", nullptr, nullptr) == COVE_INVALID_ARGUMENT);
  cove_error* error = nullptr;
  CHECK(cove_relocate(cove.get(), "app-1", &options, &error) == COVE_INVALID_ARGUMENT);
  CHECK(std::string(cove_error_message(error)).find("cove_relocate_options.provider") !=
        std::string::npos);
  cove_error_free(error);
  options.provider = "tree";
  CHECK(cove_relocate(cove.get(), nullptr, &options, nullptr) == COVE_INVALID_ARGUMENT);
  options.wait_ms = 3'600'001;
  CHECK(cove_relocate(cove.get(), "app-1", &options, nullptr) == COVE_INVALID_ARGUMENT);
  options.wait_ms = 0;
  options.drain = 2;
  CHECK(cove_relocate(cove.get(), "app-1", &options, nullptr) == COVE_UNSUPPORTED);
  Heard heard;
  CHECK(cove_relocate_start(cove.get(), "app-1", nullptr, on_done, &heard, on_drop, nullptr) ==
        COVE_INVALID_ARGUMENT);
  CHECK(heard.order == "x");
  CHECK(fake::world().relocated == SandboxId());
}

TEST_CASE("Cove: a forked child is refused and frees nothing of the parent's", "[capi][fork]") {
  auto cove = open_cove();
  auto workspace = acquire(cove);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    cove_buffer* buffer = nullptr;
    Heard heard;
    const bool refused =
        cove_sweep_json(cove.get(), nullptr, &buffer, nullptr) == COVE_FAILED_PRECONDITION &&
        cove_workspace_stat(workspace.get(), "x", nullptr, nullptr, nullptr) ==
            COVE_FAILED_PRECONDITION &&
        cove_close(cove.get(), 10, nullptr) == COVE_FAILED_PRECONDITION &&
        cove_stop_start(cove.get(), "app-1", nullptr, on_done, &heard, on_drop, nullptr) ==
            COVE_FAILED_PRECONDITION &&
        heard.done == 0 && heard.dropped == 1;
    workspace.reset();
    cove.reset();
    ::_exit(refused && fake::world().open == 1 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
