/// Running commands: what is asked, how it ends, what it wrote.
///
/// That a program ends badly is no Error: it is an Outcome. An Error says that Cove could not run
/// it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <cove/bytes.hpp>

namespace cove {

/// How much of a stream is kept in the result: its first and its last bytes, and of these not more
/// than so many lines. The middle is dropped and counted, and the command goes on.
struct OutputLimits {
  std::uint64_t head_bytes = 50 * 1024;
  std::uint64_t tail_bytes = 50 * 1024;
  std::uint64_t head_lines = 0;                ///< 0 = as many as the bytes hold
  std::uint64_t tail_lines = 0;                ///< 0 = as many as the bytes hold
  std::uint64_t max_total_bytes = 1ULL << 30;  ///< of both streams; past it the tree is killed

  /// Writes the output of a stream of which something had to be dropped to a file in the sandbox,
  /// whole up to 64 MiB; `StreamOutput::spill_path` names it. So, of `exec`, an output that would
  /// be longer than what is kept if each byte that is no UTF-8 were shown as `\xNN`. All such files
  /// together take at most 256 MiB, the oldest go first. Costs nothing while nothing is dropped.
  bool spill = false;
};

/// Limits of one command and all that it starts. 0 = only the sandbox's own. Enforced by a cgroup
/// of the command where the machine has cgroup v1 controllers that Cove may use; else, also under
/// cgroup v2, by rlimits, process by process, and the result says `best_effort`.
struct CommandLimits {
  std::uint64_t memory_bytes = 0;
  std::uint32_t cpu_seconds = 0;  ///< of all processors together
  std::uint32_t processes = 0;    ///< processes and threads
};

/// A terminal, in characters.
struct TerminalSize {
  std::uint16_t rows = 24;
  std::uint16_t columns = 80;
};

/// What is to be run, and how.
struct ExecSpec {
  /// The program and its arguments, as bytes without NUL; a program without `/` is looked up in
  /// the PATH of the command's environment. Empty only with `shell_line`.
  std::vector<std::string> argv;

  /// Instead of argv: a line for the sandbox's shell (bash where it has one, else sh), run as
  /// `-c`. Both set, or none: kInvalidArgument.
  std::string shell_line;

  /// Where it runs: relative to the session's directory, or absolute; empty = the session's
  /// directory.
  std::string cwd;

  /// Set over the sandbox's base environment (PATH, HOME, USER, LANG, TERM, TMPDIR, COVE_SANDBOX);
  /// never the host's.
  std::map<std::string, std::string> env;

  std::string stdin_data;                            ///< given to the command, then end of file
  std::optional<std::chrono::milliseconds> timeout;  ///< none = as long as it takes
  std::optional<std::chrono::milliseconds> quiet_timeout;  ///< the longest time without output
  std::chrono::milliseconds kill_grace{2000};              ///< from SIGTERM to SIGKILL of the tree
  OutputLimits output;
  CommandLimits limits;
  std::int32_t niceness = 0;  ///< 0 to 19; the higher, the less of the processor

  /// stderr goes where stdout goes, in the order in which it was written; `err` stays empty.
  bool merge_output = false;

  /// Runs the command on a terminal of this size: its output is merged, and what is written to its
  /// stdin is typed, so Ctrl-C (byte 3) interrupts it.
  std::optional<TerminalSize> terminal;

  /// How long the command goes on after the connection that asked for it was lost and nobody asks
  /// again; none = to its end, its result is then kept for ten minutes.
  std::optional<std::chrono::milliseconds> orphan_grace{5000};
};

/// The program ended by itself.
struct Exited {
  std::int32_t code = 0;
};
/// A signal ended it.
struct Signaled {
  std::int32_t signal = 0;
};
/// It was ended for its time: of the command, or without output.
struct TimedOut {
  bool quiet = false;  ///< it was ExecSpec::quiet_timeout
};
struct Cancelled {};
struct OutputLimitReached {};
struct CpuLimitReached {};

/// The kernel killed a process of the command for memory: its own limit, or the sandbox's.
struct OutOfMemory {};

/// How a command ended. Never inferred from the end of a stream.
using Outcome = std::variant<Exited, Signaled, TimedOut, Cancelled, OutputLimitReached, OutOfMemory,
                             CpuLimitReached>;

/// What one stream held. Without a drop, `head` is everything and `tail` is empty.
struct StreamOutput {
  std::string head;
  std::string tail;
  std::uint64_t total_bytes = 0;
  std::uint64_t dropped_bytes = 0;  ///< between head and tail; a UTF-8 character is never cut

  /// The file inside that holds the whole of it; empty = no spill asked for, or there was no need
  /// (OutputLimits::spill).
  std::string spill_path;

  /// Head and tail as UTF-8, with a line between them that says how much is missing where something
  /// is. A byte that is no UTF-8 is shown as `\xNN`.
  std::string text() const;
};

/// What a command and all its processes used.
struct ResourceUsage {
  std::uint64_t peak_memory_bytes = 0;
  std::chrono::microseconds user_cpu{0};
  std::chrono::microseconds system_cpu{0};

  /// Measured and limited process by process: what a process had that nobody waited for is missing,
  /// and peak_memory_bytes is that of the largest, at least the agent's own few MB, which every
  /// process has for a moment before its program. False = a cgroup of the command did it.
  bool best_effort = true;
};

/// How a command ended, and what was kept of its output.
struct ExecResult {
  Outcome outcome;
  StreamOutput out;
  StreamOutput err;
  std::chrono::microseconds duration{0};
  ResourceUsage usage;

  /// True for Exited{0}.
  bool succeeded() const noexcept;

  /// The exit code a shell would show: the code; 128 + n for a signal; 124 timed out; 130
  /// cancelled; 137 where the tree was killed for output, memory or processor time.
  std::int32_t shell_code() const noexcept;
};

/// stdout or stderr.
enum class OutputStream : std::uint8_t { kOut = 1, kErr = 2 };

/// A piece of one stream, as it was written.
struct OutputChunk {
  OutputStream stream = OutputStream::kOut;
  Bytes bytes;
};

}  // namespace cove
