/** Sweeps, and what a source wants: its end, its revival, its idle times. */

import { call } from "./calls.js";
import { renamed, report } from "./json.js";
import { native, type Hear } from "./native.js";
import * as options from "./options.js";
import type { CallOptions } from "./options.js";
import { SkillShelf } from "./skills.js";

/** When the sweep stops and archives the sandboxes of a source. What is not there is as configured. */
export interface IdlePolicy {
  /** Idle while it runs, in milliseconds; 0 = at once. */
  stopAfterMs?: number;
  /** Idle while it is stopped, in milliseconds; 0 = at once. */
  archiveAfterMs?: number;
  /**
   * "when_idle": after `archiveAfterMs`; "at_once": in the sweep that stopped it, or that finds it stopped; "never":
   * only where it is asked for. "when_idle" by default.
   */
  archive?: "when_idle" | "at_once" | "never";
}

/** The counts of a sweep. */
export interface SweepCounts {
  examined: number;
  stopped: number;
  archived: number;
  recovered: number;
  lost: number;
  deleted: number;
  skipped: number;
  failed: number;
}

/** What a sweep did. */
export interface SweepReport extends SweepCounts {
  /** At most 1,000; `failed` counts all. */
  errors: string[];
  /** Of a dry run, at most 1,000. */
  planned: { sandboxId: string; action: "stop" | "archive" | "recover" }[];
}

/** Something that a sweep did about a sandbox, and the counts so far. */
export interface SweepStep extends SweepCounts {
  sandboxId: string;
  action: string;
  /** "" = it succeeded. */
  error: string;
}

export interface SweepOptions extends CallOptions {
  /** Decides, and does nothing: what it would do is in `planned`. */
  dryRun?: boolean;
  /** Sandboxes worked on at a time, 1 to 64: 4. */
  atOnce?: number;
  /** Hears of each that something was done about. */
  onProgress?: (step: SweepStep) => unknown;
}

/** How far the end of a source is. */
export interface SourceProgress {
  sandboxId: string;
  destroyed: number;
  failed: number;
}

export interface DestroySourceOptions extends CallOptions {
  /** Hears of each sandbox that was destroyed, or could not be. */
  onProgress?: (soFar: SourceProgress) => unknown;
}

const ARCHIVES = { when_idle: 0, at_once: 1, never: 2 } as const;

/** @internal A function that hears JSON of the addon's as objects. */
export function hearing<T>(name: string, hears: unknown): Hear | undefined {
  if (hears === undefined) return undefined;
  if (typeof hears !== "function") throw new TypeError(`${name} must be a function`);
  return (json, lost) => {
    const told = renamed(JSON.parse(json)) as T & { lostBefore?: number };
    if (lost > 0) told.lostBefore = lost;
    (hears as (told: T) => unknown)(told);
  };
}

function idleTime(name: string, value: unknown): number {
  return value === 0 ? Infinity : options.milliseconds(name, value); // C's largest number = no time
}

function policyFields(policy: IdlePolicy | undefined): object {
  const wanted = options.options("the policy", policy, ["stopAfterMs", "archiveAfterMs", "archive"]);
  return {
    stopAfterMs: idleTime("stopAfterMs", wanted.stopAfterMs),
    archiveAfterMs: idleTime("archiveAfterMs", wanted.archiveAfterMs),
    archive: ARCHIVES[options.oneOf("archive", wanted.archive ?? "when_idle", ["when_idle", "at_once", "never"])],
  };
}

/** The sources of a Cove, each as "sourceType/sourceId", and its sweeps. */
export abstract class Sources extends SkillShelf {
  /**
   * Deletes every sandbox of a source ("sourceType/sourceId") for ever and forbids new ones. Says how many; where it
   * failed or was cut off, calling it again goes on.
   */
  async destroySource(source: string, given?: DestroySourceOptions): Promise<number> {
    const checked = options.options("destroySource", given, ["onProgress", ...options.CALL]);
    const onProgress = hearing<SourceProgress>("onProgress", checked.onProgress);
    const name = options.text("source", source);
    const json: Buffer = await call(checked, (limits) => native.destroySource(this.use(), name, { onProgress, ...limits }));
    return report<{ destroyed: number }>(json).destroyed;
  }

  /** Allows a deleted source to have sandboxes again. Harmless where it was not deleted. */
  async reviveSource(source: string, given?: CallOptions): Promise<void> {
    const checked = options.options("reviveSource", given, options.CALL);
    const name = options.text("source", source);
    await call(checked, (limits) => native.reviveSource(this.use(), name, limits));
  }

  /** Sets when the sweep stops and archives the sandboxes of a source; undefined = as the configuration says. */
  async setIdlePolicy(source: string, policy: IdlePolicy | undefined, given?: CallOptions): Promise<void> {
    const checked = options.options("setIdlePolicy", given, options.CALL);
    const [name, fields] = [options.text("source", source), policyFields(policy)];
    await call(checked, (limits) => native.setIdlePolicy(this.use(), name, fields, limits));
  }

  /** What was set for a source. */
  async idlePolicy(source: string, given?: CallOptions): Promise<IdlePolicy> {
    const checked = options.options("idlePolicy", given, options.CALL);
    const name = options.text("source", source);
    const json: Buffer = await call(checked, (limits) => native.idlePolicy(this.use(), name, limits));
    const found = report<Record<keyof IdlePolicy, unknown>>(json);
    return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== null)) as IdlePolicy;
  }

  /** Stops and archives what is idle, and removes garbage, once. Says how much it did. */
  async sweep(given?: SweepOptions): Promise<SweepReport> {
    const checked = options.options("sweep", given, ["dryRun", "atOnce", "onProgress", ...options.CALL]);
    const fields = {
      dryRun: options.truth("dryRun", checked.dryRun),
      atOnce: options.optionalCount("atOnce", checked.atOnce, 64),
      onProgress: hearing<SweepStep>("onProgress", checked.onProgress),
    };
    return report(await call(checked, (limits) => native.sweep(this.use(), { ...fields, ...limits })));
  }
}
