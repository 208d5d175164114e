/** The sandbox as a whole: brought up, stopped, deleted, told of. */

import { setTimeout as pause } from "node:timers/promises";
import type { Cove, SandboxStatus } from "../cove.js";
import { CoveError } from "../errors.js";
import { version } from "../native.js";
import * as check from "../options.js";
import type { Workspace } from "../workspace.js";
import {
  FeatureNotSupportedError, ReadyTimeoutError, SandboxNotFoundError, TimeoutError, sandboxError,
} from "./errors.js";
import { chatOf, fastgptSandboxId, keyOf, type SandboxIdentity } from "./identity.js";
import type { SandboxInfo, SandboxState, SandboxStatusInfo } from "./types.js";

/** What a CoveSandbox is made of. */
export interface CoveSandboxOptions extends SandboxIdentity {
  /** An open Cove, which the caller closes; any number of sandboxes share it. */
  cove: Cove;
  /** Whose session directory; not of "skillEdit". */
  chatId?: string;
  /** Of an old record; FastGPT's own rule by default (`fastgptSandboxId`). */
  sandboxId?: string;
}

const OPERATIONS: Readonly<Record<string, SandboxState>> = {
  provision: "Creating",
  resume: "Starting",
  restore: "Starting",
  relocate: "Starting",
  stop: "Stopping",
  archive: "Stopping",
  destroy: "Deleting",
};

function stateOf(status: SandboxStatus): SandboxState {
  const kind = status.operation?.kind;
  if (kind !== undefined) return OPERATIONS[kind] ?? "Starting";
  if (status.state === "running") return "Running";
  return status.state === "absent" ? "UnExist" : "Stopped";
}

/** The acquire that calls share. */
interface Acquiring {
  readonly workspace: Promise<Workspace>;
  readonly cancel: AbortController;
  /** How many calls wait for it. */
  waiting: number;
}

/** What a timer of Node's can wait for; a longer limit is none. */
const LONGEST_MS = 2 ** 31 - 1;

/** Settles as `work` does, or throws `late()` after `ms`; 0 = no limit. `work` goes on. */
async function within<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  if (ms === 0 || ms > LONGEST_MS) return work;
  const timer = new AbortController();
  const limit = pause(ms, undefined, { signal: timer.signal }).then(() => Promise.reject(late()));
  limit.catch(() => undefined);
  try {
    return await Promise.race([work, limit]);
  } finally {
    timer.abort();
  }
}

/** Deletion is looked at so often, as FastGPT's own adapters do. */
const POLL_MS = 1000;

export class Lifecycle {
  readonly provider = "cove";
  readonly id: string;
  protected readonly cove: Cove;
  readonly #identity: SandboxIdentity;
  readonly #chatId: string | undefined;
  #workspace: Workspace | undefined;
  #acquiring: Acquiring | undefined;
  #status: SandboxStatusInfo = { state: "UnExist" };

  constructor(options: CoveSandboxOptions) {
    check.object("the options of CoveSandbox", options, "{cove, sourceType, sourceId, userId}");
    check.object("cove", options.cove, "an open Cove");
    keyOf(options);
    this.cove = options.cove;
    this.#identity = options;
    this.#chatId = chatOf(options, check.optionalText("chatId", options.chatId));
    this.id = check.optionalText("sandboxId", options.sandboxId) ?? fastgptSandboxId(options);
  }

  /** As of the last look at it. */
  get status(): SandboxStatusInfo {
    return this.#status;
  }

  /** Brings it up and holds it. Without `allowCreate` one that never was is SandboxNotFoundError. */
  async ensureRunning(options: { allowCreate?: boolean } = {}): Promise<void> {
    check.object("options", options, "{allowCreate}");
    if (options.allowCreate === false && this.#workspace === undefined && (await this.getInfo()) === null) {
      throw new SandboxNotFoundError(this.id);
    }
    await this.workspace();
  }

  /** Brings it up and holds it; makes one that never was. */
  create(): Promise<void> {
    return this.ensureRunning({ allowCreate: true });
  }

  /** Brings it up and holds it. One that never was is SandboxNotFoundError. */
  start(): Promise<void> {
    return this.ensureRunning({ allowCreate: false });
  }

  /** Ends what runs in it; its files stay. */
  async stop(): Promise<void> {
    await this.close();
    await this.#do(() => this.cove.stop(this.id, { drain: "cancel" }));
    this.#status = { state: "Stopped" };
  }

  /** Deletes it, or another, with its files. */
  async delete(id: string = this.id): Promise<void> {
    check.text("id", id);
    if (id === this.id) await this.close();
    try {
      await this.cove.destroy(id);
    } catch (error) {
      if (!(error instanceof CoveError && error.code === "NOT_FOUND")) throw sandboxError(error, id);
    }
    if (id === this.id) this.#status = { state: "UnExist" };
  }

  /** null where there is none. */
  async getInfo(): Promise<SandboxInfo | null> {
    let known: SandboxStatus;
    try {
      known = await this.cove.status(this.id);
    } catch (error) {
      if (!(error instanceof CoveError && error.code === "NOT_FOUND")) throw sandboxError(error, this.id);
      this.#status = { state: "UnExist" };
      return null;
    }
    this.#status = { state: stateOf(known), ...(known.needsAttention && { message: known.needsAttention }) };
    return {
      id: known.sandboxId,
      image: { repository: `cove-${known.provider}`, tag: version },
      entrypoint: [],
      metadata: { sourceType: known.sourceType, sourceId: known.sourceId, userId: known.userId },
      status: this.#status,
      createdAt: new Date(known.createdAtMs),
    };
  }

  /** Brings it up where it is not; Cove needs no polling. After `timeoutMs` it is still brought up, until `close`. */
  async waitUntilReady(timeoutMs = 300_000): Promise<void> {
    try {
      await this.workspace(timeoutMs);
    } catch (error) {
      throw error instanceof TimeoutError ? new ReadyTimeoutError(error.message, error) : error;
    }
  }

  /** Waits until there is none; TimeoutError after `timeoutMs`. */
  async waitUntilDeleted(timeoutMs = 120_000): Promise<void> {
    if (timeoutMs !== 0) check.milliseconds("timeoutMs", timeoutMs);
    const end = Date.now() + timeoutMs;
    while ((await this.getInfo()) !== null) {
      if (Date.now() >= end) throw new TimeoutError(`sandbox ${this.id} is not deleted after ${timeoutMs} ms`);
      await pause(Math.min(POLL_MS, timeoutMs));
    }
  }

  /** Not needed: a sandbox in use does not end, and an idle one is only stopped. */
  renewExpiration(_seconds: number): Promise<void> {
    return Promise.reject(new FeatureNotSupportedError("expiration of sandboxes"));
  }

  /** Not there: no port of a sandbox is reached from outside. */
  getEndpoint(_port: number): Promise<never> {
    return Promise.reject(new FeatureNotSupportedError("endpoints of ports"));
  }

  /** Lets go of it here; it runs on until it is idle. An acquire that nobody waits for any more is called off. */
  async close(): Promise<void> {
    const acquiring = this.#acquiring;
    if (acquiring?.waiting === 0) {
      this.#acquiring = undefined;
      acquiring.cancel.abort();
    }
    const workspace = this.#workspace ?? (await acquiring?.workspace.catch(() => undefined));
    if (this.#workspace === workspace) this.#workspace = undefined;
    await workspace?.close();
  }

  /** Held; calls at the same time share one acquire, and each has its own limit. */
  protected async workspace(timeoutMs?: number): Promise<Workspace> {
    const limit = check.milliseconds("timeoutMs", timeoutMs);
    if (this.#workspace !== undefined) return this.#workspace;
    const acquiring = (this.#acquiring ??= this.#acquire());
    const late = () => new TimeoutError(`sandbox ${this.id} is not ready after ${limit} ms`);
    ++acquiring.waiting;
    try {
      return await within(limit, acquiring.workspace, late);
    } finally {
      --acquiring.waiting;
    }
  }

  #acquire(): Acquiring {
    const cancel = new AbortController();
    const chat = this.#chatId === undefined ? {} : { chatId: this.#chatId };
    const fields = { sandboxId: this.id, ...chat, signal: cancel.signal };
    const workspace = this.#do(() => this.cove.acquire(keyOf(this.#identity), fields)).then(
      (acquired) => {
        if (this.#acquiring !== acquiring) return acquired; // `close` takes it
        this.#acquiring = undefined;
        this.#workspace = acquired;
        this.#status = { state: "Running" };
        return acquired;
      },
      (error: unknown) => {
        if (this.#acquiring === acquiring) this.#acquiring = undefined;
        throw error;
      },
    );
    workspace.catch(() => undefined); // thrown to those who wait, if there are any
    const acquiring: Acquiring = { workspace, cancel, waiting: 0 };
    return acquiring;
  }

  async #do<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw sandboxError(error, this.id);
    }
  }
}
