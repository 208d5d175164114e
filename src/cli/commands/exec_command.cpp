#include <memory>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/text/json.hpp"
#include "cli/commands/command.hpp"
#include "cli/machine/local_file.hpp"
#include "cli/output/output_relay.hpp"
#include "cli/output/texts.hpp"

namespace cove::cli {
namespace {

constexpr std::size_t kMaxStdin = 64U << 20U;

Result<ExecSpec> spec_of(const Request& request, const CallContext& call) {
  ExecSpec spec;
  spec.argv = request.command;
  spec.cwd = request.cwd;
  spec.env = request.env;
  spec.timeout = request.timeout;
  if (request.read_stdin) {
    COVE_TRY(spec.stdin_data, read_all(STDIN_FILENO, "stdin", kMaxStdin, call));
  }
  return spec;
}

Result<ExecResult> stream(const SandboxClient& client, ExecSpec spec, const Output& output,
                          const CallContext& call) {
  // All of it is passed on, so nothing is kept, and its length is the reader's business.
  spec.output = OutputLimits();
  spec.output.head_bytes = spec.output.tail_bytes = 0;
  spec.output.max_total_bytes = 1ULL << 62U;
  const auto relay = std::make_shared<OutputRelay>();
  const ExecHandle handle = client.exec_async(std::move(spec), OutputRelay::feed(relay), call);
  const OutputRelay::Steering steering{.resume = [&handle] { handle.resume(); },
                                       .cancel = [&handle] { handle.cancel(); }};
  return relay->pump(output, steering);
}

/// What the exit code alone does not tell.
const char* note_on(const Outcome& outcome) {
  if (std::holds_alternative<TimedOut>(outcome)) return "cove: the command timed out\n";
  if (std::holds_alternative<OutOfMemory>(outcome)) {
    return "cove: the command was ended: out of memory\n";
  }
  if (std::holds_alternative<CpuLimitReached>(outcome)) {
    return "cove: the command was ended: it used up its processor time\n";
  }
  if (std::holds_alternative<OutputLimitReached>(outcome)) {
    return "cove: the command was ended: more output than it may write\n";
  }
  return "";
}

}  // namespace

Result<int> run_exec(const Invocation& invocation) {
  const Request& request = invocation.request;
  COVE_TRY(ExecSpec spec, spec_of(request, invocation.call));
  // --timeout is the command's: the time to wake the workspace does not count.
  const CallContext call{.deadline = {}, .stop = invocation.call.stop};
  COVE_TRY(Workspace workspace,
           acquire_chosen(Invocation{request, invocation.cove, invocation.output, call}));
  const SandboxClient client = workspace.client();
  const Result<ExecResult> result = request.json
                                        ? client.exec(spec, call)
                                        : stream(client, std::move(spec), invocation.output, call);
  const Result<void> released = workspace.release();
  if (!result) return result.error();
  if (!released) invocation.output.report(released.error(), request.json);
  if (request.json) {
    COVE_TRY_VOID(invocation.output.out(base::dump_json(exec_json(*result)) + "\n"));
  } else {
    COVE_TRY_VOID(invocation.output.err(note_on(result->outcome)));
  }
  return result->shell_code();
}

}  // namespace cove::cli
