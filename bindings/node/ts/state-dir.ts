/** Where a deployment keeps its state when the program does not say: the rule of the `cove` command. */

import * as os from "node:os";
import * as path from "node:path";

/** COVE_HOME, else /var/lib/cove for root, else $XDG_STATE_HOME/cove, else ~/.local/state/cove. */
export function defaultStateDir(): string {
  const named = process.env.COVE_HOME;
  if (named) return named;
  if (process.geteuid?.() === 0) return "/var/lib/cove";
  // The XDG rule: a relative path there is invalid and counts as unset.
  const stateHome = process.env.XDG_STATE_HOME ?? "";
  if (stateHome.startsWith("/")) return path.join(stateHome, "cove");
  return path.join(os.homedir(), ".local", "state", "cove");
}
