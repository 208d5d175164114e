/// What a person asked the `cove` command to do, read from its arguments.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cove/files.hpp>
#include <cove/prepare_inputs.hpp>
#include <cove/result.hpp>
#include <cove/search.hpp>
#include <cove/tools.hpp>

namespace cove::cli {

enum class Verb : std::uint8_t {
  kNone,
  kExec,
  kPs,
  kLogs,
  kKill,
  kAttach,
  kPut,
  kGet,
  kList,
  kLs,
  kGrep,
  kFind,
  kRead,
  kWrite,
  kEdit,
  kTool,
  kTools,
  kPrepare,
  kSkills,
  kStatus,
  kStop,
  kArchive,
  kDestroy,
  kDestroySource,
  kRelocate,
  kSweep,
  kRecover,
  kMetrics,
  kDoctor,
  kHelp,
  kVersion,
};

/// Which workspace is meant: by its owner, or by its sandbox id, or both.
struct WorkspaceChoice {
  std::optional<std::string> app;  ///< source_type "app" and this source_id
  std::optional<std::string> source_type;
  std::optional<std::string> source_id;
  std::optional<std::string> user;
  std::optional<std::string> chat;
  std::optional<std::string> sandbox;
};

/// Of prepare: what is made ready, besides the variables of --env.
struct PrepareChoice {
  Mirrors mirrors;
  std::vector<std::string> inputs;  ///< files of this machine
  std::string init_file;            ///< "-" = stdin; empty = none
  std::string init_version;
  std::string time_zone;
  std::string locale;
  std::vector<std::string> skills;  ///< version ids; of `skills index` too
  bool report = false;
};

struct Request {
  Verb verb = Verb::kNone;
  std::string topic;  ///< of help: the command; empty = all
  bool json = false;
  bool verbose = false;
  std::optional<std::string> home;
  std::optional<std::string> config;
  std::optional<std::chrono::milliseconds> timeout;
  WorkspaceChoice workspace;
  /// Of put, get and ls: paths; of grep, find and tool: what they look for, or its name, first; of
  /// kill and such: one process; of skills: what to do, then a version id and a file.
  std::vector<std::string> operands;
  std::vector<std::string> command;  ///< of exec: what follows `--`, as it was given
  bool read_stdin = false;
  bool terminal = false;
  bool detach = false;
  std::string name;                                     ///< of what is detached
  std::optional<std::chrono::milliseconds> keep_alive;  ///< of what is detached
  bool follow = false;
  std::optional<std::int32_t> signal;  ///< of kill; none = end it and wait
  bool forget = false;
  std::string cwd;
  std::map<std::string, std::string> env;
  std::optional<std::uint32_t> mode;
  bool durable = false;
  bool long_form = false;
  GrepQuery grep{.limit = {}};
  FindQuery find{.limit = {}};
  std::optional<std::chrono::milliseconds> changed_within;  ///< of find
  LineRange lines;                                          ///< of read
  bool append = false;
  bool if_absent = false;
  std::optional<std::string> if_unchanged;
  bool replace_all = false;
  ToolFormat tool_format = ToolFormat::kOpenAi;
  PrepareChoice prepare;
  std::size_t characters = 16'000;  ///< of skills index
  bool force = false;
  bool yes = false;
  bool orphans = false;
  bool dry_run = false;
  bool revive = false;
  std::chrono::milliseconds wait{0};  ///< of stop and archive: for what runs to finish
  std::string provider;               ///< of relocate
  std::string deployment;             ///< of recover; empty = the only one
  std::optional<std::string> source;  ///< of list and destroy-source: `source_type/source_id`
};

/// Reads the arguments after the program's name. Everything after the first `--` is taken as it is:
/// the command of exec, or paths that may begin with `-`. Errors: kInvalidArgument says what is
/// wrong and where help is.
Result<Request> parse_request(const std::vector<std::string>& arguments);

/// The help of a command, or the overview where `topic` is empty. kNotFound: no such command.
Result<std::string_view> help_of(std::string_view topic);

/// "30", "1.5s", "500ms", "2m", "1h": a number without a unit is seconds. kInvalidArgument.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

/// "TERM", "SIGTERM", "15". kInvalidArgument.
Result<std::int32_t> parse_signal(std::string_view text);

}  // namespace cove::cli
