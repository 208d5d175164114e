/** Cove: one open deployment in this process. */

import { call } from "./calls.js";
import { closed } from "./errors.js";
import { asyncDispose } from "./flow.js";
import { report } from "./json.js";
import { native, type Acquired, type CoveHandle } from "./native.js";
import * as options from "./options.js";
import type { CallOptions } from "./options.js";
import { FakeClock, asker, type Ask, type MetadataStore } from "./parts.js";
import { Prepared, type Prepare } from "./prepare.js";
import { Sources, hearing } from "./sources.js";
import { defaultStateDir } from "./state-dir.js";
import { Workspace } from "./workspace.js";

/** Who owns a workspace. A chat is no part of it: all chats of a user share the workspace. */
export interface WorkspaceKey {
  /** [A-Za-z][A-Za-z0-9]{0,23}, as "app". */
  sourceType: string;
  /** Which app or skill. */
  sourceId: string;
  /** Whose. */
  userId: string;
}

/** How much a message matters. */
export type LogLevel = "debug" | "info" | "warning" | "error";

/** What a Cove is opened with. */
export interface OpenOptions {
  /** Where it keeps its state; without one, and without "state_dir" in `config`, it is `defaultStateDir()`. */
  stateDir?: string;
  /** Any other settings (docs/configuration.md). */
  config?: Readonly<Record<string, unknown>>;
  /** Gets Cove's messages, without secrets. */
  log?: (level: LogLevel, message: string) => unknown;
  /** Hears of every step that a sandbox's record takes. */
  onEvent?: (event: LifecycleEvent) => unknown;
  /** Where the records live, instead of "metadata" of the configuration. It belongs to one Cove. */
  metadata?: MetadataStore;
  /** What it goes by instead of the machine's clock. */
  clock?: FakeClock;
}

/** One step that a sandbox's record took; told after it is true. */
export interface LifecycleEvent {
  sandboxId: string;
  /** After the step. */
  state: SandboxStatus["state"];
  /** As `SandboxStatus.operation.kind`, or "lost": its instance was found to be gone. */
  operation: string;
  phase: string;
  /** The operation ended and left `state`. */
  completed: boolean;
  /** Of an operation that failed or was abandoned; else "". */
  error: string;
  reason: "acquire" | "asked" | "idle" | "recovery" | "source";
  /** Since this process began or took over the operation. */
  durationMs: number;
  /** So many events before it were lost, since nobody took them. */
  lostBefore?: number;
}

export interface RemoveSessionOptions extends CallOptions {
  /** Of a record of another id. */
  sandboxId?: string;
}

/** A volume, or an instance with its start's number. */
export interface Orphan {
  deployment: string;
  sandboxId: string;
  generation: string;
  /** At which provider it is. */
  provider: string;
  epoch?: number;
}

/** What exists on this machine and no record of the deployment, or of this metadata store, names. */
export interface OrphanReport {
  volumes: Orphan[];
  instances: Orphan[];
  foreignVolumes: Orphan[];
  foreignInstances: Orphan[];
}

export interface AcquireOptions extends CallOptions {
  /** Whose session directory; without one, /workspace itself. */
  chatId?: string;
  /** Adopts a record of another id. */
  sandboxId?: string;
  /** What is made ready before; without it only the session's directory. */
  prepare?: Prepare;
}

export interface StopOptions extends CallOptions {
  /** While it is in use: "refuse" is FAILED_PRECONDITION, "cancel" ends the use. "refuse" by default. */
  drain?: "refuse" | "cancel";
  /** How long what runs may finish before `drain` decides, at most an hour; acquires wait meanwhile. No time by default. */
  waitMs?: number;
}

export interface RelocateOptions extends StopOptions {
  /** Where it is to go: the name of one of the configuration ("providers", or the type of the usual one). */
  provider: string;
}

export interface ListSandboxesOptions extends CallOptions {
  /** "sourceType/sourceId": of one app or skill only. */
  source?: string;
}

/** What is known of a sandbox. New members may come. */
export interface SandboxStatus {
  sandboxId: string;
  sourceType: string;
  sourceId: string;
  userId: string;
  /** "absent" only beside an operation that makes or destroys it. */
  state: "running" | "stopped" | "archived" | "absent";
  provider: string;
  node: string;
  createdAtMs: number;
  lastActiveAtMs: number;
  /** How many processes hold it. */
  users: number;
  operation: {
    /** "provision", "resume", "stop", "archive", "restore", "destroy" or "relocate"; others may come. */
    kind: string;
    phase: string;
    attempt: number;
    startedAtMs: number;
    heartbeatAtMs: number;
    error: unknown;
  } | null;
  snapshot: { entries: number; contentBytes: number; storedBytes: number } | null;
  /** How often in a row operations failed. */
  failures: number;
  /** Why a person should look; "" = no need. */
  needsAttention: string;
}

/** What a recovery made again, by what became of the records. */
export interface RecoverReport {
  deployment: string;
  archived: number;
  stopped: number;
  /** Were there, and are as they were. */
  kept: number;
  destroyed: number;
  /** What a person has to decide. */
  problems: unknown[];
}

/** What this machine can isolate, or what is missing. */
export interface Finding {
  level: "good" | "limited" | "broken";
  subject: string;
  detail: string;
  remedy: string;
}

const LEVELS: readonly LogLevel[] = ["debug", "info", "warning", "error"];
const LIST_PAGE = 200;

function rawKey(key: unknown): object {
  if (typeof key !== "object" || key === null) throw new TypeError("key must be {sourceType, sourceId, userId}");
  const given = key as Partial<WorkspaceKey>;
  return {
    sourceType: options.text("sourceType", given.sourceType),
    sourceId: options.text("sourceId", given.sourceId),
    userId: options.text("userId", given.userId),
  };
}

/** The JSON Schema that a configuration is checked against. */
export function configSchema(): Record<string, unknown> {
  return JSON.parse(native.configSchema()) as Record<string, unknown>;
}

/** The sandbox id of a key: always the same one. Needs no open Cove. */
export function sandboxIdOf(key: WorkspaceKey): string {
  return native.sandboxIdOf(rawKey(key));
}

/**
 * One open Cove. `await using` and `close` let go of everything; that ends no sandbox.
 *
 *     const cove = await Cove.open("/var/lib/app/cove");
 */
export class Cove extends Sources implements AsyncDisposable {
  #handle: CoveHandle | undefined;
  readonly #clock: FakeClock | undefined;

  private constructor(handle: CoveHandle, clock: FakeClock | undefined) {
    super();
    this.#handle = handle;
    this.#clock = clock;
  }

  /** Opens the state directory and the stores. */
  static async open(where?: string | OpenOptions): Promise<Cove> {
    const given = typeof where === "string" ? { stateDir: where } : where;
    const checked = options.options("Cove.open", given, ["stateDir", "config", "log", "onEvent", "metadata", "clock"]);
    const config: Record<string, unknown> = { ...checked.config };
    if (checked.stateDir !== undefined) config["state_dir"] = options.text("stateDir", checked.stateDir);
    config["state_dir"] ??= defaultStateDir();
    const log: unknown = checked.log;
    if (log !== undefined && typeof log !== "function") throw new TypeError("log must be a function");
    const write = log as OpenOptions["log"];
    const line = write && ((level: number, message: string) => void write(LEVELS[level] ?? "info", message));
    const json = options.text("config", JSON.stringify(config));
    const hear = hearing<LifecycleEvent>("onEvent", checked.onEvent);
    const { clock, metadata } = checked;
    if (clock !== undefined && !(clock instanceof FakeClock)) throw new TypeError("clock must be a FakeClock");
    const ask: Ask | undefined = metadata && asker(metadata);
    const handle: CoveHandle = await call({}, () => native.open(json, line, clock?.handle, ask));
    if (hear !== undefined) native.observe(handle, hear);
    clock?.follow(handle);
    return new Cove(handle, clock);
  }

  /**
   * Brings a workspace up, from absent, stopped or archived, prepares it, and holds it. The error of a required step
   * that failed has "step" and "output" in its `context`.
   */
  async acquire(key: WorkspaceKey, given?: AcquireOptions): Promise<Workspace> {
    const checked = options.options("acquire", given, ["chatId", "sandboxId", "prepare", ...options.CALL]);
    if (checked.chatId === "") throw new RangeError('chatId is ""; undefined means no chat');
    const fields = {
      chatId: options.optionalText("chatId", checked.chatId),
      sandboxId: options.optionalText("sandboxId", checked.sandboxId),
    };
    const raw = rawKey(key);
    const prepared = checked.prepare === undefined ? undefined : new Prepared(checked.prepare);
    try {
      const acquired: Acquired = await call(checked, (limits) => {
        const started = native.acquire(this.use(), raw, { ...fields, prepare: prepared?.handle, ...limits });
        prepared?.letGo();
        return started;
      });
      return new Workspace(acquired);
    } catch (error) {
      throw prepared === undefined ? error : prepared.explained(error);
    }
  }

  /** Ends a sandbox's processes and keeps its files; the next acquire starts it again. */
  async stop(sandboxId: string, given?: StopOptions): Promise<void> {
    const [checked, fields] = stopFields("stop", given);
    const id = options.text("sandboxId", sandboxId);
    await call(checked, (limits) => native.stop(this.use(), id, { ...fields, ...limits }));
  }

  /** Stops a sandbox and moves its workspace into the object store; acquire brings it back. */
  async archive(sandboxId: string, given?: StopOptions): Promise<void> {
    const [checked, fields] = stopFields("archive", given);
    const id = options.text("sandboxId", sandboxId);
    await call(checked, (limits) => native.archive(this.use(), id, { ...fields, ...limits }));
  }

  /**
   * Moves a sandbox to another provider of the configuration, so to another image, where it then runs; harmless where
   * it is there already. HOME and what else an archive does not keep stay behind.
   */
  async relocate(sandboxId: string, given: RelocateOptions): Promise<void> {
    const [checked, fields] = stopFields<RelocateOptions>("relocate", given, ["provider"]);
    const id = options.text("sandboxId", sandboxId);
    const provider = options.text("provider", checked.provider);
    await call(checked, (limits) => native.relocate(this.use(), id, { ...fields, provider, ...limits }));
  }

  /** Deletes a sandbox with its files and its archive, for ever, also while it is in use. */
  async destroy(sandboxId: string, given?: CallOptions): Promise<void> {
    const checked = options.options("destroy", given, options.CALL);
    const id = options.text("sandboxId", sandboxId);
    await call(checked, (limits) => native.destroy(this.use(), id, limits));
  }

  /**
   * Removes a chat's session directory with all in it: that a chat is deleted removes nothing. Brings the workspace up;
   * harmless where the directory is not there.
   */
  async removeSession(key: WorkspaceKey, chatId: string, given?: RemoveSessionOptions): Promise<void> {
    const checked = options.options("removeSession", given, ["sandboxId", ...options.CALL]);
    const fields = {
      chatId: options.text("chatId", chatId),
      sandboxId: options.optionalText("sandboxId", checked.sandboxId),
    };
    const raw = rawKey(key);
    await call(checked, (limits) => native.removeSession(this.use(), raw, { ...fields, ...limits }));
  }

  /**
   * Makes the records again after the metadata was lost, from the object store. Overwrites nothing; may be repeated.
   * `deployment` = which one; undefined = the only one in the store.
   */
  async recover(deployment?: string, given?: CallOptions): Promise<RecoverReport> {
    const checked = options.options("recover", given, options.CALL);
    const name = options.optionalText("deployment", deployment) ?? "";
    return report(await call(checked, (limits) => native.recover(this.use(), name, limits)));
  }

  /** What there is and what this process did, in Prometheus's text form. Reads every record. */
  async metrics(given?: CallOptions): Promise<string> {
    const checked = options.options("metrics", given, options.CALL);
    const text: Buffer = await call(checked, (limits) => native.metrics(this.use(), limits));
    return text.toString("utf8");
  }

  /** What is known of a sandbox. */
  async status(sandboxId: string, given?: CallOptions): Promise<SandboxStatus> {
    const checked = options.options("status", given, options.CALL);
    const id = options.text("sandboxId", sandboxId);
    return report(await call(checked, (limits) => native.status(this.use(), id, limits)));
  }

  /** Every sandbox, by id, a page at a time. `timeoutMs` bounds each page. */
  async *list(given?: ListSandboxesOptions): AsyncGenerator<SandboxStatus, void, undefined> {
    const checked = options.options("list", given, ["source", ...options.CALL]);
    const source = options.optionalText("source", checked.source);
    let after = "";
    do {
      const from = after;
      const json: Buffer = await call(checked, (limits) =>
        native.listPage(this.use(), { source, after: from, limit: LIST_PAGE, ...limits }),
      );
      const page = report<{ sandboxes: SandboxStatus[]; next: string }>(json);
      yield* page.sandboxes;
      after = page.next;
    } while (after !== "");
  }

  /** What exists on this machine and no record names. Nothing is removed. */
  async orphans(given?: CallOptions): Promise<OrphanReport> {
    const checked = options.options("orphans", given, options.CALL);
    return report(await call(checked, (limits) => native.orphans(this.use(), limits)));
  }

  /** What this machine can isolate and what is missing. */
  async doctor(given?: CallOptions): Promise<Finding[]> {
    const checked = options.options("doctor", given, options.CALL);
    const json: Buffer = await call(checked, (limits) => native.doctor(this.use(), limits));
    return report<{ findings: Finding[] }>(json).findings;
  }

  /**
   * Lets go of everything; ends no sandbox. May be repeated. TIMEOUT: something still went on after `timeoutMs`
   * (10,000); it was left behind.
   */
  async close(given?: { timeoutMs?: number }): Promise<void> {
    const checked = options.options("close", given, ["timeoutMs"]);
    const timeoutMs = options.milliseconds("timeoutMs", checked.timeoutMs ?? 10_000);
    const handle = this.#handle;
    if (handle === undefined) return;
    this.#handle = undefined;
    this.#clock?.leave(handle);
    try {
      await call({}, () => native.close(handle, timeoutMs));
    } finally {
      native.letGo(handle);
    }
  }

  /** Whether `close` was called. */
  get closed(): boolean {
    return this.#handle === undefined;
  }

  /** Closes it, as `close`. */
  async [asyncDispose](): Promise<void> {
    await this.close();
  }

  /** @internal */
  protected override use(): CoveHandle {
    if (this.#handle === undefined) throw closed("Cove");
    return this.#handle;
  }
}

function stopFields<T extends StopOptions>(
  name: string,
  given: T | undefined,
  more: readonly string[] = [],
): [Partial<T>, object] {
  const checked = options.options(name, given, ["drain", "waitMs", ...more, ...options.CALL]);
  const drain = options.oneOf("drain", checked.drain ?? "refuse", ["refuse", "cancel"]);
  return [checked, { cancelUse: drain === "cancel", waitMs: options.milliseconds("waitMs", checked.waitMs) }];
}
