/// The request that starts a command, in the foreground or in the background.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include <cove/bytes.hpp>
#include <cove/exec.hpp>
#include <cove/process.hpp>
#include <cove/result.hpp>

#include "wire/fields.hpp"

namespace cove::wire {

/// The most bytes of argv and environment together; the kernel's own limit is near it.
constexpr std::uint64_t kMaxArgumentBytes = 4 * 1024 * 1024;

/// The most that is kept of one stream's head, and of its tail.
constexpr std::uint64_t kMaxKeptBytes = 32 * 1024 * 1024;

struct ExecRequest {
  std::string session;

  /// Its stdin_data is not in the request: it comes as data. A shell's line stands in argv while it
  /// travels: see `shell`.
  ExecSpec spec;
  bool shell = false;     ///< argv is one string, the shell's line
  bool streamed = false;  ///< output as it comes, within credit; else head and tail with the answer
  bool has_stdin = false;
  std::uint64_t credit = 0;          ///< of a streamed command's output, both streams together
  std::uint64_t argument_bytes = 0;  ///< >0: argv and env follow on kArguments, see pack_arguments
  std::optional<ProcessOptions> background;  ///< answered with its ProcessInfo when it runs
};

nlohmann::json exec_fields(const ExecRequest& exec);

/// Errors stay in `fields`.
ExecRequest read_exec(Fields& fields);

/// argv and env as one run of bytes, for kArguments: "<argc> <envc>" and then all strings, each of
/// them ended by NUL.
Bytes pack_arguments(const ExecSpec& spec);

/// Fills argv and env from what pack_arguments made. kIntegrity: it is not that.
Result<void> unpack_arguments(ByteView bytes, ExecSpec& spec);

/// Puts a shell's line into argv for the journey, and back. `unpack_line` - kInvalidArgument: argv
/// is not one string.
void pack_line(ExecRequest& exec);
Result<void> unpack_line(ExecRequest& exec);

/// kInvalidArgument: something that no kernel would take (no argv, a NUL inside, an empty or odd
/// variable name), or a limit that is out of range.
Result<void> check_exec(const ExecSpec& spec);
Result<void> check_background(const ProcessOptions& options);

}  // namespace cove::wire
