/// Background processes: commands that nobody waits for.
///
/// A process lives in its sandbox: it survives the host process, any later host process finds it by
/// its id, and it ends with the sandbox's stop (SIGTERM, grace, SIGKILL). Its output is kept in a
/// ring of 1 MiB for each stream and, where `ExecSpec::output.spill` asks for it, in a file. What
/// the ring has let go of and no file holds is counted, never invented.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <cove/exec.hpp>
#include <cove/ids.hpp>

namespace cove {

using ProcessId = StrongId<struct ProcessIdTag>;  ///< 32 hex, unique for the sandbox's life

/// How a background process is kept.
struct ProcessOptions {
  std::string name;  ///< for people: at most 100 bytes of UTF-8, no controls; not unique

  /// How long a running process keeps its sandbox from an idle stop: at most 24 h, 0 = not at all.
  std::chrono::seconds keep_alive{0};
};

/// What is said of one background process.
struct ProcessInfo {
  ProcessId id;
  std::string name;
  std::string command;  ///< argv or the shell's line, for people: cut at 1 KiB
  std::string cwd;      ///< as the process sees it
  std::chrono::sys_time<std::chrono::milliseconds> started_at{};  ///< by the sandbox's clock
  std::chrono::seconds keep_alive{0};
  bool has_terminal = false;
  bool stdin_open = false;
  std::uint64_t out_bytes = 0;  ///< written so far
  std::uint64_t err_bytes = 0;

  /// How it ended, without output (its totals and spill files are there); none = it runs.
  std::optional<ExecResult> end;
};

/// Which part of a process's output.
struct OutputRequest {
  OutputStream stream = OutputStream::kOut;
  std::uint64_t offset = 0;               ///< of the stream's first byte that is wanted
  std::uint32_t limit = 50 * 1024;        ///< bytes, 1 to 256 KiB
  std::chrono::milliseconds wait_for{0};  ///< waits so long for a byte or the end; at most 60 s
};

/// A part of what a process wrote to one stream.
struct OutputSlice {
  Bytes bytes;
  std::uint64_t offset =
      0;                   ///< of the first byte given; above the one asked for where some is gone
  std::uint64_t next = 0;  ///< the offset to ask for next
  std::uint64_t gone = 0;  ///< bytes between the offset asked for and `offset`: dropped for ever
  bool at_end = false;     ///< the process has ended and nothing comes after `next`
};

/// From where an attached process's output is read.
struct AttachOptions {
  std::uint64_t out_offset = 0;
  std::uint64_t err_offset = 0;
  bool only_new = false;  ///< instead of the offsets: from now on
};

}  // namespace cove
