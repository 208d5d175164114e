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

/// How much of a stream is kept in the result: its first and its last bytes. The middle is dropped
/// and counted, and the command goes on.
struct OutputLimits {
  std::uint64_t head_bytes = 50 * 1024;
  std::uint64_t tail_bytes = 50 * 1024;
  std::uint64_t max_total_bytes = 1ULL << 30;  ///< of both streams; past it the tree is killed
};

struct ExecSpec {
  /// The program and its arguments, as bytes without NUL; a program without `/` is looked up in
  /// the PATH inside. At least one.
  std::vector<std::string> argv;

  /// Where it runs: relative to the session's directory, or absolute; empty = the session's
  /// directory.
  std::string cwd;

  /// Set over the sandbox's base environment (PATH, HOME, USER, LANG, TMPDIR, COVE_SANDBOX); never
  /// the host's.
  std::map<std::string, std::string> env;

  std::string stdin_data;                            ///< given to the command, then end of file
  std::optional<std::chrono::milliseconds> timeout;  ///< none = as long as it takes
  std::chrono::milliseconds kill_grace{2000};        ///< from SIGTERM to SIGKILL of the tree
  OutputLimits output;
};

struct Exited {
  std::int32_t code = 0;
};
struct Signaled {
  std::int32_t signal = 0;
};
struct TimedOut {};
struct Cancelled {};
struct OutputLimitReached {};
struct OutOfMemory {};

/// How a command ended. Never inferred from the end of a stream.
using Outcome =
    std::variant<Exited, Signaled, TimedOut, Cancelled, OutputLimitReached, OutOfMemory>;

/// What one stream held. Without a drop, `head` is everything and `tail` is empty.
struct StreamOutput {
  std::string head;
  std::string tail;
  std::uint64_t total_bytes = 0;
  std::uint64_t dropped_bytes = 0;  ///< between head and tail; a UTF-8 character is never cut

  /// Head and tail, with a line between them that says how much is missing where something is.
  std::string text() const;
};

struct ExecResult {
  Outcome outcome;
  StreamOutput out;
  StreamOutput err;
  std::chrono::microseconds duration{0};

  /// True for Exited{0}.
  bool succeeded() const noexcept;

  /// The exit code a shell would show: the code; 128 + n for a signal; 124 timed out or cancelled;
  /// 137 where the tree was killed for output or memory.
  std::int32_t shell_code() const noexcept;
};

enum class OutputStream : std::uint8_t { kOut = 1, kErr = 2 };

struct OutputChunk {
  OutputStream stream = OutputStream::kOut;
  Bytes bytes;
};

}  // namespace cove
