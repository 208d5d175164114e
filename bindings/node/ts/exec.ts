/** Commands: how they ended, and what they write while they run. */

import type { Readable } from "node:stream";
import { Writable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { call, seen } from "./calls.js";
import type { ExecResult } from "./exec-result.js";
import { Flow, TAKE_BYTES, readableOf, webStreamOf, type Waking } from "./flow.js";
import { native, type ExecHandle, type Following } from "./native.js";
import * as options from "./options.js";
import type { CallOptions, Data, PathLike } from "./options.js";

export type { ExecResult, Outcome, StreamOutput } from "./exec-result.js";

/** A program with its arguments, or `{shell}`: a line for the shell inside. */
export type Command = readonly PathLike[] | { readonly shell: string };

/** What a command may be run with. Undefined = the default. */
export interface CommandOptions extends CallOptions {
  /** Relative to the chat's directory; that directory by default. */
  cwd?: PathLike;
  /** Over the sandbox's own; never the host's. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Given to the command, then end of file. */
  stdin?: Data;
  /** Of the command: then its tree is killed, and the outcome is "timed_out". `timeoutMs` is of the whole call. */
  commandTimeoutMs?: number;
  /** From SIGTERM to SIGKILL: 2000. */
  killGraceMs?: number;
  /** Of both streams together; past it the command is ended: 1 GiB. */
  maxTotalBytes?: number;
  /** Kept of each stream's begin: 50 KiB; 0 = nothing. */
  headBytes?: number;
  /** Kept of each stream's end: 50 KiB; 0 = nothing. */
  tailBytes?: number;
  /** Of what is kept, at most so many lines. */
  headLines?: number;
  tailLines?: number;
  /** Runs the command on a terminal; its output is merged. */
  terminal?: { rows: number; columns: number };
  /** stderr goes where stdout goes, in the order it was written. */
  mergeOutput?: boolean;
  /** The longest time without output; then the outcome is "timed_out", and `quiet`. */
  quietTimeoutMs?: number;
  /** It goes on so long without this process: 5000; Infinity = to its own end. */
  orphanGraceMs?: number;
  /** Output of which something is dropped goes to a file inside, `StreamOutput.spillPath`. */
  spill?: boolean;
  /** Limits of the command and all that it starts; the sandbox's by default. */
  memoryBytes?: number;
  cpuSeconds?: number;
  processLimit?: number;
  /** 0 to 19: the higher, the less of the processor. */
  niceness?: number;
}

export interface StreamOptions extends CommandOptions {
  /** Its stdin stays open after `stdin`, for `writeStdin` and `closeStdin`. */
  keepStdin?: boolean;
}

export interface ExecOptions extends CommandOptions {
  /** Is told of output as it comes; what it throws ends the command and is thrown. */
  onOutput?: (stream: OutputStream, data: Buffer) => unknown;
}

/** @internal */
export const COMMAND: readonly string[] = [
  "cwd", "env", "stdin", "commandTimeoutMs", "killGraceMs", "maxTotalBytes", "headBytes", "tailBytes",
  "headLines", "tailLines", "terminal", "mergeOutput", "quietTimeoutMs", "orphanGraceMs", "spill",
  "memoryBytes", "cpuSeconds", "processLimit", "niceness", ...options.CALL,
];

const U32 = 2 ** 32 - 1;

/** @internal argv as C takes it; empty for a shell line. */
export function argvOf(command: unknown): (string | Buffer)[] {
  if (Array.isArray(command)) {
    if (command.length === 0) throw new RangeError("the command has no program");
    return command.map((argument, i) => options.path(`command[${i}]`, argument));
  }
  if (typeof command === "object" && command !== null && "shell" in command) return [];
  throw new TypeError('the command must be a list as ["python3", "a.py"], or {shell: "a line for the shell"}');
}

function terminalOf(value: CommandOptions["terminal"]): { rows: number; columns: number } {
  if (value === undefined) return { rows: 0, columns: 0 };
  if (typeof value !== "object" || value === null) throw new TypeError("terminal must be {rows, columns}");
  return {
    rows: options.count("terminal.rows", value.rows, 1, 65535),
    columns: options.count("terminal.columns", value.columns, 1, 65535),
  };
}

/** @internal Undefined where there is only argv: then the addon has nothing to look for. */
export function commandFields(
  command: Command,
  given: Partial<StreamOptions>,
): Record<string, unknown> | undefined {
  if (Array.isArray(command) && Object.keys(given).every((name) => options.CALL.includes(name))) return undefined;
  const terminal = terminalOf(given.terminal);
  const shell = Array.isArray(command) ? undefined : options.text("shell", (command as { shell: unknown }).shell);
  if (shell === "") throw new RangeError("shell must not be empty");
  return {
    shellLine: shell,
    cwd: given.cwd === undefined ? undefined : options.path("cwd", given.cwd),
    env: options.environment(given.env),
    stdin: given.stdin === undefined ? undefined : options.data("stdin", given.stdin),
    commandTimeoutMs: options.milliseconds("commandTimeoutMs", given.commandTimeoutMs),
    killGraceMs: options.milliseconds("killGraceMs", given.killGraceMs),
    maxTotalBytes: options.optionalCount("maxTotalBytes", given.maxTotalBytes),
    headBytes: options.keptBytes("headBytes", given.headBytes),
    tailBytes: options.keptBytes("tailBytes", given.tailBytes),
    headLines: options.optionalCount("headLines", given.headLines),
    tailLines: options.optionalCount("tailLines", given.tailLines),
    terminalRows: terminal.rows,
    terminalColumns: terminal.columns,
    mergeOutput: options.truth("mergeOutput", given.mergeOutput),
    quietTimeoutMs: options.milliseconds("quietTimeoutMs", given.quietTimeoutMs),
    orphanGraceMs: options.milliseconds("orphanGraceMs", given.orphanGraceMs),
    spill: options.truth("spill", given.spill),
    keepStdin: options.truth("keepStdin", given.keepStdin),
    memoryBytes: options.optionalCount("memoryBytes", given.memoryBytes),
    cpuSeconds: options.optionalCount("cpuSeconds", given.cpuSeconds, U32),
    processLimit: options.optionalCount("processLimit", given.processLimit, U32),
    niceness: given.niceness === undefined ? 0 : options.count("niceness", given.niceness, 0, 19),
  };
}

/** Which stream. */
export type OutputStream = "stdout" | "stderr";

/** A piece of output, in the order of its stream. Pieces may cut a character. */
export interface OutputChunk {
  stream: OutputStream;
  data: Buffer;
}

/**
 * A command that runs. Iterating gives its output as it comes; `result` says how it ended.
 *
 *     for await (const { stream, data } of workspace.stream(["make"])) process.stdout.write(data);
 *
 * A slow reader slows the command down; nothing is lost, and about 1 MiB is held. Leaving the loop early,
 * or dropping the last reference, ends the command; a process that was attached to goes on.
 */
export class ExecStream extends Flow<OutputChunk> {
  readonly #run: ExecHandle;
  readonly #done: Promise<ExecResult>;
  readonly #attached: boolean;

  /** @internal `owner` lives as long as its command. */
  constructor(following: Following<ExecHandle, unknown>, waking: Waking, attached: boolean, signal?: AbortSignal) {
    super(waking);
    this.#run = following.run;
    this.#attached = attached;
    this.#done = (following.done as Promise<ExecResult>).catch((error: unknown) => {
      throw seen(error, signal);
    });
    this.#done.catch(() => undefined); // it may be asked for later, or never
  }

  /** How the command ended. A command whose output nobody reads may wait for that: see `wait`. */
  get result(): Promise<ExecResult> {
    return this.#done;
  }

  /** Waits for the end; output that was not read is only kept in the result. */
  async wait(): Promise<ExecResult> {
    for await (const _ of this) continue;
    return this.#done;
  }

  /** Ends the command's tree; the output so far can still be read. Harmless after the end. */
  cancel(): void {
    native.cancelRun(this.#run);
  }

  /**
   * Lets go of a process that was attached to, which goes on; reading ends with CANCELLED. A command of
   * `stream` is ended as by `cancel`.
   */
  detach(): void {
    native.detachRun(this.#run);
  }

  /** Gives bytes to the command, after those of earlier writes; waits while it does not read. */
  async writeStdin(data: Data, given?: CallOptions): Promise<void> {
    const checked = options.options("writeStdin", given, options.CALL);
    const bytes = options.data("data", data);
    await call(checked, (limits) => native.writeStdin(this.#run, bytes, limits));
  }

  /** End of file, after what was written. Harmless where it is closed already. */
  async closeStdin(given?: CallOptions): Promise<void> {
    const checked = options.options("closeStdin", given, options.CALL);
    await call(checked, (limits) => native.closeStdin(this.#run, limits));
  }

  /** The command's stdin as a Node stream; of a command that was started with `keepStdin`. */
  stdin(): Writable {
    return new Writable({
      write: (data: Buffer, _encoding, done) => void this.writeStdin(data).then(() => done(), done),
      final: (done) => void this.closeStdin().then(() => done(), done),
    });
  }

  /** Sends a signal ("SIGTERM" or its number) to the command's process group. */
  async sendSignal(signal: NodeJS.Signals | number, given?: CallOptions): Promise<void> {
    const checked = options.options("sendSignal", given, options.CALL);
    const number = options.signalNumber(signal);
    await call(checked, (limits) => native.sendSignal(this.#run, number, limits));
  }

  /** Changes the size of the command's terminal. */
  async resize(rows: number, columns: number, given?: CallOptions): Promise<void> {
    const checked = options.options("resize", given, options.CALL);
    const [high, wide] = [options.count("rows", rows, 1, 65535), options.count("columns", columns, 1, 65535)];
    await call(checked, (limits) => native.resize(this.#run, high, wide, limits));
  }

  /** The output as a Node stream: of one stream (the other's is thrown away), or of both as it comes. */
  readable(stream?: OutputStream): Readable {
    return readableOf(this.#bytes(stream));
  }

  /** The same as a web stream. */
  webStream(stream?: OutputStream): ReadableStream<Uint8Array> {
    return webStreamOf(this.#bytes(stream));
  }

  override async close(): Promise<void> {
    this.isClosed = true;
    native.discardRun(this.#run);
    await this.#done.catch(() => undefined);
  }

  /** @internal Bytes that wait to be read. */
  get bufferedBytes(): number {
    return native.bufferedOf(this.#run);
  }

  /** @internal */
  get isAttached(): boolean {
    return this.#attached;
  }

  protected override take(): OutputChunk[] | null | undefined {
    const taken = native.takeOutput(this.#run, TAKE_BYTES);
    if (taken === null || taken === undefined) return taken;
    const chunks: OutputChunk[] = [];
    for (let i = 0; i < taken.length; i += 2) {
      chunks.push({ stream: taken[i] === 1 ? "stdout" : "stderr", data: taken[i + 1] as Buffer });
    }
    return chunks;
  }

  protected override async atEnd(): Promise<void> {
    await this.#done;
  }

  #bytes(stream?: OutputStream): AsyncIterable<Buffer> {
    if (stream !== undefined) options.oneOf("stream", stream, ["stdout", "stderr"]);
    const close = () => this.close();
    const chunks = this[Symbol.asyncIterator]();
    const next = async (): Promise<IteratorResult<Buffer, undefined>> => {
      for (;;) {
        const chunk = await chunks.next();
        if (chunk.done === true) return { done: true, value: undefined };
        if (stream === undefined || chunk.value.stream === stream) return { done: false, value: chunk.value.data };
      }
    };
    const end = async (): Promise<IteratorResult<Buffer, undefined>> => {
      await close();
      return { done: true, value: undefined };
    };
    return { [Symbol.asyncIterator]: () => ({ next, return: end }) };
  }
}
