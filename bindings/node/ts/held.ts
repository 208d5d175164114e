/** A workspace as long as it is held. */

import { closed } from "./errors.js";
import type { WorkspaceHandle } from "./native.js";

/** @internal The root of Workspace. */
export abstract class Held {
  /** @internal */
  protected held: WorkspaceHandle | undefined;

  /** @internal Throws once the workspace is closed. */
  protected use(): WorkspaceHandle {
    if (this.held === undefined) throw closed("workspace");
    return this.held;
  }
}
