#include <algorithm>

#include "cli/arguments/file_help.hpp"
#include "cli/arguments/lifecycle_help.hpp"
#include "cli/arguments/prepare_help.hpp"
#include "cli/arguments/process_help.hpp"
#include "cli/arguments/request.hpp"
#include "cli/arguments/tool_help.hpp"

namespace cove::cli {
namespace {

constexpr std::string_view kOverview =
    R"(cove: a persistent, isolated workspace for every user of an agent application.

Usage: cove COMMAND [OPTIONS] ...

Work in a workspace (it is made at the first use, and wakes by itself):
  exec      run a command                  cove exec --app demo --user ana -- python3 report.py
  put       write a file                   cove put --app demo --user ana sales.csv data/sales.csv
  get       read a file                    cove get --app demo --user ana out/chart.svg chart.svg
  ls        list a directory               cove ls --app demo --user ana -l data
  grep      find lines in files            cove grep --app demo --user ana 'def \w+' src
  find      find files by name             cove find --app demo --user ana '*.csv'
  read      read lines of a file           cove read --app demo --user ana --limit 20 report.py
  write     write a file from stdin        date | cove write --app demo --user ana now.txt
  edit      replace text in a file         cove edit --app demo --user ana a.py 'x = 1' 'x = 2'
  tool      call a tool as a model does    cove tool --app demo --user ana sandbox_ls '{}'
  tools     describe the tools             cove tools --format mcp
  prepare   make it ready for a task       cove prepare --app demo --user ana --init setup.sh
  skills    keep and show skills           cove skills add pdf-3 pdf.zip

Commands that run on in a workspace:
  exec -d   start one                      cove exec --app demo --user ana -d -- python3 serve.py
  ps        list them                      logs      what one has written
  attach    watch one and type to it       kill      end or signal one

Look after workspaces:
  status    what one is doing              list      all of them
  stop      end what runs, keep the files  archive   move it to the object store
  destroy   delete it for ever             sweep     stop and archive what is idle
  relocate  move it to another provider    recover   make lost records again
  destroy-source   delete all of an app    metrics   numbers for Prometheus
  doctor    what this machine can isolate, what is missing, and how to get it

Which workspace:
  --app ID --user U       the workspace of user U in the app ID; all chats of U share it
  --chat C                work in the directory of chat C: /workspace/sessions/C
  --source-type T --source-id ID    in place of --app, for what is no app
  --sandbox ID            by its sandbox id, as `list` shows it

Every command:
  --home DIR              where Cove keeps everything; default: $COVE_HOME, else /var/lib/cove for
                          root, else $XDG_STATE_HOME/cove, else ~/.local/state/cove
  --config FILE           a JSON configuration; state_dir may be left out of it
  --json                  output for machines; errors are one JSON object on stderr
  --timeout T             give up after 500ms, 30s, 2m, 1h
  --verbose               say on stderr what Cove itself does
  -h, --help              help, also of one command: cove exec --help
  --version               the version

Exit code: that of the command that ran; 128 + n where signal n ended it; 124 where it timed out;
125 where Cove itself could not do it, with one line on stderr that says why.
)";

constexpr std::string_view kExec =
    R"(Run a command in a workspace. Its output comes as it is written.

Usage: cove exec --app ID --user U [--chat C] [OPTIONS] -- COMMAND [ARGUMENT...]

Everything after the first -- is the command, exactly as it is given; no shell reads it.
For pipes and variables, run a shell: -- sh -c 'ls | wc -l'

Options:
  -i, --stdin         give the command what comes on stdin, as it comes; else its stdin is at its
                      end, so that a loop which reads a list may run cove in it
  -t, --tty           run it on a terminal, as ssh -t does: keys go to it as they are, Ctrl-C too,
                      and the window's size follows. Takes stdin without -i
  -e, --env NAME=VALUE    set a variable; may be repeated. Nothing of this shell's is passed on
  --mirror NAME=URL   as of `cove prepare`; without it none is set
  --cwd DIR           where to run; default: the chat's directory, without a chat /workspace
  --timeout T         end the command, with all that it started, after T; exit code 124. The time
                      to wake the workspace does not count
  -d, --detach        start it, print its id, and let it run on: see cove ps, logs, attach, kill. It
                      ends with the sandbox. With -i its stdin stays open, for cove attach -i
  --name NAME         of a detached command: a name for people, which ps, logs and kill take too
  --keep-alive T      of a detached command: keeps its sandbox from an idle stop so long, at most
                      24h
  --json              print one object at the end: outcome, exit_code, stdout, stderr, duration_ms
                      (50 KiB from the beginning and the end of each stream; bytes that are no
                      UTF-8 become U+FFFD, and stdout_hex or stderr_hex has them all); with
                      --detach at once, what cove ps says of it
  --app ID, --source-type T, --source-id ID, --user U, --chat C, --sandbox ID    see cove --help
  --home DIR, --config FILE, --verbose    see cove --help

Ctrl-C ends the command, with all that it started; a second Ctrl-C does not wait for that.

Exit code: the command's; 128 + n for a signal; 124 timed out; 137 out of memory; 125 Cove's own,
also where there is no such program.

Examples:
  cove exec --app demo --user ana --chat c1 -- sh -c 'echo hello > note.txt; pwd'
  cove exec --app demo --user ana -- python3 -c 'print(6 * 7)'
  cove exec --app demo --user ana -i -- wc -l < sales.csv
  cove exec --app demo --user ana -t -- bash
  cove exec --app demo --user ana --timeout 10s -e LANG=C -- make test
  cove exec --app demo --user ana -d --name web -- python3 -m http.server
)";

constexpr std::string_view kStatus = R"(Say what a workspace's sandbox is doing. Nothing is started.

Usage: cove status --app ID --user U [OPTIONS]

Options:
  --json              the record: sandbox_id, state (running, stopped, archived), operation, ...
  --app ID, --source-type T, --source-id ID, --user U, --chat C, --sandbox ID    see cove --help
  --home DIR, --config FILE, --timeout T, --verbose    see cove --help

Example:
  cove status --app demo --user ana --json
)";

constexpr std::string_view kListHelp = R"(List the sandboxes of this deployment.

Usage: cove list [OPTIONS]

Options:
  --app ID            only those of this app
  --source TYPE/ID    only those of this source
  --source-type T, --source-id ID    the same in two parts
  --user U            only those of this user
  --sandbox ID        only this one
  --json              {"sandboxes": [...]}, each as `cove status --json` has it
  --home DIR, --config FILE, --timeout T, --verbose    see cove --help

Examples:
  cove list
  cove list --app demo --json
)";

constexpr std::string_view kStop =
    R"(End everything that runs in a workspace. Its files and its home stay; /tmp does not.

Usage: cove stop --app ID --user U [OPTIONS]

Options:
  --wait T            let what runs finish first, at most 1h; meanwhile nobody gets in
  --force             also where another process uses it or a command runs (after T)
  --app ID, --source-type T, --source-id ID, --user U, --chat C, --sandbox ID    see cove --help
  --home DIR, --config FILE, --json, --timeout T, --verbose    see cove --help

Example:
  cove stop --app demo --user ana
)";

constexpr std::string_view kArchive =
    R"(Move a workspace to the object store; nothing of it stays on this machine.

Usage: cove archive --app ID --user U [OPTIONS]

It is stopped first. /workspace is kept whole; the home directory is not. The next exec, put, get or
ls brings it back by itself.

Options:
  --wait T            let what runs finish first, at most 1h; meanwhile nobody gets in
  --force             also where another process uses it or a command runs (after T)
  --app ID, --source-type T, --source-id ID, --user U, --chat C, --sandbox ID    see cove --help
  --home DIR, --config FILE, --json, --timeout T, --verbose    see cove --help

Example:
  cove archive --app demo --user ana
)";

constexpr std::string_view kDestroy =
    R"(Delete a workspace for ever, with its archive. There is no way back.

Usage: cove destroy --app ID --user U --yes [OPTIONS]

Options:
  --yes               yes, delete it
  --app ID, --source-type T, --source-id ID, --user U, --sandbox ID    see cove --help
  --home DIR, --config FILE, --json, --timeout T, --verbose    see cove --help

Example:
  cove destroy --app demo --user ana --yes
)";

constexpr std::string_view kSweep =
    R"(Look after all workspaces once: stop what is idle (60 minutes), archive what was stopped for long
(7 days), finish or undo what a dead process left, remove what is replaced.

Usage: cove sweep [OPTIONS]

Run it from cron or a timer, on as many machines as you like. The times are settings (--config).

Options:
  --dry-run           say what it would do, and do nothing
  --home DIR, --config FILE, --json, --timeout T, --verbose    see cove --help

Example:
  cove sweep --json
)";

constexpr std::string_view kDoctor =
    R"(Say what this machine can isolate, what is missing, and how to get it. Nothing is kept.

Usage: cove doctor [OPTIONS]

Options:
  --orphans           instead list volumes and instances that no record names; nothing is deleted
  --home DIR, --config FILE, --json, --timeout T, --verbose    see cove --help

Exit code: 0; 1 where something that Cove needs is missing.

Examples:
  cove doctor
  cove doctor --orphans --json
)";

constexpr std::string_view kHelp = R"(Help of a command.

Usage: cove help [COMMAND]
)";

struct Topic {
  std::string_view name;
  std::string_view text;
};

constexpr Topic kTopics[] = {
    {"", kOverview},
    {"exec", kExec},
    {"ps", kPsHelp},
    {"logs", kLogsHelp},
    {"kill", kKillHelp},
    {"attach", kAttachHelp},
    {"put", kPutHelp},
    {"get", kGetHelp},
    {"ls", kLsHelp},
    {"grep", kGrepHelp},
    {"find", kFindHelp},
    {"read", kReadHelp},
    {"write", kWriteHelp},
    {"edit", kEditHelp},
    {"tool", kToolHelp},
    {"tools", kToolsHelp},
    {"prepare", kPrepareHelp},
    {"skills", kSkillsHelp},
    {"status", kStatus},
    {"list", kListHelp},
    {"stop", kStop},
    {"archive", kArchive},
    {"relocate", kRelocateHelp},
    {"destroy", kDestroy},
    {"sweep", kSweep},
    {"doctor", kDoctor},
    {"help", kHelp},
    {"recover", kRecoverHelp},
    {"metrics", kMetricsHelp},
    {"destroy-source", kDestroySourceHelp},
};

}  // namespace

Result<std::string_view> help_of(std::string_view topic) {
  const auto* found = std::find_if(std::begin(kTopics), std::end(kTopics),
                                   [&](const Topic& known) { return known.name == topic; });
  if (found != std::end(kTopics)) return found->text;
  return Error(ErrorCode::kNotFound,
               "there is no command '" + std::string(topic) + "'; see: cove --help");
}

}  // namespace cove::cli
