/// The help of what is asked of commands that run on.
#pragma once

#include <string_view>

namespace cove::cli {

inline constexpr std::string_view kPsHelp =
    R"(List the commands that run on in a workspace, ended ones too.

Usage: cove ps --app ID --user U [OPTIONS]

They are those that `cove exec --detach` or a program started, until they are forgotten. A workspace
that does not run has none, and is not woken to say so.

Options:
  --json              {"processes": [{"id", "name", "command", "running", "exit_code", ...}]}
  --app ID, --source-type T, --source-id ID, --user U, --chat C, --sandbox ID    see cove --help
  --home DIR, --config FILE, --timeout T, --verbose    see cove --help

Example:
  cove ps --app demo --user ana
)";

inline constexpr std::string_view kLogsHelp =
    R"(Show what a detached command has written: stdout on stdout, stderr on stderr.

Usage: cove logs --app ID --user U [OPTIONS] PROCESS

PROCESS is an id as cove ps shows it, at least 4 characters of its beginning, or a name. The last
64 MiB of each stream are kept, whole; where something is gone, a line on stderr says how much.

Options:
  -f, --follow        go on as more is written, until the command ends; Ctrl-C only stops showing
  --json              {"id", "stdout", "stdout_gone_bytes", "stderr", "stderr_gone_bytes"}
  --app ID, --source-type T, --source-id ID, --user U, --chat C, --sandbox ID    see cove --help
  --home DIR, --config FILE, --timeout T, --verbose    see cove --help

Examples:
  cove logs --app demo --user ana web
  cove logs --app demo --user ana -f 3f2a
)";

inline constexpr std::string_view kKillHelp =
    R"(End a detached command with all that it started, and wait for that.

Usage: cove kill --app ID --user U [OPTIONS] PROCESS

PROCESS is an id as cove ps shows it, at least 4 characters of its beginning, or a name. It gets
SIGTERM, 2 s to end by itself, and SIGKILL.

Options:
  -s, --signal SIGNAL    instead send it this one signal (HUP, SIGHUP, 1), and do not wait
  --forget            and forget it: cove ps shows it no longer, and its output is deleted. A
                      workspace keeps 256
  --json              {"id", "done"}; done is ended, signaled or forgotten
  --app ID, --source-type T, --source-id ID, --user U, --chat C, --sandbox ID    see cove --help
  --home DIR, --config FILE, --timeout T, --verbose    see cove --help

Examples:
  cove kill --app demo --user ana web
  cove kill --app demo --user ana --signal HUP web
)";

inline constexpr std::string_view kAttachHelp =
    R"(Show what a detached command writes from now on, and type to it.

Usage: cove attach --app ID --user U [OPTIONS] PROCESS

PROCESS is an id as cove ps shows it, at least 4 characters of its beginning, or a name. Where it
has a terminal (exec -d -t) and this is one, keys go to it as they are, and Ctrl-P Ctrl-Q lets go of
it. Else Ctrl-C lets go of it. It goes on either way; cove kill ends it.

Options:
  -i, --stdin         give it what comes on stdin; the end of stdin is the end of its own
  --json              show no output; when it has ended, one object as in cove ps --json
  --app ID, --source-type T, --source-id ID, --user U, --chat C, --sandbox ID    see cove --help
  --home DIR, --config FILE, --timeout T, --verbose    see cove --help

Exit code: that of the command, where it ends meanwhile; 130 where it was ended, as by cove kill; 0
after Ctrl-P Ctrl-Q.

Examples:
  cove attach --app demo --user ana web
  cove attach --app demo --user ana -i import < rows.csv
)";

}  // namespace cove::cli
