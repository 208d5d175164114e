#include "cli/program.hpp"

#include <csignal>
#include <memory>

#include "base/system/system_clock.hpp"
#include "base/text/display_text.hpp"
#include "cli/commands/command.hpp"
#include "runtime/first_look.hpp"

namespace cove::cli {
namespace {

constexpr int kOwnError = 125;

using Run = Result<int> (*)(const Invocation&);

Run run_of(Verb verb) {
  switch (verb) {
    case Verb::kExec: return run_exec;
    case Verb::kPs: return run_ps;
    case Verb::kLogs: return run_logs;
    case Verb::kKill: return run_kill;
    case Verb::kAttach: return run_attach;
    case Verb::kPut: return run_put;
    case Verb::kGet: return run_get;
    case Verb::kLs: return run_ls;
    case Verb::kGrep: return run_grep;
    case Verb::kFind: return run_find;
    case Verb::kRead: return run_read;
    case Verb::kWrite: return run_write;
    case Verb::kEdit: return run_edit;
    case Verb::kTool: return run_tool;
    case Verb::kPrepare: return run_prepare;
    case Verb::kSkills: return run_skills;
    case Verb::kStatus: return run_status;
    case Verb::kList: return run_list;
    case Verb::kStop: return run_stop;
    case Verb::kArchive: return run_archive;
    case Verb::kDestroy: return run_destroy;
    case Verb::kDestroySource: return run_destroy_source;
    case Verb::kRelocate: return run_relocate;
    case Verb::kSweep: return run_sweep;
    case Verb::kRecover: return run_recover;
    case Verb::kMetrics: return run_metrics;
    case Verb::kDoctor: return run_doctor;
    case Verb::kNone:
    case Verb::kHelp:
    case Verb::kTools:
    case Verb::kVersion: break;
  }
  return nullptr;
}

/// Cove's own messages, for --verbose.
class StderrLog final : public LogSink {
 public:
  explicit StderrLog(const Output& output) : output_(output) {}
  void write(LogLevel, std::string_view message) override {
    static_cast<void>(output_.err("cove (log): " + base::harmless(message) + "\n"));
  }

 private:
  const Output& output_;
};

CallContext call_of(const Request& request, const std::stop_token& stop) {
  CallContext call{.deadline = {}, .stop = stop};
  if (request.timeout) call.deadline = base::SystemClock().now() + *request.timeout;
  return call;
}

/// The commands that may begin a Cove where there is none. All others look at, or change, what is
/// there: a mistyped --home must not make an empty one.
bool may_begin(const Request& request) {
  if (request.verb == Verb::kRecover) return true;
  const bool adds = request.verb == Verb::kSkills && request.operands.front() == "add";
  const bool writes = request.verb == Verb::kExec || request.verb == Verb::kPut ||
                      request.verb == Verb::kWrite || request.verb == Verb::kPrepare || adds;
  return writes && !request.workspace.sandbox;
}

Error no_cove(const std::string& state_dir) {
  return Error(ErrorCode::kNotFound, "there is no Cove in " + base::quoted(state_dir))
      .with_context("hint",
                    "correct --home, COVE_HOME or state_dir; exec, put, write, prepare and "
                    "skills add begin one where it is meant to be");
}

Result<int> run_without_cove(const Request& request, const Program& program, Config config) {
  if (request.verb != Verb::kDoctor || request.orphans) return no_cove(config.state_dir);
  COVE_TRY(const std::vector<Finding> findings,
           runtime::examine_before_first_use(std::move(config)));
  return tell_findings(program.output, request.json, findings);
}

Result<int> run_on_cove(const Request& request, const Program& program) {
  COVE_TRY(Config config, load_config(request, program.surroundings));
  if (!may_begin(request) && !runtime::has_cove(config.state_dir)) {
    return run_without_cove(request, program, std::move(config));
  }
  Parts parts;
  if (request.verbose) parts.log = std::make_shared<StderrLog>(program.output);
  COVE_TRY(Cove cove, Cove::open(std::move(config), std::move(parts)));
  const Invocation invocation{request, cove, program.output, call_of(request, program.stop)};
  const Result<int> done = run_of(request.verb)(invocation);
  const Result<void> closed = cove.close();
  if (done && !closed) program.output.report(closed.error(), request.json);
  return done;
}

Result<int> run_request(const Request& request, const Program& program) {
  switch (request.verb) {
    case Verb::kVersion:
      COVE_TRY_VOID(program.output.out("cove " + std::string(version()) + "\n"));
      return 0;
    case Verb::kHelp: {
      COVE_TRY(const std::string_view text, help_of(request.topic));
      COVE_TRY_VOID(program.output.out(text));
      return 0;
    }
    case Verb::kTools: return describe_tools(request, program.output);
    case Verb::kNone: {
      COVE_TRY(const std::string_view text, help_of(""));
      COVE_TRY_VOID(program.output.err(text));
      return kOwnError;
    }
    default: return run_on_cove(request, program);
  }
}

/// Errors of the arguments themselves are told as the arguments ask for.
bool wants_json(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") return false;
    if (argument == "--json") return true;
  }
  return false;
}

}  // namespace

int run_program(const Program& program) {
  const Result<Request> request = parse_request(program.arguments);
  const Result<int> done = request ? run_request(*request, program) : request.error();
  const int signal = program.signal();
  if (signal != 0) return 128 + signal;
  if (done) return *done;
  if (program.output.reader_gone()) return 128 + SIGPIPE;
  program.output.report(done.error(), wants_json(program.arguments));
  return kOwnError;
}

}  // namespace cove::cli
