#include "wire/command_request.hpp"

#include <algorithm>

#include "wire/cbor.hpp"

namespace cove::wire {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

/// An agent of before this field ended what nobody asked for again after so long.
constexpr std::uint64_t kOrphanGrace = 5000;

std::uint64_t count_of(milliseconds duration) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count(), 0));
}

milliseconds duration_of(std::uint64_t count) {
  constexpr std::uint64_t kLongest = 1ULL << 40;  // some 34 years of milliseconds
  return milliseconds(std::min(count, kLongest));
}

/// What most commands do not ask for is not in their request.
void add_rare(json& map, const ExecSpec& spec) {
  if (spec.quiet_timeout) map["quiet_ms"] = count_of(*spec.quiet_timeout);
  if (spec.output.head_lines > 0) map["head_lines"] = spec.output.head_lines;
  if (spec.output.tail_lines > 0) map["tail_lines"] = spec.output.tail_lines;
  if (spec.output.spill) map["spill"] = true;
  if (spec.limits.memory_bytes > 0) map["memory"] = spec.limits.memory_bytes;
  if (spec.limits.cpu_seconds > 0) map["cpu_s"] = spec.limits.cpu_seconds;
  if (spec.limits.processes > 0) map["processes"] = spec.limits.processes;
  if (spec.niceness != 0) map["nice"] = spec.niceness;
  if (spec.merge_output) map["merge"] = true;
  if (spec.terminal) map["rows"] = spec.terminal->rows;
  if (spec.terminal) map["columns"] = spec.terminal->columns;
  if (!spec.orphan_grace) map["orphan"] = true;
  if (spec.orphan_grace && count_of(*spec.orphan_grace) != kOrphanGrace) {
    map["orphan_ms"] = count_of(*spec.orphan_grace);
  }
}

std::uint16_t read_size(Fields& fields, const char* name) {
  const std::uint32_t size = fields.small(name);
  if (size > UINT16_MAX) fields.fail(std::string(name) + " is too large");
  return static_cast<std::uint16_t>(size);
}

void read_rare(Fields& fields, ExecSpec& spec) {
  if (fields.has("quiet_ms")) spec.quiet_timeout = duration_of(fields.number("quiet_ms"));
  spec.output.head_lines = fields.number("head_lines");
  spec.output.tail_lines = fields.number("tail_lines");
  spec.output.spill = fields.flag("spill");
  spec.limits.memory_bytes = fields.number("memory");
  spec.limits.cpu_seconds = fields.small("cpu_s");
  spec.limits.processes = fields.small("processes");
  const std::uint32_t nice = fields.small("nice");
  if (nice > 19) fields.fail("nice is above 19");
  spec.niceness = static_cast<std::int32_t>(nice);
  spec.merge_output = fields.flag("merge");
  if (fields.has("rows") || fields.has("columns")) {
    spec.terminal = TerminalSize{read_size(fields, "rows"), read_size(fields, "columns")};
  }
  spec.orphan_grace = duration_of(fields.number("orphan_ms", kOrphanGrace));
  if (fields.flag("orphan")) spec.orphan_grace.reset();
}

void add_arguments(json& map, const ExecSpec& spec) {
  json& argv = map["argv"] = json::array();
  for (const auto& argument : spec.argv) argv.push_back(byte_string(argument));
  json& env = map["env"] = json::array();
  for (const auto& [name, value] : spec.env) {
    env.push_back(byte_string(name));
    env.push_back(byte_string(value));
  }
}

void read_arguments(Fields& fields, ExecSpec& spec) {
  spec.argv = fields.byte_list("argv");
  auto env = fields.byte_list("env");
  if (env.size() % 2 != 0) fields.fail("env holds a name without a value");
  for (std::size_t i = 0; i + 1 < env.size(); i += 2) spec.env[env[i]] = std::move(env[i + 1]);
}

}  // namespace

json exec_fields(const ExecRequest& exec) {
  const ExecSpec& spec = exec.spec;
  json map = {{"session", byte_string(exec.session)},
              {"cwd", byte_string(spec.cwd)},
              {"grace_ms", count_of(spec.kill_grace)},
              {"head", spec.output.head_bytes},
              {"tail", spec.output.tail_bytes},
              {"max_total", spec.output.max_total_bytes},
              {"streamed", exec.streamed},
              {"stdin", exec.has_stdin},
              {"credit", exec.credit}};
  if (exec.shell) map["shell"] = true;
  if (spec.timeout) map["timeout_ms"] = count_of(*spec.timeout);
  add_rare(map, spec);
  if (exec.background) {
    map["background"] = {{"name", byte_string(exec.background->name)},
                         {"keep_alive_s", exec.background->keep_alive.count()}};
  }
  if (exec.argument_bytes > 0) {
    map["argument_bytes"] = exec.argument_bytes;
  } else {
    add_arguments(map, spec);
  }
  return map;
}

ExecRequest read_exec(Fields& fields) {
  ExecRequest exec;
  exec.session = fields.bytes("session");
  exec.spec.cwd = fields.bytes("cwd");
  exec.spec.kill_grace = duration_of(fields.number("grace_ms"));
  if (fields.has("timeout_ms")) exec.spec.timeout = duration_of(fields.number("timeout_ms"));
  exec.spec.output.head_bytes = fields.number("head");
  exec.spec.output.tail_bytes = fields.number("tail");
  exec.spec.output.max_total_bytes = fields.number("max_total");
  exec.shell = fields.flag("shell");
  exec.streamed = fields.flag("streamed");
  exec.has_stdin = fields.flag("stdin");
  exec.credit = fields.number("credit");
  exec.argument_bytes = fields.number("argument_bytes");
  read_rare(fields, exec.spec);
  read_arguments(fields, exec.spec);
  if (fields.has("background")) {
    Fields inner = fields.inner("background");
    ProcessOptions options;
    options.name = inner.bytes("name");
    options.keep_alive = std::chrono::seconds(inner.small("keep_alive_s"));
    adopt(fields, inner);
    exec.background = std::move(options);
  }
  return exec;
}

void pack_line(ExecRequest& exec) {
  if (exec.spec.shell_line.empty()) return;
  exec.shell = true;
  exec.spec.argv = {std::exchange(exec.spec.shell_line, {})};
}

Result<void> unpack_line(ExecRequest& exec) {
  if (!exec.shell) return ok();
  if (exec.spec.argv.size() != 1) {
    return Error(ErrorCode::kInvalidArgument, "a shell's line is one string");
  }
  exec.spec.shell_line = std::move(exec.spec.argv.front());
  exec.spec.argv.clear();
  exec.shell = false;
  return ok();
}

}  // namespace cove::wire
