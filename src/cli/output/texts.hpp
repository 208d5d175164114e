/// What the command prints: JSON for machines, lines for people. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <cove/cove.hpp>

#include "base/text/joined_path.hpp"

namespace cove::cli {

/// {"code", "message", "context", "retry_after_ms", "cause"} on one line.
std::string error_json(const Error& error);

/// One line that cannot steer a terminal.
std::string error_line(const Error& error);

/// "2026-01-02T03:04:05.678Z".
std::string time_text(std::chrono::sys_time<std::chrono::milliseconds> time);

/// What `cove status --json` prints; docs/command.md lists the keys.
nlohmann::json record_json(const Record& record);
std::string record_text(const Record& record);

/// One line of `cove list`, and the line above all.
std::string record_row(const Record& record);
std::string record_heading();

/// {"name", "type", "size", "mode", "modified"} and "link_target" of a link.
nlohmann::json file_json(const FileInfo& file);

/// "file", "directory", "symlink", "other".
const char* type_text(FileType type);

/// One line of `cove ls`, without and with -l.
std::string file_text(const FileInfo& file);
std::string file_long_text(const FileInfo& file);

/// {"path", "line", "column", "text", "submatches": [[offset, length], ...]} of a match; of a line
/// beside one `context` in place of the last three.
nlohmann::json line_json(const GrepLine& line);

/// "path:line:text", and "path-line-text" of a line beside a match.
std::string line_text(const GrepLine& line);

/// {"path", "type"}, and with facts what `ls` says.
nlohmann::json found_json(const FindEntry& entry);
std::string found_text(const FindEntry& entry);

/// {"ended", "matches", "searched", "matched", "binary", "too_large", "problems"}.
nlohmann::json summary_json(const SearchSummary& summary);

/// What a person has to know of a search beside its results: nothing, or lines for stderr.
std::string summary_text(const SearchSummary& summary);

/// {"outcome", "exit_code", "signal", "stdout", "stderr", ..., "duration_ms"}.
nlohmann::json exec_json(const ExecResult& result);

/// {"id", "name", "command", "cwd", "started_at", "state", ...}; docs/command.md lists the keys.
nlohmann::json process_json(const ProcessInfo& info);

/// What `cove ps` shows: a heading and a line for each, or nothing.
std::string processes_text(const std::vector<ProcessInfo>& processes);

/// What is kept of a stream: its text, and how many bytes before it nobody has any more.
struct KeptLog {
  std::string bytes;
  std::uint64_t gone = 0;
};

/// {"id", "stdout", "stdout_gone_bytes", "stderr", "stderr_gone_bytes"}.
nlohmann::json logs_json(const ProcessId& id, const KeptLog& out, const KeptLog& err);

/// What stop, archive and destroy left: the state, and whether that is their doing.
struct Settled {
  enum class By : std::uint8_t { kThisCall, kOthers };  ///< kOthers: it was so before
  SandboxId sandbox;
  SandboxState state = SandboxState::kAbsent;
  By by = By::kThisCall;
};

/// {"sandbox_id", "done", "state"}; `done` is null where it was so before.
nlohmann::json settled_json(const Settled& settled);

/// "stopped ID", or "ID is stopped already; nothing was done".
std::string settled_text(const Settled& settled);

/// Where a relocate brought a workspace, and from where.
struct Relocated {
  SandboxId sandbox;
  std::string provider;
  std::string from;
  bool moved = true;  ///< false: it was there before
};

/// {"sandbox_id", "done", "provider", "from"}; `done` is null where it was there before.
nlohmann::json relocated_json(const Relocated& relocated);

/// "relocated ID from local to tree", or "ID is at tree already; nothing was done".
std::string relocated_text(const Relocated& relocated);

/// What is known of a package of skills.
nlohmann::json skill_package_json(const SkillPackageInfo& info);

/// The version, its size and its skills, one on a line.
std::string skill_package_text(const SkillPackageInfo& info);

/// {"skills": [...], "problems": [...], "prompt"}.
nlohmann::json skill_index_json(const SkillIndex& index, std::size_t characters);

/// A line for each step, with what its programs wrote below one that failed.
std::string prepare_text(const PrepareReport& report);

nlohmann::json sweep_json(const SweepReport& report);
std::string sweep_text(const SweepReport& report);

nlohmann::json findings_json(const std::vector<Finding>& findings);
std::string findings_text(const std::vector<Finding>& findings);

nlohmann::json orphans_json(const OrphanReport& report);
std::string orphans_text(const OrphanReport& report);

/// "1.5 MiB".
/// What a search was given, and so how paths below it are named: as `read` would take them.
struct SearchedPath {
  std::string path;
  bool is_file = false;
  std::string path_of(const std::string& found) const {
    return is_file ? path : base::joined_path(path, found);
  }
};

/// Refuses what `read` cannot show: an offset past the end; to a terminal also what is no text.
Result<void> check_lines(const LineSlice& slice, const std::string& path, bool to_terminal);

/// Where the lines that were read do not reach the end: how to go on. Else empty.
std::string more_lines_text(const LineSlice& slice);

/// The error of an edit, in the words of `cove edit`.
Error edit_error(const Error& error);

std::string size_text(std::uint64_t bytes);

}  // namespace cove::cli
