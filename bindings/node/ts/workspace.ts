/** Workspace: commands, processes, files, searches and tools of one user, seen from one chat. */

import { call, cancelOf, limitsOf } from "./calls.js";
import { CoveError } from "./errors.js";
import {
  COMMAND, ExecStream, argvOf, commandFields, type Command, type ExecOptions, type ExecResult, type StreamOptions,
} from "./exec.js";
import { Waking, asyncDispose } from "./flow.js";
import { native, type Acquired } from "./native.js";
import * as options from "./options.js";
import type { CallOptions } from "./options.js";
import { prepareReport, type PrepareReport } from "./report.js";
import { unlinkAtEnd } from "./processes.js";
import { WorkspaceSkills } from "./skills.js";

/** What an acquire had to do. */
export type AcquireWork = "none" | "provisioned" | "resumed" | "restored";

/**
 * A workspace that runs and is held by this process; made by `Cove.acquire`. `await using`, `close` and `release` let
 * it go; the sandbox runs on until it is idle.
 */
export class Workspace extends WorkspaceSkills implements AsyncDisposable {
  /** The chat's directory as commands see it: "/workspace/sessions/c1". */
  readonly directory: string;
  readonly sandboxId: string;
  /** What the acquire had to do. */
  readonly work: AcquireWork;
  readonly #isLent: boolean;

  /** @internal */
  constructor(acquired: Acquired) {
    super();
    this.held = acquired.handle;
    this.directory = acquired.directory;
    this.sandboxId = acquired.sandboxId;
    this.work = acquired.work as AcquireWork;
    this.#isLent = acquired.lent === true;
  }

  /**
   * Runs a command to its end. That it ends badly is no error: the result says how.
   *
   *     const result = await workspace.exec(["python3", "-c", "print(6 * 7)"]);
   *
   * `commandTimeoutMs` is the command's own (the outcome is "timed_out"); `timeoutMs` and `signal` are of the whole
   * call. Where they end a command that runs, the result says so, with the output so far.
   */
  async exec(command: Command, given?: ExecOptions): Promise<ExecResult> {
    const checked = options.options("exec", given, [...COMMAND, "onOutput"]);
    const onOutput: unknown = checked.onOutput;
    if (onOutput === undefined) {
      const argv = argvOf(command);
      const fields = commandFields(command, checked);
      return call(checked, (limits) => native.exec(this.use(), argv, fields, limits).done);
    }
    if (typeof onOutput !== "function") throw new TypeError("onOutput must be a function");
    const run = this.#start(command, checked);
    for await (const { stream, data } of run) await onOutput(stream, data);
    return run.result;
  }

  /** Starts a command and gives its output piece by piece; see ExecStream. */
  stream(command: Command, given?: StreamOptions): ExecStream {
    return this.#start(command, options.options("stream", given, [...COMMAND, "keepStdin"]));
  }

  /** What the last preparation did: the acquire's, or that of a wake since. */
  prepareReport(): PrepareReport {
    return prepareReport(native.prepareReport(this.use()));
  }

  /** Ends the use of the workspace and notes when; later calls fail. The sandbox runs on until it is idle. */
  async release(given?: CallOptions): Promise<void> {
    const checked = options.options("release", given, options.CALL);
    if (this.#isLent) this.use();
    else await call(checked, (limits) => native.release(this.use(), limits));
    this.#letGo();
  }

  /** Releases the workspace if that was not done. May be repeated, also after the Cove's close. */
  async close(): Promise<void> {
    if (this.held === undefined) return;
    try {
      await this.release();
    } catch (error) {
      if (!(error instanceof CoveError) || error.code !== "FAILED_PRECONDITION") throw error;
      this.#letGo(); // the Cove let go of it before
    }
  }

  /** Whether it was let go of. */
  get closed(): boolean {
    return this.held === undefined;
  }

  /** Lets it go, as `close`. */
  async [asyncDispose](): Promise<void> {
    await this.close();
  }

  #letGo(): void {
    if (this.held !== undefined) native.letGo(this.held);
    this.held = undefined;
  }

  #start(command: Command, given: Partial<StreamOptions>): ExecStream {
    const argv = argvOf(command);
    const fields = commandFields(command, given);
    const waking = new Waking();
    const cancel = cancelOf(given);
    const following = native.exec(this.use(), argv, fields, limitsOf(given, cancel), waking.wake);
    unlinkAtEnd(following.done, cancel);
    return new ExecStream(following, waking, false, given.signal);
  }
}
