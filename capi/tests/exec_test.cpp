/// Commands: the result's getters, and a command that is followed by callbacks.
#include "support.hpp"

using namespace cove;

namespace {

const char* const kArgv[] = {"sh", "-c", "x"};

int32_t on_output(void* user_data, int32_t stream, const void* data, size_t size) {
  auto& heard = *static_cast<Heard*>(user_data);
  heard.order += stream == COVE_STDOUT ? 'o' : 'e';
  heard.text.append(static_cast<const char*>(data), size);
  return stream == COVE_STDERR ? COVE_PAUSE : COVE_CONTINUE;
}

void on_exec(void* user_data, cove_exec_result* result, cove_error* error) {
  cove_exec_result_free(result);
  note_error(*static_cast<Heard*>(user_data), error);
}

cove_exec_callbacks callbacks_to(Heard* heard) {
  return {sizeof(cove_exec_callbacks), 0, on_output, on_exec, heard, on_drop};
}

ResultHandle exec(const WorkspaceHandle& workspace, ExecResult result) {
  fake::world().result = std::move(result);
  cove_exec_result* raw = nullptr;
  REQUIRE(cove_workspace_exec(workspace.get(), kArgv, 3, nullptr, &raw, nullptr) == COVE_OK);
  return ResultHandle(raw);
}

ByteView bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace

TEST_CASE("Exec: how a command ended is data, each end its own", "[capi][exec]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  struct Row {
    Outcome outcome;
    int32_t number, code, shell;
  };
  const Row rows[] = {{Exited{7}, COVE_OUTCOME_EXITED, 7, 7},
                      {Signaled{15}, COVE_OUTCOME_SIGNALED, 15, 143},
                      {TimedOut{}, COVE_OUTCOME_TIMED_OUT, 0, 124},
                      {Cancelled{}, COVE_OUTCOME_CANCELLED, 0, 130},
                      {OutputLimitReached{}, COVE_OUTCOME_OUTPUT_LIMIT, 0, 137},
                      {OutOfMemory{}, COVE_OUTCOME_OUT_OF_MEMORY, 0, 137},
                      {CpuLimitReached{}, COVE_OUTCOME_CPU_LIMIT, 0, 137}};
  for (const Row& row : rows) {
    ExecResult ended;
    ended.outcome = row.outcome;
    ended.duration = std::chrono::microseconds(12);
    const auto result = exec(workspace, ended);
    CHECK(cove_exec_result_outcome(result.get()) == row.number);
    CHECK(cove_exec_result_code(result.get()) == row.code);
    CHECK(cove_exec_result_shell_code(result.get()) == row.shell);
    CHECK(cove_exec_result_duration_us(result.get()) == 12);
  }
}

TEST_CASE("Exec: output is given whole, or as head and tail with the gap named", "[capi][exec]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  ExecResult ended;
  ended.out = {std::string("a\0b", 3), "", 3, 0};
  ended.err = {"begin", "end", 100, 92};
  const auto result = exec(workspace, ended);
  size_t size = 0;
  const char* head = cove_exec_result_head(result.get(), COVE_STDOUT, &size);
  CHECK(std::string(head, size) == std::string("a\0b", 3));
  const char* text = cove_exec_result_text(result.get(), COVE_STDOUT, &size);
  CHECK(std::string(text, size) == std::string("a\0b", 3));
  CHECK(std::string(cove_exec_result_tail(result.get(), COVE_STDOUT, &size)).empty());
  CHECK(std::string(cove_exec_result_tail(result.get(), COVE_STDERR, nullptr)) == "end");
  CHECK(cove_exec_result_text(result.get(), COVE_STDERR, nullptr) == ended.err.text());
  CHECK(cove_exec_result_total_bytes(result.get(), COVE_STDERR) == 100);
  CHECK(cove_exec_result_dropped_bytes(result.get(), COVE_STDERR) == 92);
  CHECK(std::string(cove_exec_result_text(result.get(), 3, &size)).empty());
  CHECK(size == 0);
}

TEST_CASE("Exec: output, then done, then drop; and the pause is passed on", "[capi][exec]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  Heard heard;
  const auto callbacks = callbacks_to(&heard);
  cove_process* raw = nullptr;
  REQUIRE(cove_workspace_exec_start(workspace.get(), kArgv, 3, nullptr, &callbacks, &raw,
                                    nullptr) == COVE_OK);
  const ProcessHandle process(raw);
  auto facade = fake::world().callbacks;
  CHECK(facade.on_output(OutputStream::kOut, bytes_of("one")) == Flow::kContinue);
  CHECK(facade.on_output(OutputStream::kErr, bytes_of("two")) == Flow::kPause);
  cove_process_resume(raw);
  CHECK(fake::world().resumed == 1);
  cove_process_cancel(raw);
  CHECK(fake::world().cancelled == 1);
  facade.on_done(ExecResult{});
  CHECK(heard.order == "oedx");
  CHECK(heard.text == "onetwo");
}

TEST_CASE("Exec: a process handle may be freed before the end", "[capi][exec]") {
  auto cove = open_cove();
  auto workspace = acquire(cove);
  Heard heard;
  const auto callbacks = callbacks_to(&heard);
  cove_process* raw = nullptr;
  REQUIRE(cove_workspace_exec_start(workspace.get(), kArgv, 3, nullptr, &callbacks, &raw,
                                    nullptr) == COVE_OK);
  SECTION("and the end still comes") {
    cove_process_free(raw);
    CHECK(heard.order.empty());
    auto facade = std::move(fake::world().callbacks);
    facade.on_done(Error(ErrorCode::kUnavailable, "lost"));
    CHECK(heard.status == COVE_UNAVAILABLE);
  }
  SECTION("and with all handles the command ends as cancelled") {
    workspace.reset();
    cove.reset();
    CHECK(fake::world().open == 1);
    CHECK(heard.order.empty());
    cove_process_free(raw);
    CHECK(fake::world().open == 0);
    CHECK(heard.status == COVE_CANCELLED);
  }
  CHECK(heard.order == "dx");
}

TEST_CASE("Exec: a start that fails drops once", "[capi][exec]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  Heard heard;
  auto callbacks = callbacks_to(&heard);
  cove_process* process = nullptr;
  const auto start = [&](size_t argc) {
    return cove_workspace_exec_start(workspace.get(), kArgv, argc, nullptr, &callbacks, &process,
                                     nullptr);
  };
  SECTION("no program") { CHECK(start(0) == COVE_INVALID_ARGUMENT); }
  SECTION("no end wanted") {
    callbacks.on_done = nullptr;
    CHECK(start(3) == COVE_INVALID_ARGUMENT);
  }
  SECTION("a reserved field is used") {
    callbacks.reserved0 = 1;
    CHECK(start(3) == COVE_UNSUPPORTED);
  }
  SECTION("no place for the process") {
    CHECK(cove_workspace_exec_start(workspace.get(), kArgv, 3, nullptr, &callbacks, nullptr,
                                    nullptr) == COVE_INVALID_ARGUMENT);
  }
  CHECK(process == nullptr);
  CHECK(heard.order == "x");
}

TEST_CASE("Exec: callbacks of no version are refused unread", "[capi][exec]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  Heard heard;
  auto callbacks = callbacks_to(&heard);
  callbacks.struct_size = 16;
  cove_process* process = nullptr;
  CHECK(cove_workspace_exec_start(workspace.get(), kArgv, 3, nullptr, &callbacks, &process,
                                  nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(cove_workspace_exec_start(workspace.get(), kArgv, 3, nullptr, nullptr, &process, nullptr) ==
        COVE_INVALID_ARGUMENT);
  CHECK(heard.order.empty());
}
