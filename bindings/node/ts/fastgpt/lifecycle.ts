/** The sandbox as a whole: brought up, stopped, deleted, told of. */

import { setTimeout as pause } from "node:timers/promises";
import type { Cove, SandboxStatus } from "../cove.js";
import { CoveError } from "../errors.js";
import { version } from "../native.js";
import type { Workspace } from "../workspace.js";
import {
  FeatureNotSupportedError, ReadyTimeoutError, SandboxNotFoundError, TimeoutError, sandboxError,
} from "./errors.js";
import { chatOf, fastgptSandboxId, keyOf, type SandboxIdentity } from "./identity.js";
import type { SandboxInfo, SandboxState, SandboxStatusInfo } from "./types.js";

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

/** Deletion is looked at so often, as FastGPT's own adapters do. */
const POLL_MS = 1000;

export class Lifecycle {
  readonly provider = "cove";
  readonly id: string;
  protected readonly cove: Cove;
  readonly #identity: SandboxIdentity;
  readonly #chatId: string | undefined;
  #workspace: Workspace | undefined;
  #acquiring: Promise<Workspace> | undefined;
  #status: SandboxStatusInfo = { state: "UnExist" };

  constructor(options: CoveSandboxOptions) {
    this.cove = options.cove;
    this.#identity = options;
    this.#chatId = chatOf(options, options.chatId);
    this.id = options.sandboxId ?? fastgptSandboxId(options);
  }

  /** As of the last look at it. */
  get status(): SandboxStatusInfo {
    return this.#status;
  }

  /** Brings it up and holds it. Without `allowCreate` one that never was is SandboxNotFoundError. */
  async ensureRunning(options: { allowCreate?: boolean } = {}): Promise<void> {
    if (options.allowCreate === false && this.#workspace === undefined && (await this.getInfo()) === null) {
      throw new SandboxNotFoundError(this.id);
    }
    await this.workspace();
  }

  create(): Promise<void> {
    return this.ensureRunning({ allowCreate: true });
  }

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

  /** Brings it up where it is not; Cove needs no polling. */
  async waitUntilReady(timeoutMs = 300_000): Promise<void> {
    try {
      await this.workspace(timeoutMs);
    } catch (error) {
      throw error instanceof TimeoutError ? new ReadyTimeoutError(error.message, error) : error;
    }
  }

  async waitUntilDeleted(timeoutMs = 120_000): Promise<void> {
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

  getEndpoint(_port: number): Promise<never> {
    return Promise.reject(new FeatureNotSupportedError("endpoints of ports"));
  }

  /** Lets go of it here; it runs on until it is idle. */
  async close(): Promise<void> {
    const workspace = this.#workspace ?? (await this.#acquiring?.catch(() => undefined));
    this.#workspace = undefined;
    await workspace?.close();
  }

  /** Held; calls at the same time share one acquire. */
  protected async workspace(timeoutMs?: number): Promise<Workspace> {
    if (this.#workspace !== undefined) return this.#workspace;
    this.#acquiring ??= this.#acquire(timeoutMs).finally(() => (this.#acquiring = undefined));
    return this.#acquiring;
  }

  async #acquire(timeoutMs?: number): Promise<Workspace> {
    const chat = this.#chatId === undefined ? {} : { chatId: this.#chatId };
    const limit = timeoutMs === undefined ? {} : { timeoutMs };
    const workspace = await this.#do(() =>
      this.cove.acquire(keyOf(this.#identity), { sandboxId: this.id, ...chat, ...limit }),
    );
    this.#workspace = workspace;
    this.#status = { state: "Running" };
    return workspace;
  }

  async #do<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw sandboxError(error, this.id);
    }
  }
}
