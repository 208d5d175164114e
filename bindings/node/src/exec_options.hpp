/// A command's options as C takes them.
#pragma once

#include <optional>
#include <string>

#include "arguments.hpp"

namespace cove_node {

/// All but its limits. Its pointers lead to itself and to the JavaScript values that it was read
/// from.
class ExecOptions {
 public:
  explicit ExecOptions(const Fields& fields)
      : cwd_(fields.text("cwd")), env_(fields.texts("env")), shell_line_(fields.text("shellLine")) {
    const BytesView input = fields.bytes("stdin");
    raw.flags = fields.flag("mergeOutput", COVE_EXEC_MERGE_OUTPUT) |
                fields.flag("spill", COVE_EXEC_SPILL) |
                fields.flag("keepStdin", COVE_EXEC_KEEP_STDIN);
    raw.cwd = cwd_ ? cwd_->c_str() : nullptr;
    raw.env = env_.data();
    raw.env_count = env_.size();
    raw.stdin_data = input.data;
    raw.stdin_size = input.size;
    raw.command_timeout_ms = fields.u64("commandTimeoutMs");
    raw.kill_grace_ms = fields.u64("killGraceMs");
    raw.head_bytes = fields.u64("headBytes");
    raw.tail_bytes = fields.u64("tailBytes");
    raw.max_total_bytes = fields.u64("maxTotalBytes");
    raw.shell_line = shell_line_ ? shell_line_->c_str() : nullptr;
    raw.quiet_timeout_ms = fields.u64("quietTimeoutMs");
    raw.orphan_grace_ms = fields.u64("orphanGraceMs");
    raw.head_lines = fields.u64("headLines");
    raw.tail_lines = fields.u64("tailLines");
    raw.memory_bytes = fields.u64("memoryBytes");
    raw.cpu_seconds = fields.u32("cpuSeconds");
    raw.process_limit = fields.u32("processLimit");
    raw.niceness = fields.u32("niceness");
    raw.terminal_rows = fields.u32("terminalRows");
    raw.terminal_columns = fields.u32("terminalColumns");
  }
  ExecOptions(const ExecOptions&) = delete;
  ExecOptions& operator=(const ExecOptions&) = delete;

  cove_exec_options raw = COVE_EXEC_OPTIONS_INIT;

 private:
  std::optional<std::string> cwd_;
  Texts env_;
  std::optional<std::string> shell_line_;
};

}  // namespace cove_node
