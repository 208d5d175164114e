// The one file that sees CLI11, which throws.
#include <algorithm>
#include <functional>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/text/display_text.hpp"
#include "cli/arguments/request.hpp"
#include "cli/arguments/values.hpp"

namespace cove::cli {
namespace {

/// What CLI11 hands over before it is checked.
struct Raw {
  std::optional<std::string> timeout;
  std::optional<std::string> keep_alive;
  std::optional<std::string> wait;
  std::optional<std::string> signal;
  std::optional<std::string> mode;
  std::optional<std::string> type;
  std::optional<std::string> changed_within;
  std::optional<std::string> format;
  std::vector<std::string> mirrors;
  std::optional<std::uint32_t> context;
  bool no_ignore = false;
  std::vector<std::string> env;
  std::optional<std::string> first;
  std::optional<std::string> second;
  std::optional<std::string> third;
  bool help = false;
};

enum Option : unsigned {
  kWorkspace = 1U,
  kChat = 2U,
  kPaths = 4U,
};

struct Command {
  const char* name;
  Verb verb;
  unsigned options;
  std::size_t least;  // operands
  std::size_t most;
  const char* operands;
};

constexpr Command kCommands[] = {
    {"exec", Verb::kExec, kWorkspace | kChat, 0, 0, "no path"},
    {"ps", Verb::kPs, kWorkspace | kChat, 0, 0, "no path"},
    {"logs", Verb::kLogs, kWorkspace | kChat | kPaths, 1, 1, "one PROCESS"},
    {"kill", Verb::kKill, kWorkspace | kChat | kPaths, 1, 1, "one PROCESS"},
    {"attach", Verb::kAttach, kWorkspace | kChat | kPaths, 1, 1, "one PROCESS"},
    {"put", Verb::kPut, kWorkspace | kChat | kPaths, 2, 2, "LOCAL (or -) and PATH"},
    {"get", Verb::kGet, kWorkspace | kChat | kPaths, 1, 2, "PATH and at most one LOCAL"},
    {"ls", Verb::kLs, kWorkspace | kChat | kPaths, 0, 1, "at most one PATH"},
    {"grep", Verb::kGrep, kWorkspace | kChat | kPaths, 1, 2, "PATTERN and at most one PATH"},
    {"find", Verb::kFind, kWorkspace | kChat | kPaths, 0, 2, "at most GLOB and PATH"},
    {"read", Verb::kRead, kWorkspace | kChat | kPaths, 1, 1, "one PATH"},
    {"write", Verb::kWrite, kWorkspace | kChat | kPaths, 1, 1, "one PATH; the content is stdin"},
    {"edit", Verb::kEdit, kWorkspace | kChat | kPaths, 3, 3, "PATH, OLD and NEW"},
    {"tool", Verb::kTool, kWorkspace | kChat | kPaths, 1, 2, "NAME and JSON (without it: stdin)"},
    {"tools", Verb::kTools, 0, 0, 0, "no path"},
    {"prepare", Verb::kPrepare, kWorkspace | kChat, 0, 0, "no path"},
    {"skills", Verb::kSkills, kWorkspace | kChat | kPaths, 1, 3,
     "add VERSION FILE, list, remove VERSION, or index"},
    {"status", Verb::kStatus, kWorkspace | kChat, 0, 0, "no path"},
    {"list", Verb::kList, kWorkspace, 0, 0, "no path"},
    {"stop", Verb::kStop, kWorkspace | kChat, 0, 0, "no path"},
    {"archive", Verb::kArchive, kWorkspace | kChat, 0, 0, "no path"},
    {"destroy", Verb::kDestroy, kWorkspace, 0, 0, "no path"},
    {"destroy-source", Verb::kDestroySource, 0, 0, 0, "no path"},
    {"relocate", Verb::kRelocate, kWorkspace, 0, 0, "no path"},
    {"sweep", Verb::kSweep, 0, 0, 0, "no path"},
    {"recover", Verb::kRecover, 0, 0, 0, "no path"},
    {"metrics", Verb::kMetrics, 0, 0, 0, "no path"},
    {"doctor", Verb::kDoctor, 0, 0, 0, "no path"},
    {"help", Verb::kHelp, kPaths, 0, 1, "at most one COMMAND"},
};

/// What was typed as a number, not as CLI11 reads it: -1 is no large one, and nothing is not 0.
template <class Number>
Number number_in(const std::string& option, const std::string& text) {
  Result<Number> number = parse_number<Number>(option, text);
  if (!number)
    throw CLI::ValidationError(number.error().message(), CLI::ExitCodes::ValidationError);
  return *number;
}

template <class Number>
void add_number(CLI::App& app, const std::string& names, Number& number) {
  app.add_option_function<std::string>(names, [names, &number](const std::string& text) {
    number = number_in<Number>(names.substr(names.find("--")), text);
  });
}

template <class Number>
void add_number(CLI::App& app, const std::string& names, std::optional<Number>& number) {
  app.add_option_function<std::string>(names, [names, &number](const std::string& text) {
    number = number_in<Number>(names.substr(names.find("--")), text);
  });
}

void add_common(CLI::App& app, Request& request, Raw& raw) {
  app.set_help_flag();
  app.add_flag("-h,--help", raw.help);
  app.add_option("--home", request.home);
  app.add_option("--config", request.config);
  app.add_option("--timeout", raw.timeout);
  app.add_flag("--json", request.json);
  app.add_flag("--verbose", request.verbose);
}

void add_workspace(CLI::App& app, const Command& command, WorkspaceChoice& workspace) {
  if ((command.options & kWorkspace) == 0) return;
  app.add_option("--app", workspace.app);
  app.add_option("--source-type", workspace.source_type);
  app.add_option("--source-id", workspace.source_id);
  app.add_option("--user", workspace.user);
  app.add_option("--sandbox", workspace.sandbox);
  if ((command.options & kChat) != 0) app.add_option("--chat", workspace.chat);
}

/// What grep and find have in common.
template <class Query>
void add_search(CLI::App& app, Query& query, Raw& raw) {
  // One value each time: a list would split a glob such as [a,b].
  app.add_option("--exclude", query.exclude)->allow_extra_args(false);
  app.add_flag("--hidden", query.hidden);
  app.add_flag("--no-ignore", raw.no_ignore);
  add_number(app, "--limit", query.limit);
}

void add_grep(CLI::App& app, GrepQuery& query, Raw& raw) {
  add_search(app, query, raw);
  app.add_option("--include", query.include)->allow_extra_args(false);
  app.add_flag("-F,--literal", query.literal);
  app.add_flag("-i,--ignore-case", query.ignore_case);
  app.add_flag("-w,--word", query.whole_word);
  add_number(app, "-B,--before", query.context_before);
  add_number(app, "-A,--after", query.context_after);
  add_number(app, "-C,--context", raw.context);
}

void add_find(CLI::App& app, Request& request, Raw& raw) {
  FindQuery& query = request.find;
  add_search(app, query, raw);
  app.add_option("--type", raw.type);
  add_number(app, "--depth", query.max_depth);
  add_number(app, "--min-size", query.min_size);
  add_number(app, "--max-size", query.max_size);
  app.add_option("--changed-within", raw.changed_within);
  app.add_flag("--newest", query.newest_first);
  app.add_flag("-l", request.long_form);
}

void add_prepare(CLI::App& app, PrepareChoice& prepare, Raw& raw) {
  app.add_option("--mirror", raw.mirrors)->allow_extra_args(false);
  app.add_option("--input", prepare.inputs)->allow_extra_args(false);
  app.add_option("--init", prepare.init_file);
  app.add_option("--init-version", prepare.init_version);
  app.add_option("-e,--env", raw.env)->allow_extra_args(false);
  app.add_option("--time-zone", prepare.time_zone);
  app.add_option("--locale", prepare.locale);
  app.add_option("--skill", prepare.skills)->allow_extra_args(false);
  app.add_flag("--report", prepare.report);
}

void add_skills(CLI::App& app, Request& request) {
  app.add_option("--skill", request.prepare.skills)->allow_extra_args(false);
  add_number(app, "--characters", request.characters);
}

void add_lifecycle(CLI::App& app, Verb verb, Request& request, Raw& raw) {
  switch (verb) {
    case Verb::kRelocate: app.add_option("--provider", request.provider); [[fallthrough]];
    case Verb::kStop:
    case Verb::kArchive:
      app.add_flag("--force", request.force);
      app.add_option("--wait", raw.wait);
      break;
    case Verb::kDestroy: app.add_flag("--yes", request.yes); break;
    case Verb::kDestroySource:
      app.add_option("--source", request.source);
      app.add_flag("--yes", request.yes);
      app.add_flag("--revive", request.revive);
      break;
    case Verb::kSweep: app.add_flag("--dry-run", request.dry_run); break;
    case Verb::kRecover: app.add_option("--deployment", request.deployment); break;
    case Verb::kDoctor: app.add_flag("--orphans", request.orphans); break;
    default: break;
  }
}

void add_own(CLI::App& app, const Command& command, Request& request, Raw& raw) {
  if ((command.options & kPaths) != 0) {
    // Single values: a list would split a name such as [a,b].
    app.add_option("first", raw.first);
    app.add_option("second", raw.second);
    if (command.most > 2) app.add_option("third", raw.third);
  }
  switch (command.verb) {
    case Verb::kExec:
      app.add_flag("-i,--stdin", request.read_stdin);
      app.add_flag("-t,--tty", request.terminal);
      app.add_flag("-d,--detach", request.detach);
      app.add_option("--name", request.name);
      app.add_option("--keep-alive", raw.keep_alive);
      app.add_option("--cwd", request.cwd);
      app.add_option("-e,--env", raw.env)->allow_extra_args(false);
      app.add_option("--mirror", raw.mirrors)->allow_extra_args(false);
      break;
    case Verb::kLogs: app.add_flag("-f,--follow", request.follow); break;
    case Verb::kKill:
      app.add_option("-s,--signal", raw.signal);
      app.add_flag("--forget", request.forget);
      break;
    case Verb::kAttach: app.add_flag("-i,--stdin", request.read_stdin); break;
    case Verb::kPut:
      app.add_option("--mode", raw.mode);
      app.add_flag("--durable", request.durable);
      break;
    case Verb::kLs: app.add_flag("-l", request.long_form); break;
    case Verb::kGrep: add_grep(app, request.grep, raw); break;
    case Verb::kFind: add_find(app, request, raw); break;
    case Verb::kRead:
      add_number(app, "--offset", request.lines.first);
      add_number(app, "--limit", request.lines.count);
      break;
    case Verb::kWrite:
      app.add_option("--mode", raw.mode);
      app.add_flag("--durable", request.durable);
      app.add_flag("--append", request.append);
      app.add_flag("--if-absent", request.if_absent);
      app.add_option("--if-unchanged", request.if_unchanged);
      break;
    case Verb::kEdit:
      app.add_flag("--all", request.replace_all);
      app.add_flag("--durable", request.durable);
      app.add_option("--if-unchanged", request.if_unchanged);
      break;
    case Verb::kTools: app.add_option("--format", raw.format); break;
    case Verb::kPrepare: add_prepare(app, request.prepare, raw); break;
    case Verb::kSkills: add_skills(app, request); break;
    case Verb::kList: app.add_option("--source", request.source); break;
    default: add_lifecycle(app, command.verb, request, raw); break;
  }
}

/// The arguments as CLI11 takes them: from the back. `--app=` becomes two, since CLI11 would take
/// the next argument for its value.
std::vector<std::string> backwards(const std::vector<std::string>& arguments) {
  std::vector<std::string> result;
  for (auto argument = arguments.rbegin(); argument != arguments.rend(); ++argument) {
    const bool empty_value = argument->size() > 3 && argument->starts_with("--") &&
                             argument->find('=') == argument->size() - 1;
    if (empty_value) result.emplace_back();
    result.push_back(empty_value ? argument->substr(0, argument->size() - 1) : *argument);
  }
  return result;
}

Error unexpected(const CLI::App& app, const std::string& command) {
  const std::vector<std::string> extras = app.remaining(true);
  const std::string first = extras.empty() ? "" : extras.front();
  if (first.starts_with('-')) return usage_error("unknown option " + base::quoted(first), command);
  if (command.empty()) return usage_error("there is no command " + base::quoted(first), command);
  if (command == "exec") {
    return usage_error("unexpected " + base::quoted(first) + "; the command goes after '--'",
                       command);
  }
  return usage_error("unexpected " + base::quoted(first), command);
}

/// Runs CLI11. The chosen command comes back; null where there is none.
Result<const Command*> read_options(const std::vector<std::string>& arguments, Request& request,
                                    Raw& raw) {
  CLI::App app;
  bool version = false;
  const Command* chosen = nullptr;
  const Command* begun = nullptr;  // chosen, but not yet read to its end
  try {
    add_common(app, request, raw);
    app.add_flag("--version", version);
    app.require_subcommand(0, 1);
    for (const Command& command : kCommands) {
      CLI::App& sub = *app.add_subcommand(command.name);
      add_common(sub, request, raw);
      add_workspace(sub, command, request.workspace);
      add_own(sub, command, request, raw);
      sub.preparse_callback([&begun, &command](std::size_t) { begun = &command; });
      sub.parse_complete_callback([&chosen, &command] { chosen = &command; });
    }
    app.parse(backwards(arguments));
  } catch (const CLI::ExtrasError&) {
    return unexpected(app, chosen != nullptr ? chosen->name : "");
  } catch (const CLI::ParseError& error) {
    return usage_error(error.what(), begun != nullptr ? begun->name : "");
  }
  if (version) request.verb = Verb::kVersion;
  return chosen;
}

/// What of grep and find was not read into their queries at once.
Result<void> take_search(const Raw& raw, Request& request) {
  constexpr std::uint64_t kNewest = 1000;
  request.grep.use_ignore_files = request.find.use_ignore_files = !raw.no_ignore;
  if (raw.context) request.grep.context_before = request.grep.context_after = *raw.context;
  COVE_TRY_VOID(take_type(raw.type, request.find));
  if (request.find.newest_first && !request.find.limit) request.find.limit = kNewest;
  request.find.facts = request.long_form;
  if (raw.changed_within) {
    COVE_TRY(request.changed_within, parse_duration(*raw.changed_within));
  }
  return ok();
}

/// Paths, or the command, from before and after the `--`.
Result<void> take_operands(const Command& command, Raw& raw, std::vector<std::string> rest,
                           Request& request) {
  if (command.verb == Verb::kExec) {
    request.command = std::move(rest);
    if (!request.command.empty()) return ok();
    return usage_error("exec takes its command after '--', as in: cove exec ... -- ls -l",
                       command.name);
  }
  if (raw.first) request.operands.push_back(*std::move(raw.first));
  if (raw.second) request.operands.push_back(*std::move(raw.second));
  if (raw.third) request.operands.push_back(*std::move(raw.third));
  request.operands.insert(request.operands.end(), rest.begin(), rest.end());
  const std::size_t count = request.operands.size();
  if (count >= command.least && count <= command.most) return ok();
  return usage_error(std::string(command.name) + " takes " + command.operands, command.name);
}

/// What belongs to background processes.
Result<void> take_process(const Raw& raw, Request& request) {
  if (raw.keep_alive) {
    COVE_TRY(request.keep_alive, parse_duration(*raw.keep_alive));
  }
  if (raw.signal) {
    COVE_TRY(request.signal, parse_signal(*raw.signal));
  }
  if (request.signal && request.forget) {
    return usage_error("--forget wants the process ended, which --signal may not do", "kill");
  }
  if (request.follow && request.json) {
    return usage_error("--follow shows output as it comes, --json at the end: give one", "logs");
  }
  if (!request.detach && (!request.name.empty() || request.keep_alive)) {
    return usage_error("--name and --keep-alive are for what runs on: give --detach too", "exec");
  }
  if (request.terminal && request.json && !request.detach) {
    return usage_error("--tty shows output as it comes, --json at the end: give one", "exec");
  }
  return ok();
}

Result<void> check_chat(const Request& request) {
  if (!request.workspace.chat || !request.workspace.chat->empty()) return ok();
  return Error(ErrorCode::kInvalidArgument,
               "the chat id is empty; leave --chat out to work in /workspace itself");
}

}  // namespace

Result<Request> parse_request(const std::vector<std::string>& arguments) {
  // CLI11 loses empty arguments and splits [a,b] after a `--`, so it must not see them.
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  const std::vector<std::string> options(arguments.begin(), dashes);
  std::vector<std::string> rest(dashes == arguments.end() ? dashes : dashes + 1, arguments.end());

  Request request;
  Raw raw;
  COVE_TRY(const Command* command, read_options(options, request, raw));
  if (request.verb == Verb::kVersion) return request;
  if (raw.help || command == nullptr) {
    request.verb = raw.help ? Verb::kHelp : Verb::kNone;
    request.topic = command == nullptr || command->verb == Verb::kHelp ? "" : command->name;
    return request;
  }
  request.verb = command->verb;
  if (raw.timeout) {
    COVE_TRY(request.timeout, parse_duration(*raw.timeout));
  }
  if (raw.wait) {
    COVE_TRY(request.wait, parse_duration(*raw.wait));
  }
  COVE_TRY_VOID(take_env(raw.env, command->name, request));
  COVE_TRY_VOID(take_mirrors(raw.mirrors, request.prepare.mirrors));
  COVE_TRY_VOID(take_mode(raw.mode, request));
  COVE_TRY_VOID(take_process(raw, request));
  COVE_TRY_VOID(take_search(raw, request));
  COVE_TRY_VOID(take_format(raw.format, request));
  COVE_TRY_VOID(check_chat(request));
  COVE_TRY_VOID(take_operands(*command, raw, std::move(rest), request));
  if (request.verb == Verb::kHelp && !request.operands.empty()) request.topic = request.operands[0];
  return request;
}

}  // namespace cove::cli
