/// Processes: what is asked of a handle, and of a background process by its id.
#include "support.hpp"

using namespace cove;

namespace {

using Asked = std::vector<std::string>;
using InfoHandle = std::unique_ptr<cove_process_info, FreeBy<cove_process_info_free>>;
using ListHandle = std::unique_ptr<cove_process_list, FreeBy<cove_process_list_free>>;
using SliceHandle = std::unique_ptr<cove_output_slice, FreeBy<cove_output_slice_free>>;

const char* const kArgv[] = {"sleep", "9"};

void on_info(void* user_data, cove_process_info* info, cove_error* error) {
  auto& heard = *static_cast<Heard*>(user_data);
  heard.text = cove_process_info_name(info);
  cove_process_info_free(info);
  note_error(heard, error);
}

void on_list(void* user_data, cove_process_list* list, cove_error* error) {
  auto& heard = *static_cast<Heard*>(user_data);
  heard.text = std::to_string(cove_process_list_count(list));
  cove_process_list_free(list);
  note_error(heard, error);
}

void on_slice(void* user_data, cove_output_slice* slice, cove_error* error) {
  auto& heard = *static_cast<Heard*>(user_data);
  heard.text = cove_output_slice_data(slice, nullptr);
  cove_output_slice_free(slice);
  note_error(heard, error);
}

void on_exec(void* user_data, cove_exec_result* result, cove_error* error) {
  cove_exec_result_free(result);
  note_error(*static_cast<Heard*>(user_data), error);
}

ProcessInfo info_of_web() {
  ProcessInfo info;
  info.id = ProcessId("ab");
  info.name = "web";
  info.command = "serve";
  info.cwd = "/workspace";
  info.started_at += std::chrono::milliseconds(12);
  info.keep_alive = std::chrono::seconds(34);
  info.stdin_open = true;
  info.out_bytes = 5;
  info.err_bytes = 6;
  return info;
}

}  // namespace

TEST_CASE("Process: a handle passes on stdin, signals and sizes", "[capi][process]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  Heard heard;
  const cove_exec_callbacks callbacks = {
      sizeof(cove_exec_callbacks), 0, nullptr, on_exec, &heard, on_drop};
  cove_exec_options options = COVE_EXEC_OPTIONS_INIT;
  options.flags = COVE_EXEC_KEEP_STDIN;
  cove_process* raw = nullptr;
  REQUIRE(cove_workspace_exec_start(workspace.get(), kArgv, 2, &options, &callbacks, &raw,
                                    nullptr) == COVE_OK);
  const ProcessHandle process(raw);
  CHECK(fake::world().stdin_mode == StdinMode::kOpen);
  CHECK(cove_process_write_stdin(raw, "a\0b", 3, nullptr, nullptr) == COVE_OK);
  CHECK(cove_process_signal(raw, 15, nullptr, nullptr) == COVE_OK);
  CHECK(cove_process_resize(raw, 50, 132, nullptr, nullptr) == COVE_OK);
  CHECK(cove_process_close_stdin(raw, nullptr, nullptr) == COVE_OK);
  CHECK(fake::world().typed == std::string("a\0b", 3));
  CHECK(fake::world().asked == Asked{"write", "signal 15", "resize 50x132", "close"});
  CHECK(cove_process_resize(raw, 0, 132, nullptr, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(cove_process_resize(raw, 50, 65536, nullptr, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(cove_process_write_stdin(raw, nullptr, 3, nullptr, nullptr) == COVE_INVALID_ARGUMENT);
  cove_process_detach(raw);
  CHECK(fake::world().detached == 1);
  Heard started;
  fake::world().asked.clear();
  CHECK(cove_process_write_stdin_start(raw, "c", 1, nullptr, on_done, &started, on_drop, nullptr) ==
        COVE_OK);
  CHECK(cove_process_signal_start(raw, 9, nullptr, on_done, &started, on_drop, nullptr) == COVE_OK);
  CHECK(cove_process_resize_start(raw, 1, 2, nullptr, on_done, &started, on_drop, nullptr) ==
        COVE_OK);
  CHECK(cove_process_close_stdin_start(raw, nullptr, on_done, &started, on_drop, nullptr) ==
        COVE_OK);
  CHECK(started.done == 0);
  fake::world().deliver();
  CHECK(started.done == 4);
  CHECK(started.dropped == 4);
  CHECK(fake::world().asked == Asked{"write", "signal 9", "resize 1x2", "close"});
}

TEST_CASE("Process: a waiting exec refuses a stdin that nobody could write to", "[capi][process]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  cove_exec_options options = COVE_EXEC_OPTIONS_INIT;
  options.flags = COVE_EXEC_KEEP_STDIN;
  cove_exec_result* result = nullptr;
  CHECK(cove_workspace_exec(workspace.get(), kArgv, 2, &options, &result, nullptr) ==
        COVE_INVALID_ARGUMENT);
}

TEST_CASE("Process: a start takes the exec's options and its own, and gives an info",
          "[capi][process]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  fake::world().process_info = info_of_web();
  fake::world().process_info.end.emplace();
  fake::world().process_info.end->outcome = Exited{3};
  cove_exec_options exec = COVE_EXEC_OPTIONS_INIT;
  exec.cwd = "data";
  cove_process_options options = COVE_PROCESS_OPTIONS_INIT;
  options.name = "web";
  options.keep_alive_s = 34;
  cove_process_info* raw = nullptr;
  REQUIRE(cove_workspace_start_process(workspace.get(), kArgv, 2, &exec, &options, &raw, nullptr) ==
          COVE_OK);
  const InfoHandle info(raw);
  CHECK(fake::world().exec.cwd == "data");
  CHECK(fake::world().process_options.name == "web");
  CHECK(fake::world().process_options.keep_alive == std::chrono::seconds(34));
  CHECK(std::string(cove_process_info_id(raw)) == "ab");
  CHECK(std::string(cove_process_info_name(raw)) == "web");
  CHECK(std::string(cove_process_info_command(raw)) == "serve");
  CHECK(std::string(cove_process_info_cwd(raw)) == "/workspace");
  CHECK(cove_process_info_started_at_ms(raw) == 12);
  CHECK(cove_process_info_keep_alive_s(raw) == 34);
  CHECK(cove_process_info_has_terminal(raw) == 0);
  CHECK(cove_process_info_stdin_open(raw) == 1);
  CHECK(cove_process_info_total_bytes(raw, COVE_STDOUT) == 5);
  CHECK(cove_process_info_total_bytes(raw, COVE_STDERR) == 6);
  CHECK(cove_process_info_total_bytes(raw, 3) == 0);
  CHECK(cove_exec_result_code(cove_process_info_result(raw)) == 3);
  options.keep_alive_s = 24 * 60 * 60 + 1;
  CHECK(cove_workspace_start_process(workspace.get(), kArgv, 2, &exec, &options, &raw, nullptr) ==
        COVE_INVALID_ARGUMENT);
  CHECK(raw == nullptr);
}

TEST_CASE("Process: the list and a slice are given whole", "[capi][process]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  fake::world().process_info = info_of_web();
  cove_process_list* raw_list = nullptr;
  REQUIRE(cove_workspace_list_processes(workspace.get(), nullptr, &raw_list, nullptr) == COVE_OK);
  const ListHandle list(raw_list);
  REQUIRE(cove_process_list_count(raw_list) == 2);
  CHECK(std::string(cove_process_info_name(cove_process_list_entry(raw_list, 0))) == "web");
  CHECK(cove_process_info_result(cove_process_list_entry(raw_list, 0)) == nullptr);
  CHECK(cove_process_list_entry(raw_list, 2) == nullptr);

  fake::world().slice = {.bytes = {std::byte{'h'}, std::byte{0}, std::byte{'i'}},
                         .offset = 10,
                         .next = 13,
                         .gone = 4,
                         .at_end = true};
  cove_output_options options = COVE_OUTPUT_OPTIONS_INIT;
  options.stream = COVE_STDERR;
  options.offset = 6;
  options.max_bytes = 100;
  options.wait_ms = 200;
  cove_output_slice* raw_slice = nullptr;
  REQUIRE(cove_workspace_process_output(workspace.get(), "ab", &options, &raw_slice, nullptr) ==
          COVE_OK);
  const SliceHandle slice(raw_slice);
  CHECK(fake::world().process == ProcessId("ab"));
  CHECK(fake::world().output.stream == OutputStream::kErr);
  CHECK(fake::world().output.offset == 6);
  CHECK(fake::world().output.limit == 100);
  CHECK(fake::world().output.wait_for == std::chrono::milliseconds(200));
  size_t size = 0;
  const char* data = cove_output_slice_data(raw_slice, &size);
  CHECK(std::string(data, size) == std::string("h\0i", 3));
  CHECK(cove_output_slice_offset(raw_slice) == 10);
  CHECK(cove_output_slice_next(raw_slice) == 13);
  CHECK(cove_output_slice_gone(raw_slice) == 4);
  CHECK(cove_output_slice_at_end(raw_slice) == 1);
  options.stream = 3;
  CHECK(cove_workspace_process_output(workspace.get(), "ab", &options, &raw_slice, nullptr) ==
        COVE_INVALID_ARGUMENT);
}

TEST_CASE("Process: each call about one names it, waiting and starting", "[capi][process]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  cove_workspace* const w = workspace.get();
  fake::world().process_info = info_of_web();
  const auto take = [](auto call) {
    cove_process_info* info = nullptr;
    CHECK(call(&info) == COVE_OK);
    CHECK(std::string(cove_process_info_name(info)) == "web");
    cove_process_info_free(info);
  };
  take([&](auto out) { return cove_workspace_find_process(w, "ab", nullptr, out, nullptr); });
  take([&](auto out) { return cove_workspace_wait_process(w, "ab", nullptr, out, nullptr); });
  take([&](auto out) { return cove_workspace_end_process(w, "ab", nullptr, out, nullptr); });
  CHECK(cove_workspace_write_process_stdin(w, "ab", "x", 1, nullptr, nullptr) == COVE_OK);
  CHECK(cove_workspace_close_process_stdin(w, "ab", nullptr, nullptr) == COVE_OK);
  CHECK(cove_workspace_signal_process(w, "ab", 1, nullptr, nullptr) == COVE_OK);
  CHECK(cove_workspace_resize_process(w, "ab", 2, 3, nullptr, nullptr) == COVE_OK);
  CHECK(cove_workspace_remove_process(w, "ab", nullptr, nullptr) == COVE_OK);
  const Asked all{"find",     "wait",        "end",        "write to it",
                  "close it", "signal it 1", "resize 2x3", "remove"};
  CHECK(fake::world().asked == all);
  CHECK(fake::world().process == ProcessId("ab"));
  CHECK(cove_workspace_remove_process(w, nullptr, nullptr, nullptr) == COVE_INVALID_ARGUMENT);

  fake::world().asked.clear();
  Heard heard;
  const auto started = [](cove_status status) { CHECK(status == COVE_OK); };
  started(cove_workspace_find_process_start(w, "ab", nullptr, on_info, &heard, on_drop, nullptr));
  started(cove_workspace_wait_process_start(w, "ab", nullptr, on_info, &heard, on_drop, nullptr));
  started(cove_workspace_end_process_start(w, "ab", nullptr, on_info, &heard, on_drop, nullptr));
  started(cove_workspace_write_process_stdin_start(w, "ab", "y", 1, nullptr, on_done, &heard,
                                                   on_drop, nullptr));
  started(cove_workspace_close_process_stdin_start(w, "ab", nullptr, on_done, &heard, on_drop,
                                                   nullptr));
  started(
      cove_workspace_signal_process_start(w, "ab", 1, nullptr, on_done, &heard, on_drop, nullptr));
  started(cove_workspace_resize_process_start(w, "ab", 2, 3, nullptr, on_done, &heard, on_drop,
                                              nullptr));
  started(cove_workspace_remove_process_start(w, "ab", nullptr, on_done, &heard, on_drop, nullptr));
  CHECK(heard.done == 0);
  fake::world().deliver();
  CHECK(heard.done == 8);
  CHECK(heard.dropped == 8);
  CHECK(heard.text == "web");
  CHECK(fake::world().asked == all);
  CHECK(fake::world().typed == "xy");

  Heard more;
  fake::world().slice.bytes = {std::byte{'o'}};
  started(cove_workspace_start_process_start(w, kArgv, 2, nullptr, nullptr, on_info, &more, on_drop,
                                             nullptr));
  started(cove_workspace_list_processes_start(w, nullptr, on_list, &more, on_drop, nullptr));
  fake::world().deliver();
  CHECK(more.text == "2");
  started(cove_workspace_process_output_start(w, "ab", nullptr, on_slice, &more, on_drop, nullptr));
  fake::world().deliver();
  CHECK(more.order == "dxdxdx");
}

TEST_CASE("Process: an attach gives a handle whose callbacks are the host's", "[capi][process]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  Heard heard;
  const cove_exec_callbacks callbacks = {
      sizeof(cove_exec_callbacks), 0, nullptr, on_exec, &heard, on_drop};
  cove_attach_options options = COVE_ATTACH_OPTIONS_INIT;
  options.flags = COVE_ATTACH_ONLY_NEW;
  options.out_offset = 7;
  options.err_offset = 8;
  cove_process* raw = nullptr;
  REQUIRE(cove_workspace_attach_process(workspace.get(), "ab", &options, &callbacks, &raw,
                                        nullptr) == COVE_OK);
  const ProcessHandle process(raw);
  CHECK(fake::world().process == ProcessId("ab"));
  CHECK(fake::world().attach.only_new);
  CHECK(fake::world().attach.out_offset == 7);
  CHECK(fake::world().attach.err_offset == 8);
  auto facade = std::move(fake::world().callbacks);
  facade.on_done(Error(ErrorCode::kCancelled, "let go"));
  CHECK(heard.status == COVE_CANCELLED);
  CHECK(heard.order == "dx");
  options.flags = 2;
  CHECK(cove_workspace_attach_process(workspace.get(), "ab", &options, &callbacks, &raw, nullptr) ==
        COVE_UNSUPPORTED);
  CHECK(heard.dropped == 2);
}

TEST_CASE("Process: getters of nothing give nothing", "[capi][process]") {
  CHECK(std::string(cove_process_info_id(nullptr)).empty());
  CHECK(cove_process_info_result(nullptr) == nullptr);
  CHECK(cove_process_list_count(nullptr) == 0);
  CHECK(cove_output_slice_at_end(nullptr) == 0);
  size_t size = 1;
  CHECK(std::string(cove_output_slice_data(nullptr, &size)).empty());
  CHECK(size == 0);
}
