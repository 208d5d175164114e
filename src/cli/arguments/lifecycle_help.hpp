/// The help of the commands that look after a whole deployment.
#pragma once

#include <string_view>

namespace cove::cli {

inline constexpr std::string_view kDestroySourceHelp =
    R"(Delete every workspace of an app or skill for ever, and forbid new ones.

Usage: cove destroy-source --source TYPE/ID --yes [OPTIONS]
       cove destroy-source --source TYPE/ID --revive [OPTIONS]

It goes on where it was cut off: run it again. Where a workspace lies on another machine, run it
there too.

Options:
  --source TYPE/ID    the source, as app/demo
  --yes               yes, delete all of it
  --revive            instead allow new workspaces again; what was deleted stays deleted
  --home DIR, --config FILE, --json, --timeout T, --verbose    see cove --help

Example:
  cove destroy-source --source app/demo --yes
)";

inline constexpr std::string_view kRelocateHelp =
    R"(Move a workspace to another provider of the configuration: to another root file system.

Usage: cove relocate --app ID --user U --provider NAME [OPTIONS]

It is stopped, archived, deleted there and restored here, where it then runs. The files of the
workspace come along; HOME and what was installed do not. Until it is in the archive it can be given
up, and is when a user comes; from then on its users get it in the new place. Where something fails
there, run it again, or name the former provider: nothing is lost.

Options:
  --provider NAME     one of the configuration's `providers`, or the usual one (local)
  --force             end what runs; else a workspace in use is refused
  --wait T            let what runs finish, for T at most
  --app ID, --source-type T, --source-id ID, --user U, --sandbox ID    see cove --help
  --home DIR, --config FILE, --json, --timeout T, --verbose    see cove --help

Example:
  cove relocate --app demo --user ana --provider debian13 --config cove.json
)";

inline constexpr std::string_view kRecoverHelp =
    R"(Make the records of all archived workspaces again, after the metadata file was lost.

Usage: cove recover [--deployment ID] [OPTIONS]

Every workspace that has a snapshot becomes archived with its newest one, or stopped where its disk
is on this machine. Nothing that is there is overwritten; it may be repeated. No other process may
use the deployment meanwhile. A workspace that was never archived has nothing that says whose it is:
its disk is kept and named.

Options:
  --deployment ID     which one, where the object store has several
  --home DIR, --config FILE, --json, --timeout T, --verbose    see cove --help

Exit code: 0; 1 where something is left for a person to decide.

Example:
  cove recover
)";

inline constexpr std::string_view kMetricsHelp =
    R"(Print what there is as numbers, in Prometheus's text form.

Usage: cove metrics [OPTIONS]

The counters of operations are those of the process that is asked, so here none; a host has them by
Cove::metrics.

Options:
  --json              one object: {"metrics": the text}
  --home DIR, --config FILE, --timeout T, --verbose    see cove --help

Example:
  cove metrics > /var/lib/node_exporter/cove.prom
)";

}  // namespace cove::cli
