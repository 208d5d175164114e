#include <utility>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/text/json.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/live_command.hpp"
#include "cli/machine/raw_terminal.hpp"
#include "cli/output/texts.hpp"

namespace cove::cli {
namespace {

/// All output is passed on or kept inside, and its length is the reader's business.
constexpr std::uint64_t kNoEnd = 1ULL << 62U;

ExecSpec spec_of(const Request& request) {
  ExecSpec spec;
  spec.argv = request.command;
  spec.cwd = request.cwd;
  spec.env = request.env;
  spec.timeout = request.timeout;
  if (!request.terminal) return spec;
  auto size = terminal_size(STDIN_FILENO);
  if (!size) size = terminal_size(STDOUT_FILENO);
  spec.terminal = size.value_or(TerminalSize());
  return spec;
}

Result<int> run_here(const Invocation& invocation, const SandboxClient& client) {
  const Request& request = invocation.request;
  ExecSpec spec = spec_of(request);
  if (!request.json) {
    spec.output.head_bytes = spec.output.tail_bytes = 0;
    spec.output.max_total_bytes = kNoEnd;
  }
  LiveOptions options;
  options.show_output = !request.json;
  options.pass_stdin = request.read_stdin || request.terminal;
  options.raw = request.terminal && ::isatty(STDIN_FILENO) == 1;
  const StdinMode stdin_mode = options.pass_stdin ? StdinMode::kOpen : StdinMode::kClosed;
  const LiveEnd end = run_live(options, invocation.output, [&](ExecCallbacks callbacks) {
    return client.exec_async(std::move(spec), std::move(callbacks), invocation.call, stdin_mode);
  });
  if (!end.result) return end.result.error();
  if (request.json) {
    COVE_TRY_VOID(invocation.output.out(base::dump_json(exec_json(*end.result)) + "\n"));
  } else {
    COVE_TRY_VOID(invocation.output.err(note_on(end.result->outcome)));
  }
  return end.result->shell_code();
}

Result<int> start_detached(const Invocation& invocation, const SandboxClient& client) {
  const Request& request = invocation.request;
  ExecSpec spec = spec_of(request);
  spec.output.max_total_bytes = kNoEnd;
  spec.output.spill = true;
  ProcessOptions options;
  options.name = request.name;
  if (request.keep_alive) {
    options.keep_alive = std::chrono::ceil<std::chrono::seconds>(*request.keep_alive);
  }
  COVE_TRY(const ProcessInfo info, client.start_process(spec, options, invocation.call));
  // Nobody is there to type: a program that reads must see the end.
  if (!request.read_stdin && !request.terminal) {
    COVE_TRY_VOID(client.close_process_stdin(info.id, invocation.call));
  }
  COVE_TRY_VOID(invocation.output.out(request.json ? base::dump_json(process_json(info)) + "\n"
                                                   : info.id.str() + "\n"));
  return 0;
}

}  // namespace

Result<int> run_exec(const Invocation& invocation) {
  // --timeout is the command's: the time to wake the workspace does not count.
  const CallContext call{.deadline = {}, .stop = invocation.call.stop};
  const Invocation patient{invocation.request, invocation.cove, invocation.output, call};
  return with_workspace(patient, [&](const SandboxClient& client) {
    return invocation.request.detach ? start_detached(patient, client) : run_here(patient, client);
  });
}

}  // namespace cove::cli
