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
    R"(Print what there is as numbers, in Prometheus's text form. It reads every record.

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
