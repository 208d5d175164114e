#include "options.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "cancel.hpp"
#include "guard.hpp"
#include "parts/clock.hpp"

namespace cove::capi {
namespace {

/// No version of any struct comes near; a larger size is memory that was never filled.
constexpr std::size_t kMaxStructSize = 4096;

/// Longer than anybody waits; past it a limit is none.
constexpr std::uint64_t kMaxMilliseconds = 1000ULL * 60 * 60 * 24 * 365 * 10;

std::string text_of(const char* text) { return text == nullptr ? std::string() : text; }

std::uint64_t kept_bytes(std::uint64_t field, std::uint64_t by_default) {
  if (field == COVE_BYTES_NONE) return 0;
  return field == 0 ? by_default : field;
}

Result<std::vector<std::string>> read_argv(const char* const* argv, std::size_t argc) {
  COVE_TRY_VOID(require(argv, "argv"));
  if (argc == 0) return Error(ErrorCode::kInvalidArgument, "argv has no program");
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < argc; ++i) {
    if (argv[i] == nullptr) {
      return Error(
          ErrorCode::kInvalidArgument,
          "argv[" + std::to_string(i) + "] is NULL, and argc says " + std::to_string(argc));
    }
    arguments.emplace_back(argv[i]);
  }
  return arguments;
}

Result<std::map<std::string, std::string>> read_env(const char* const* env, std::size_t count) {
  std::map<std::string, std::string> variables;
  if (count > 0) COVE_TRY_VOID(require(env, "env"));
  for (std::size_t i = 0; i < count; ++i) {
    const char* const equals = env[i] == nullptr ? nullptr : std::strchr(env[i], '=');
    if (equals == nullptr || equals == env[i]) {
      return Error(ErrorCode::kInvalidArgument,
                   "env[" + std::to_string(i) + "] is not of the form NAME=value");
    }
    variables.insert_or_assign(std::string(env[i], equals), std::string(equals + 1));
  }
  return variables;
}

Result<StopDrain> read_drain(std::uint32_t drain, const std::string& of) {
  COVE_TRY_VOID(check_flags(drain, COVE_DRAIN_CANCEL, (of + ".drain").c_str()));
  return drain == COVE_DRAIN_CANCEL ? StopDrain::kCancel : StopDrain::kRefuse;
}

Result<std::chrono::milliseconds> read_wait(std::uint64_t wait_ms, const std::string& of) {
  constexpr std::uint64_t kMostWait = 3'600'000;
  if (wait_ms <= kMostWait) return std::chrono::milliseconds(wait_ms);
  return Error(ErrorCode::kInvalidArgument,
               of + ".wait_ms is at most an hour, not " + std::to_string(wait_ms) + " ms");
}

/// What a command may use, and what it runs on.
Result<void> read_limits(const cove_exec_options& read, ExecSpec& spec) {
  spec.output.head_lines = read.head_lines;
  spec.output.tail_lines = read.tail_lines;
  spec.limits.memory_bytes = read.memory_bytes;
  spec.limits.cpu_seconds = read.cpu_seconds;
  spec.limits.processes = read.process_limit;
  constexpr std::uint32_t kMostNiceness = 19;
  if (read.niceness > kMostNiceness) {
    return Error(ErrorCode::kInvalidArgument,
                 "niceness is " + std::to_string(read.niceness) + ", not 0 to 19");
  }
  spec.niceness = static_cast<std::int32_t>(read.niceness);
  if (read.terminal_rows == 0 && read.terminal_columns == 0) return ok();
  COVE_TRY(spec.terminal, read_size(read.terminal_rows, read.terminal_columns));
  return ok();
}

/// How long a command may be silent, and go on alone.
void read_patience(const cove_exec_options& read, ExecSpec& spec) {
  if (read.quiet_timeout_ms != 0 && read.quiet_timeout_ms <= kMaxMilliseconds) {
    spec.quiet_timeout = milliseconds_of(read.quiet_timeout_ms);
  }
  if (read.orphan_grace_ms == COVE_FOREVER) {
    spec.orphan_grace.reset();
  } else if (read.orphan_grace_ms != 0) {
    spec.orphan_grace = milliseconds_of(read.orphan_grace_ms);
  }
}

Error no_version(const StructRule& rule, std::uint32_t size) {
  return Error(ErrorCode::kInvalidArgument,
               std::string(rule.name) + ".struct_size is " + std::to_string(size) +
                   ", not the size of any version: use its INIT macro or init function");
}

}  // namespace

std::uint32_t struct_size_of(const void* theirs) {
  std::uint32_t size = 0;
  std::memcpy(&size, theirs, sizeof size);
  return size;
}

Result<void> require_array(const StructRule& rule, const void* theirs, std::size_t alignment,
                           const char* name) {
  COVE_TRY_VOID(require(theirs, name));
  const std::uint32_t size = struct_size_of(theirs);
  if (is_readable(rule, theirs) && size % alignment == 0) return ok();
  return no_version(rule, size);
}

Result<void> require_stride(const StructRule& rule, const void* element, std::size_t stride) {
  const std::uint32_t size = struct_size_of(element);
  if (size == stride) return ok();
  return Error(ErrorCode::kInvalidArgument,
               std::string(rule.name) + ".struct_size is " + std::to_string(size) + " and " +
                   std::to_string(stride) + " in one array: use its INIT macro for each element");
}

std::chrono::milliseconds milliseconds_of(std::uint64_t count) {
  return std::chrono::milliseconds(std::min(count, kMaxMilliseconds));
}

bool is_readable(const StructRule& rule, const void* theirs) {
  const std::uint32_t size = struct_size_of(theirs);
  return size >= rule.first_size && size <= kMaxStructSize;
}

Result<void> read_struct(const StructRule& rule, const void* theirs, void* ours) {
  const std::uint32_t size = struct_size_of(theirs);
  if (!is_readable(rule, theirs)) {
    return no_version(rule, size);
  }
  const auto* const bytes = static_cast<const unsigned char*>(theirs);
  const bool tail_is_zero = std::all_of(bytes + std::min<std::size_t>(size, rule.our_size),
                                        bytes + size, [](unsigned char byte) { return byte == 0; });
  if (!tail_is_zero) {
    return Error(ErrorCode::kUnsupported, std::string(rule.name) +
                                              " sets a field that library version " +
                                              std::string(version()) + " does not know");
  }
  std::memcpy(ours, theirs, std::min<std::size_t>(size, rule.our_size));
  return ok();
}

Result<void> check_flags(std::uint32_t flags, std::uint32_t known, const char* field) {
  if ((flags & ~known) == 0) return ok();
  return Error(ErrorCode::kUnsupported, std::string(field) + " has bits that library version " +
                                            std::string(version()) +
                                            " does not know: " + std::to_string(flags & ~known));
}

CallContext call_of(std::uint64_t timeout_ms, const cove_cancel* cancel) {
  CallContext call;
  if (timeout_ms != 0 && timeout_ms <= kMaxMilliseconds) {
    call.deadline = ClockScope::now() + milliseconds_of(timeout_ms);
  }
  if (cancel != nullptr) call.stop = cancel->source.get_token();
  return call;
}

Result<CallContext> read_call(const cove_call_options* options) {
  COVE_TRY(const auto read, read_options(options));
  COVE_TRY_VOID(check_flags(read.reserved0, 0, "cove_call_options.reserved0"));
  return call_of(read.timeout_ms, read.cancel);
}

Result<WorkspaceKey> read_key(const cove_workspace_key* key) {
  COVE_TRY_VOID(require(key, "key"));
  COVE_TRY(const auto read, read_options(key));
  COVE_TRY_VOID(check_flags(read.reserved0, 0, "cove_workspace_key.reserved0"));
  COVE_TRY_VOID(require(read.source_type, "key.source_type"));
  COVE_TRY_VOID(require(read.source_id, "key.source_id"));
  COVE_TRY_VOID(require(read.user_id, "key.user_id"));
  WorkspaceKey result{read.source_type, read.source_id, read.user_id};
  COVE_TRY_VOID(validate(result));
  return result;
}

Result<SandboxId> read_sandbox_id(const char* sandbox_id) {
  COVE_TRY_VOID(require(sandbox_id, "sandbox_id"));
  if (*sandbox_id == '\0') return Error(ErrorCode::kInvalidArgument, "sandbox_id is empty");
  return SandboxId(sandbox_id);
}

Result<AcquireCall> read_acquire(const cove_acquire_options* options) {
  COVE_TRY(const auto read, read_options(options));
  COVE_TRY_VOID(check_flags(read.flags, 0, "cove_acquire_options.flags"));
  AcquireCall acquire;
  acquire.options.chat_id = text_of(read.chat_id);
  acquire.options.sandbox = SandboxId(text_of(read.sandbox_id));
  acquire.prepare = read.prepare;
  acquire.call = call_of(read.timeout_ms, read.cancel);
  return acquire;
}

Result<ExecCall> read_exec(const char* const* argv, std::size_t argc,
                           const cove_exec_options* options) {
  COVE_TRY(const auto read, read_options(options));
  constexpr std::uint32_t kFlags = COVE_EXEC_MERGE_OUTPUT | COVE_EXEC_SPILL | COVE_EXEC_KEEP_STDIN;
  COVE_TRY_VOID(check_flags(read.flags, kFlags, "cove_exec_options.flags"));
  COVE_TRY_VOID(check_flags(read.reserved1, 0, "cove_exec_options.reserved1"));
  ExecCall exec;
  ExecSpec& spec = exec.spec;
  spec.shell_line = text_of(read.shell_line);
  if (argc > 0 || spec.shell_line.empty()) {
    COVE_TRY(spec.argv, read_argv(argv, argc));
  }
  spec.merge_output = (read.flags & COVE_EXEC_MERGE_OUTPUT) != 0;
  spec.output.spill = (read.flags & COVE_EXEC_SPILL) != 0;
  if ((read.flags & COVE_EXEC_KEEP_STDIN) != 0) exec.stdin_mode = StdinMode::kOpen;
  COVE_TRY_VOID(read_limits(read, spec));
  read_patience(read, spec);
  COVE_TRY(spec.env, read_env(read.env, read.env_count));
  spec.cwd = text_of(read.cwd);
  if (read.stdin_size > 0) {
    COVE_TRY_VOID(require(read.stdin_data, "stdin_data"));
    spec.stdin_data.assign(static_cast<const char*>(read.stdin_data), read.stdin_size);
  }
  if (read.command_timeout_ms != 0 && read.command_timeout_ms <= kMaxMilliseconds) {
    spec.timeout = milliseconds_of(read.command_timeout_ms);
  }
  if (read.kill_grace_ms != 0) spec.kill_grace = milliseconds_of(read.kill_grace_ms);
  spec.output.head_bytes = kept_bytes(read.head_bytes, spec.output.head_bytes);
  spec.output.tail_bytes = kept_bytes(read.tail_bytes, spec.output.tail_bytes);
  if (read.max_total_bytes != 0) spec.output.max_total_bytes = read.max_total_bytes;
  exec.call = call_of(read.timeout_ms, read.cancel);
  return exec;
}

Result<ByteView> read_data(const void* data, std::size_t size) {
  if (size == 0) return ByteView();
  COVE_TRY_VOID(require(data, "data"));
  return ByteView(static_cast<const std::byte*>(data), size);
}

Result<TerminalSize> read_size(std::uint32_t rows, std::uint32_t columns) {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint16_t>::max();
  if (rows >= 1 && rows <= kMost && columns >= 1 && columns <= kMost) {
    return TerminalSize{static_cast<std::uint16_t>(rows), static_cast<std::uint16_t>(columns)};
  }
  return Error(ErrorCode::kInvalidArgument, "a terminal has 1 to 65535 rows and columns, not " +
                                                std::to_string(rows) + " and " +
                                                std::to_string(columns));
}

Result<StopCall> read_stop(const cove_stop_options* options) {
  COVE_TRY(const auto read, read_options(options));
  StopCall stop;
  COVE_TRY(stop.options.drain, read_drain(read.drain, "cove_stop_options"));
  COVE_TRY(stop.options.wait, read_wait(read.wait_ms, "cove_stop_options"));
  stop.call = call_of(read.timeout_ms, read.cancel);
  return stop;
}

Result<RelocateCall> read_relocate(const cove_relocate_options* options) {
  COVE_TRY(const auto read, read_options(options));
  COVE_TRY_VOID(require(read.provider, "cove_relocate_options.provider"));
  RelocateCall relocate;
  relocate.options.provider = read.provider;
  COVE_TRY(relocate.options.drain, read_drain(read.drain, "cove_relocate_options"));
  COVE_TRY(relocate.options.wait, read_wait(read.wait_ms, "cove_relocate_options"));
  relocate.call = call_of(read.timeout_ms, read.cancel);
  return relocate;
}

}  // namespace cove::capi
