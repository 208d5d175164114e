/** Background processes: commands that nobody waits for, known by their id. */

import { call, cancelOf, limitsOf } from "./calls.js";
import {
  COMMAND, ExecStream, argvOf, commandFields, type Command, type CommandOptions, type ExecResult, type OutputStream,
} from "./exec.js";
import { Waking } from "./flow.js";
import { native } from "./native.js";
import * as options from "./options.js";
import type { CallOptions, Data } from "./options.js";
import { Held } from "./held.js";

/** What is known of a process; a copy, which does not change. */
export interface ProcessInfo {
  /** 32 hexadecimal digits. */
  id: string;
  /** "" = none. */
  name: string;
  /** For people: cut at 1 KiB. */
  command: string;
  cwd: string;
  /** Milliseconds since 1970, by the sandbox's clock. */
  startedAtMs: number;
  /** How long it keeps its sandbox from an idle stop. */
  keepAliveSeconds: number;
  hasTerminal: boolean;
  stdinOpen: boolean;
  /** Bytes written so far. */
  outBytes: number;
  errBytes: number;
  running: boolean;
  /** How it ended, without output; null = it runs. */
  end: ExecResult | null;
}

/** A part of what a process wrote. */
export interface OutputSlice {
  data: Buffer;
  /** Of the first byte: above the one asked for where some are gone. */
  offset: number;
  /** The offset to ask for next. */
  next: number;
  /** Bytes before it that nobody has any more. */
  gone: number;
  /** The process has ended and nothing follows. */
  atEnd: boolean;
}

/** How a background process is run and kept. */
export interface StartProcessOptions extends Omit<CommandOptions, "headBytes" | "tailBytes" | "headLines" | "tailLines"> {
  /** For people, at most 100 bytes. */
  name?: string;
  /** Keeps the sandbox from an idle stop so long, at most 24 h: 0. */
  keepAliveSeconds?: number;
}

export interface ProcessOutputOptions extends CallOptions {
  /** "stdout". */
  stream?: OutputStream;
  /** Of the first byte wanted: 0. */
  offset?: number;
  /** At most 256 KiB: 50 KiB. */
  maxBytes?: number;
  /** Waits so long, at most 60 s, for a byte or the end; not at all by default. */
  waitMs?: number;
}

export interface AttachOptions extends CallOptions {
  /** Of each stream's first byte that is wanted: 0. */
  outOffset?: number;
  errOffset?: number;
  /** Output from now on, instead of the offsets. */
  onlyNew?: boolean;
}

const START = COMMAND.filter((name) => !/^(head|tail)/.test(name)).concat("name", "keepAliveSeconds");

function offset(name: string, value: unknown): number {
  return value === undefined ? 0 : options.count(name, value, 0, Number.MAX_SAFE_INTEGER);
}

/** @internal The process calls of a Workspace. All chats of a workspace see the same processes. */
export abstract class Processes extends Held {
  /**
   * Starts a process that nobody waits for; settles once the program runs. It survives this process and ends
   * with the sandbox's stop. Its stdin stays open after `stdin`. `timeoutMs` and `signal` are of the start alone.
   */
  async startProcess(command: Command, given?: StartProcessOptions): Promise<ProcessInfo> {
    const checked = options.options("startProcess", given, START);
    const argv = argvOf(command);
    const fields = {
      ...commandFields(command, checked),
      name: options.optionalText("name", checked.name),
      keepAliveSeconds: options.count("keepAliveSeconds", checked.keepAliveSeconds ?? 0, 0, 24 * 60 * 60),
    };
    return call(checked, (limits) => native.startProcess(this.use(), argv, { ...fields, ...limits }));
  }

  /** All that were not removed, in the order of their start. */
  async listProcesses(given?: CallOptions): Promise<ProcessInfo[]> {
    const checked = options.options("listProcesses", given, options.CALL);
    return call(checked, (limits) => native.listProcesses(this.use(), limits));
  }

  /** What is known of a process. */
  async findProcess(id: string, given?: CallOptions): Promise<ProcessInfo> {
    const checked = options.options("findProcess", given, options.CALL);
    return call(checked, (limits) => native.findProcess(this.use(), options.text("id", id), limits));
  }

  /** Reads a part of what a process wrote, also after its end. */
  async processOutput(id: string, given?: ProcessOutputOptions): Promise<OutputSlice> {
    const names = ["stream", "offset", "maxBytes", "waitMs", ...options.CALL];
    const checked = options.options("processOutput", given, names);
    const stream = options.oneOf("stream", checked.stream ?? "stdout", ["stdout", "stderr"]);
    const fields = {
      stream: stream === "stdout" ? 1 : 2,
      offset: offset("offset", checked.offset),
      maxBytes: options.optionalCount("maxBytes", checked.maxBytes),
      waitMs: options.milliseconds("waitMs", checked.waitMs),
    };
    return call(checked, (limits) => native.processOutput(this.use(), options.text("id", id), { ...fields, ...limits }));
  }

  /** Gives bytes to a process's stdin; several pieces: `attachProcess(...).writeStdin`. */
  async writeProcessStdin(id: string, data: Data, given?: CallOptions): Promise<void> {
    const checked = options.options("writeProcessStdin", given, options.CALL);
    const bytes = options.data("data", data);
    await call(checked, (limits) => native.writeProcessStdin(this.use(), options.text("id", id), bytes, limits));
  }

  /** Ends a process's stdin. Harmless where it is closed already. */
  async closeProcessStdin(id: string, given?: CallOptions): Promise<void> {
    const checked = options.options("closeProcessStdin", given, options.CALL);
    await call(checked, (limits) => native.closeProcessStdin(this.use(), options.text("id", id), limits));
  }

  /** Sends a signal ("SIGTERM" or its number) to a process's group. */
  async signalProcess(id: string, signal: NodeJS.Signals | number, given?: CallOptions): Promise<void> {
    const checked = options.options("signalProcess", given, options.CALL);
    const number = options.signalNumber(signal);
    await call(checked, (limits) => native.signalProcess(this.use(), options.text("id", id), number, limits));
  }

  /** Changes the size of a process's terminal. */
  async resizeProcess(id: string, rows: number, columns: number, given?: CallOptions): Promise<void> {
    const checked = options.options("resizeProcess", given, options.CALL);
    const [high, wide] = [options.count("rows", rows, 1, 65535), options.count("columns", columns, 1, 65535)];
    await call(checked, (limits) => native.resizeProcess(this.use(), options.text("id", id), high, wide, limits));
  }

  /** Ends a process with all that it started (SIGTERM, its grace, SIGKILL) and waits for that. */
  async endProcess(id: string, given?: CallOptions): Promise<ProcessInfo> {
    const checked = options.options("endProcess", given, options.CALL);
    return call(checked, (limits) => native.endProcess(this.use(), options.text("id", id), limits));
  }

  /** Waits for a process's end. After `timeoutMs` or an abort it goes on. */
  async waitProcess(id: string, given?: CallOptions): Promise<ProcessInfo> {
    const checked = options.options("waitProcess", given, options.CALL);
    return call(checked, (limits) => native.waitProcess(this.use(), options.text("id", id), limits));
  }

  /** Forgets a process that has ended, with its output. */
  async removeProcess(id: string, given?: CallOptions): Promise<void> {
    const checked = options.options("removeProcess", given, options.CALL);
    await call(checked, (limits) => native.removeProcess(this.use(), options.text("id", id), limits));
  }

  /**
   * Takes hold of a process: its output from the offsets on, its stdin, signals and end. Several may.
   * Leaving the stream, `timeoutMs` and `signal` let go of it; `cancel` of the stream ends the process.
   */
  attachProcess(id: string, given?: AttachOptions): ExecStream {
    const checked = options.options("attachProcess", given, ["outOffset", "errOffset", "onlyNew", ...options.CALL]);
    const fields = {
      outOffset: offset("outOffset", checked.outOffset),
      errOffset: offset("errOffset", checked.errOffset),
      onlyNew: options.truth("onlyNew", checked.onlyNew),
    };
    const waking = new Waking();
    const cancel = cancelOf(checked);
    const following = native.attachProcess(
      this.use(),
      options.text("id", id),
      { ...fields, ...limitsOf(checked, cancel) },
      waking.wake,
    );
    unlinkAtEnd(following.done, cancel);
    return new ExecStream(following, waking, true, checked.signal);
  }
}

/** @internal Once work has ended, a signal that outlives it keeps nothing of it. */
export function unlinkAtEnd(done: Promise<unknown>, cancel: { unlink(): void } | undefined): void {
  if (cancel === undefined) return;
  const unlink = () => cancel.unlink();
  done.then(unlink, unlink);
}
