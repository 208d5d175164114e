/** A step of the application's own, while it runs. */

import { CoveError, numberOf } from "./errors.js";
import { native, type Acquired, type StepHandle } from "./native.js";
import * as options from "./options.js";
import { Workspace } from "./workspace.js";

/** What a step that is done says of itself. */
export interface StepResult {
  /** A sentence for the report. */
  reason?: string;
  /** What its programs wrote; the last 8 KiB are kept. */
  output?: string;
  /** Kept for the next time, at most 16 KiB: "". */
  note?: string;
  /** There was nothing to do: false. */
  skipped?: boolean;
}

/** A step that runs; its members may be taken apart, as in `async ({ workspace, signal, tell }) => ...`. */
export interface StepRun {
  /** The workspace that is prepared: commands, files and searches. It is closed when the step is over. */
  readonly workspace: Workspace;
  /** Aborts soon after nobody waits for the step any more: its time is over, or the acquire ended. */
  readonly signal: AbortSignal;
  /** What the step kept when it was last done; it can be written from inside the sandbox. */
  readonly note: string;
  /** Whether nobody waits for the step any more; what it returns then is ignored. */
  readonly over: boolean;
  /** Tells `onEvent` how far the step is. */
  readonly tell: (text: string) => void;
}

/** @internal What the addon gives a step. */
export interface StepParts {
  run: StepHandle;
  workspace: Acquired;
  note: string;
}

/** How often a step that runs is looked at, since C does not say that nobody waits for it any more. */
const LOOK_MS = 100;
const RESULT: readonly string[] = ["reason", "output", "note", "skipped"];

class Running implements StepRun {
  readonly workspace: Workspace;
  readonly note: string;
  readonly #run: StepHandle;
  readonly #controller = new AbortController();
  readonly #looking: NodeJS.Timeout; // keeps the program alive until the step has heard
  #isOpen = true;

  constructor(parts: StepParts) {
    this.workspace = new Workspace({ ...parts.workspace, lent: true });
    this.note = parts.note;
    this.#run = parts.run;
    this.#looking = setInterval(() => this.#look(), LOOK_MS);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get over(): boolean {
    return !this.#isOpen || native.isStepOver(this.#run);
  }

  readonly tell = (text: string): void => {
    const told = options.text("text", text);
    if (!this.over) native.tellStep(this.#run, told);
  };

  finish(result: unknown): void {
    const given = options.options("the result of a step", (result ?? {}) as StepResult, RESULT);
    const fields = {
      reason: withoutNul(options.string("reason", given.reason ?? "")),
      output: withoutNul(options.string("output", given.output ?? "")),
      note: options.text("note", given.note ?? ""),
      skipped: options.truth("skipped", given.skipped),
    };
    if (this.#isOpen) native.finishStep(this.#run, fields);
  }

  fail(error: CoveError): void {
    const output = withoutNul(error.context["output"] ?? "");
    if (this.#isOpen) native.failStep(this.#run, numberOf(error.code), withoutNul(error.reason), output);
  }

  /** Lets go of what the step had: a Cove may close though the application's function goes on. */
  async end(): Promise<void> {
    clearInterval(this.#looking);
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.workspace.close();
    native.letGo(this.#run);
  }

  #look(): void {
    if (!this.over) return;
    void this.end();
    const reason = "nobody waits for this step any more: its time is over, or the acquire ended";
    this.#controller.abort(new CoveError("CANCELLED", reason));
  }
}

function withoutNul(text: string): string {
  return text.replaceAll("\0", " ");
}

function textOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** @internal Runs a step to its end; `onThrown` gets what it threw that is no CoveError. */
export async function runStep(
  apply: (run: StepRun) => unknown,
  parts: StepParts,
  onThrown: (error: unknown) => void,
): Promise<void> {
  const running = new Running(parts);
  try {
    if (!running.over) running.finish(await apply(running));
  } catch (error) {
    if (!(error instanceof CoveError)) onThrown(error);
    running.fail(error instanceof CoveError ? error : new CoveError("INTERNAL", `the step threw ${textOf(error)}`));
  } finally {
    await running.end();
  }
}
