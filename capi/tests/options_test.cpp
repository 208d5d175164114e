/// Options as other versions send them.
#include "options.hpp"

#include <cstring>

#include "inits.h"
#include "support.hpp"

using namespace cove;

namespace {

/// A struct as three releases have it.
struct First {
  std::uint32_t struct_size;
  std::uint32_t flags;
};
struct Ours {
  std::uint32_t struct_size;
  std::uint32_t flags;
  std::uint64_t added;
};
struct Newer {
  std::uint32_t struct_size;
  std::uint32_t flags;
  std::uint64_t added;
  std::uint64_t unknown;
};
constexpr capi::StructRule kRule{"thing_options", sizeof(First), sizeof(Ours)};

}  // namespace

TEST_CASE("Options: a program of the first release is read, and new fields keep their defaults",
          "[capi][options]") {
  const First theirs{sizeof(First), 5};
  Ours ours{sizeof(Ours), 0, 77};
  REQUIRE(capi::read_struct(kRule, &theirs, &ours));
  CHECK(ours.flags == 5);
  CHECK(ours.added == 77);
}

TEST_CASE("Options: a newer program is read while it leaves the unknown field unused",
          "[capi][options]") {
  const Newer theirs{sizeof(Newer), 5, 6, 0};
  Ours ours{};
  REQUIRE(capi::read_struct(kRule, &theirs, &ours));
  CHECK(ours.flags == 5);
  CHECK(ours.added == 6);
}

TEST_CASE("Options: a newer program that uses an unknown field is refused as unsupported",
          "[capi][options]") {
  const Newer theirs{sizeof(Newer), 5, 6, 1};
  Ours ours{1, 2, 3};
  const auto read = capi::read_struct(kRule, &theirs, &ours);
  REQUIRE_FALSE(read);
  CHECK(read.error().code() == ErrorCode::kUnsupported);
  CHECK(read.error().message().find("thing_options") != std::string::npos);
  CHECK(ours.flags == 2);
}

TEST_CASE("Options: a size that no version has is refused before anything is read",
          "[capi][options]") {
  for (const std::uint32_t size : {0U, 4U, 7U, 4097U, 0xffffffffU}) {
    Newer theirs{size, 5, 6, 0};
    Ours ours{};
    const auto read = capi::read_struct(kRule, &theirs, &ours);
    REQUIRE_FALSE(read);
    CHECK(read.error().code() == ErrorCode::kInvalidArgument);
  }
}

TEST_CASE("Options: each INIT macro and its init function make equal bytes", "[capi][options]") {
  int count = 0;
  const char* const different = first_different_init(&count);
  CHECK(different == nullptr);
  CHECK(count == 48);
}

TEST_CASE("Options: an init function fills a newer program's whole struct and no byte more",
          "[capi][options]") {
  unsigned char memory[64];
  std::memset(memory, 0xa5, sizeof memory);
  cove_call_options_init(reinterpret_cast<cove_call_options*>(memory), 48);
  std::uint32_t size = 0;
  std::memcpy(&size, memory, sizeof size);
  CHECK(size == 48);
  for (std::size_t i = sizeof size; i < 48; ++i) CHECK(memory[i] == 0);
  CHECK(memory[48] == 0xa5);
  cove_call_options_init(nullptr, 48);
  cove_call_options_init(reinterpret_cast<cove_call_options*>(memory + 48), 3);
  CHECK(memory[48] == 0xa5);
}

TEST_CASE("Options: NULL means every default", "[capi][options]") {
  const char* const argv[] = {"true"};
  const auto exec = capi::read_exec(argv, 1, nullptr);
  REQUIRE(exec);
  const ExecSpec defaults;
  CHECK(exec->spec.argv == std::vector<std::string>{"true"});
  CHECK_FALSE(exec->spec.timeout);
  CHECK(exec->spec.kill_grace == defaults.kill_grace);
  CHECK(exec->spec.output.head_bytes == defaults.output.head_bytes);
  CHECK(exec->spec.output.max_total_bytes == defaults.output.max_total_bytes);
  CHECK_FALSE(exec->call.deadline);
  CHECK_FALSE(exec->call.stop.stop_possible());
}

TEST_CASE("Options: every field of an exec arrives", "[capi][options]") {
  const char* const argv[] = {"sh", "", "a b"};
  const char* const env[] = {"A=1", "EMPTY=", "E=a=b"};
  cove_cancel* cancel = nullptr;
  REQUIRE(cove_cancel_create(&cancel, nullptr) == COVE_OK);
  cove_exec_options options = COVE_EXEC_OPTIONS_INIT;
  options.cwd = "data";
  options.env = env;
  options.env_count = 3;
  options.stdin_data = "x\0y";
  options.stdin_size = 3;
  options.command_timeout_ms = 1500;
  options.kill_grace_ms = 10;
  options.head_bytes = 7;
  options.tail_bytes = COVE_BYTES_NONE;
  options.max_total_bytes = 9;
  options.timeout_ms = 60000;
  options.cancel = cancel;
  const auto exec = capi::read_exec(argv, 3, &options);
  REQUIRE(exec);
  const ExecSpec& spec = exec->spec;
  CHECK(spec.argv == std::vector<std::string>{"sh", "", "a b"});
  CHECK(spec.cwd == "data");
  CHECK(spec.env == std::map<std::string, std::string>{{"A", "1"}, {"EMPTY", ""}, {"E", "a=b"}});
  CHECK(spec.stdin_data == std::string("x\0y", 3));
  CHECK(spec.timeout == std::chrono::milliseconds(1500));
  CHECK(spec.kill_grace == std::chrono::milliseconds(10));
  CHECK(spec.output.head_bytes == 7);
  CHECK(spec.output.tail_bytes == 0);
  CHECK(spec.output.max_total_bytes == 9);
  CHECK(exec->call.deadline);
  CHECK_FALSE(exec->call.stop.stop_requested());
  cove_cancel_trigger(cancel);
  cove_cancel_free(cancel);
  CHECK(exec->call.stop.stop_requested());
}

TEST_CASE("Options: limits, patience, terminal and shell line of an exec arrive",
          "[capi][options]") {
  cove_exec_options options = COVE_EXEC_OPTIONS_INIT;
  options.flags = COVE_EXEC_MERGE_OUTPUT | COVE_EXEC_SPILL;
  options.shell_line = "ls | wc -l";
  options.quiet_timeout_ms = 1;
  options.orphan_grace_ms = COVE_FOREVER;
  options.head_lines = 2;
  options.tail_lines = 3;
  options.memory_bytes = 4;
  options.cpu_seconds = 5;
  options.process_limit = 6;
  options.niceness = 19;
  options.terminal_rows = 50;
  options.terminal_columns = 132;
  const auto exec = capi::read_exec(nullptr, 0, &options);
  REQUIRE(exec);
  const ExecSpec& spec = exec->spec;
  CHECK(spec.argv.empty());
  CHECK(spec.shell_line == "ls | wc -l");
  CHECK(spec.merge_output);
  CHECK(spec.output.spill);
  CHECK(exec->stdin_mode == StdinMode::kClosed);
  CHECK(spec.quiet_timeout == std::chrono::milliseconds(1));
  CHECK_FALSE(spec.orphan_grace);
  CHECK(spec.output.head_lines == 2);
  CHECK(spec.output.tail_lines == 3);
  CHECK(spec.limits.memory_bytes == 4);
  CHECK(spec.limits.cpu_seconds == 5);
  CHECK(spec.limits.processes == 6);
  CHECK(spec.niceness == 19);
  REQUIRE(spec.terminal);
  CHECK(spec.terminal->rows == 50);
  CHECK(spec.terminal->columns == 132);
  options.terminal_columns = 0;
  CHECK(capi::read_exec(nullptr, 0, &options).error().code() == ErrorCode::kInvalidArgument);
  options.terminal_columns = 132;
  options.niceness = 20;
  CHECK(capi::read_exec(nullptr, 0, &options).error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE("Options: a limit beyond all waiting is none, and overflows nothing", "[capi][options]") {
  CHECK_FALSE(capi::call_of(UINT64_MAX, nullptr).deadline);
  CHECK(capi::milliseconds_of(UINT64_MAX) < std::chrono::hours(24 * 366 * 10));
}

TEST_CASE("Options: wrong arguments and environment are named", "[capi][options]") {
  const char* const hole[] = {"sh", nullptr};
  const char* const argv[] = {"sh"};
  const char* const env[] = {"A=1", "=x"};
  cove_exec_options options = COVE_EXEC_OPTIONS_INIT;
  options.env = env;
  options.env_count = 2;
  const auto message = [](const auto& result) {
    REQUIRE_FALSE(result);
    CHECK(result.error().code() == ErrorCode::kInvalidArgument);
    return result.error().message();
  };
  CHECK(message(capi::read_exec(nullptr, 1, nullptr)) == "argv is NULL");
  CHECK(message(capi::read_exec(argv, 0, nullptr)) == "argv has no program");
  CHECK(message(capi::read_exec(hole, 2, nullptr)) == "argv[1] is NULL, and argc says 2");
  CHECK(message(capi::read_exec(argv, 1, &options)) == "env[1] is not of the form NAME=value");
}

TEST_CASE("Options: flags and reserved fields of a newer header are unsupported",
          "[capi][options]") {
  cove_acquire_options acquire_options = COVE_ACQUIRE_OPTIONS_INIT;
  acquire_options.flags = 8;
  CHECK(capi::read_acquire(&acquire_options).error().code() == ErrorCode::kUnsupported);
  cove_call_options call = COVE_CALL_OPTIONS_INIT;
  call.reserved0 = 1;
  CHECK(capi::read_call(&call).error().code() == ErrorCode::kUnsupported);
  cove_stop_options stop = COVE_STOP_OPTIONS_INIT;
  stop.drain = 2;
  CHECK(capi::read_stop(&stop).error().code() == ErrorCode::kUnsupported);
  cove_relocate_options relocate = COVE_RELOCATE_OPTIONS_INIT;
  relocate.provider = "tree";
  relocate.drain = 2;
  CHECK(capi::read_relocate(&relocate).error().code() == ErrorCode::kUnsupported);
}
