#include "prepare/steps/init_scripts.hpp"

#include <utility>
#include <vector>

#include "prepare/pipeline/step_run.hpp"

namespace cove::prepare {
namespace {

using namespace std::chrono_literals;

/// What a shell is asked to run.
struct ShellRun {
  std::vector<std::string> arguments;  ///< behind the shell's name
  std::string cwd;
  std::chrono::milliseconds timeout{};
  std::size_t longest_secret = 0;
};

ExecSpec spec_of(const ShellRun& run, const char* shell, const PrepareContext& context) {
  ExecSpec spec;
  spec.argv.emplace_back(shell);
  spec.argv.insert(spec.argv.end(), run.arguments.begin(), run.arguments.end());
  spec.cwd = run.cwd;
  spec.env = context.env;
  spec.timeout = run.timeout;
  spec.merge_output = true;
  spec.output.head_bytes = 0;
  spec.output.tail_bytes = kMaxOutput + run.longest_secret;
  return spec;
}

std::string end_of(const Outcome& outcome, std::chrono::milliseconds timeout) {
  if (const auto* exited = std::get_if<Exited>(&outcome)) {
    return "the script ended with exit code " + std::to_string(exited->code);
  }
  if (const auto* signaled = std::get_if<Signaled>(&outcome)) {
    return "the script was ended by signal " + std::to_string(signaled->signal);
  }
  if (std::holds_alternative<TimedOut>(outcome)) {
    return "the script took longer than its " + std::to_string(timeout.count()) + " ms";
  }
  if (std::holds_alternative<Cancelled>(outcome)) return "the script was cancelled";
  if (std::holds_alternative<OutOfMemory>(outcome)) return "the script ran out of memory";
  return "the script went over a limit of the sandbox";
}

/// By bash, and where the image has none by sh.
Task<Result<void>> run_shell(PrepareContext& context, const ShellRun& run) {
  const std::string at_root;
  const ExecSpec by_bash = spec_of(run, "bash", context);
  Result<ExecResult> result = co_await context.guest.run(at_root, by_bash, context.call);
  if (!result && result.error().code() == ErrorCode::kNotFound) {
    const ExecSpec by_sh = spec_of(run, "sh", context);
    result = co_await context.guest.run(at_root, by_sh, context.call);
    if (result) context.reason = "run by sh, since the image has no bash";
  }
  if (!result) co_return result.error();
  context.output = result->out.head + result->out.tail;
  if (result->succeeded()) co_return ok();
  co_return Error(ErrorCode::kFailedPrecondition, end_of(result->outcome, run.timeout));
}

Task<Result<void>> run_entrypoint(PrepareContext& context, const ShellRun& run) {
  const GuestPath path{"", run.cwd + "/entrypoint.sh"};
  const Result<FileInfo> info = co_await context.guest.stat(path, context.call);
  if (!info && info.error().code() != ErrorCode::kNotFound) co_return info.error();
  if (!info || info->type != FileType::kRegular) {
    context.nothing_to_do = true;
    context.reason = "it has no entrypoint.sh";
    co_return ok();
  }
  co_return co_await run_shell(context, run);
}

/// Time for the script to be ended, and to say so, before the step itself is over.
constexpr auto kForTheEnd = 5s;

PrepareStep init_step(std::string name, PrepareStage stage, std::chrono::milliseconds timeout) {
  PrepareStep step;
  step.name = std::move(name);
  step.policy = StepPolicy::kBestEffort;
  step.timeout = timeout + kForTheEnd;
  step.after = stage;
  return step;
}

}  // namespace

PrepareStep app_init_step(InitScript script, std::size_t longest_secret) {
  PrepareStep step = init_step("app_init", PrepareStage::kAppInit, script.timeout);
  step.fingerprint = std::to_string(script.version.size()) + ":" + script.version + ":" +
                     std::to_string(script.cwd.size()) + ":" + script.cwd + ":" + script.text;
  const ShellRun run{{"-c", std::move(script.text), "init"},
                     std::move(script.cwd),
                     script.timeout,
                     longest_secret};
  step.apply = [run](PrepareContext& context) { return run_shell(context, run); };
  return step;
}

PrepareStep skill_init_step(const std::string& version_id, std::string directory,
                            std::chrono::milliseconds timeout, std::size_t longest_secret) {
  PrepareStep step = init_step("skill_init/" + version_id, PrepareStage::kSkillInit, timeout);
  step.fingerprint = version_id;
  const ShellRun run{{"entrypoint.sh"}, std::move(directory), timeout, longest_secret};
  step.apply = [run](PrepareContext& context) { return run_entrypoint(context, run); };
  return step;
}

}  // namespace cove::prepare
