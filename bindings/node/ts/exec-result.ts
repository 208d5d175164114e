/** How a command ended. */

/** What one stream held. Without a drop, `head` is everything. */
export interface StreamOutput {
  /** Head and tail as text, with a line between them that says how much is missing where something is. */
  text: string;
  head: Buffer;
  tail: Buffer;
  totalBytes: number;
  droppedBytes: number;
  /** The file inside that holds all of it, with `spill: true` where something was dropped; else null. */
  spillPath: string | null;
}

/** How a command ended. */
export type Outcome =
  | "exited"
  | "signaled"
  | "timed_out"
  | "cancelled"
  | "output_limit"
  | "out_of_memory"
  | "cpu_limit";

/** How a command ended and what was kept of its output. That it ended badly is no error. */
export interface ExecResult {
  outcome: Outcome;
  /** The exit code ("exited") or the signal ("signaled"); else 0. */
  code: number;
  /** What a shell would show: the code; 128 + n for a signal; 124 timed out; 130 cancelled; 137 killed. */
  shellCode: number;
  /** It exited with 0. */
  succeeded: boolean;
  durationMs: number;
  out: StreamOutput;
  err: StreamOutput;
  /** "timed_out" was `quietTimeoutMs`. */
  quiet: boolean;
  peakMemoryBytes: number;
  /** Of all its processes, outside of the kernel and in it. */
  userCpuMs: number;
  systemCpuMs: number;
  /** Limits and use were counted process by process, so that some may be missing. */
  bestEffort: boolean;
}

function nothing(): StreamOutput {
  return { text: "", head: Buffer.alloc(0), tail: Buffer.alloc(0), totalBytes: 0, droppedBytes: 0, spillPath: null };
}

/** @internal Called by the addon: JavaScript makes an object at once, the addon member by member. */
export function makeExecResult(
  outcome: Outcome,
  code: number,
  shellCode: number,
  durationMs: number,
  out: StreamOutput | undefined,
  err: StreamOutput | undefined,
  quiet: boolean,
  peakMemoryBytes: number,
  userCpuMs: number,
  systemCpuMs: number,
  bestEffort: boolean,
): ExecResult {
  return {
    outcome,
    code,
    shellCode,
    succeeded: outcome === "exited" && code === 0,
    durationMs,
    out: out ?? nothing(),
    err: err ?? nothing(),
    quiet,
    peakMemoryBytes,
    userCpuMs,
    systemCpuMs,
    bestEffort,
  };
}
