/** Commands and health. */

import { StringDecoder } from "node:string_decoder";
import { CoveError } from "../errors.js";
import type { Command, CommandOptions, ExecResult, StreamOutput } from "../exec.js";
import * as check from "../options.js";
import { commandError } from "./errors.js";
import { Lifecycle } from "./lifecycle.js";
import type { BackgroundProcess, ExecuteOptions, ExecuteResult, SandboxMetrics, StreamHandlers } from "./types.js";

const OUTPUT_BYTES = 1 << 20;

/** Processor time is looked at over 100 ms. */
const METRICS = `
nproc
awk '/^MemTotal|^MemAvailable/ {print $2}' /proc/meminfo
head -n 1 /proc/stat; sleep 0.1; head -n 1 /proc/stat`;

function shellOf(command: string): Command {
  if (check.text("command", command) === "") throw new RangeError("command must not be empty");
  return { shell: command };
}

function commandOptions(options: ExecuteOptions): CommandOptions {
  const { maxOutputBytes = OUTPUT_BYTES, workingDirectory, timeoutMs } = check.object("options", options, "an object");
  return {
    headBytes: 0,
    tailBytes: check.count("maxOutputBytes", maxOutputBytes, 0, Number.MAX_SAFE_INTEGER),
    ...(workingDirectory !== undefined && { cwd: check.text("workingDirectory", workingDirectory) }),
    ...(timeoutMs !== undefined && { commandTimeoutMs: check.milliseconds("timeoutMs", timeoutMs) }),
    ...(options.env !== undefined && { env: options.env }),
    ...(options.signal !== undefined && { signal: options.signal }),
  };
}

function kept(output: StreamOutput): string {
  return (output.droppedBytes > 0 ? output.tail : output.head).toString("utf8");
}

function resultOf(result: ExecResult): ExecuteResult {
  return {
    stdout: kept(result.out),
    stderr: kept(result.err),
    exitCode: result.outcome === "cancelled" ? null : result.shellCode,
    truncated: result.out.droppedBytes + result.err.droppedBytes > 0,
    durationMs: result.durationMs,
  };
}

/** Busy and all ticks of a line "cpu user nice system idle iowait ...". */
function ticksOf(line: string): { busy: number; all: number } {
  const numbers = line.trim().split(/\s+/).slice(1).map(Number);
  const all = numbers.reduce((sum, number) => sum + number, 0);
  return { busy: all - (numbers[3] ?? 0) - (numbers[4] ?? 0), all };
}

export class Commands extends Lifecycle {
  /** Runs a line of the shell to its end. */
  async execute(command: string, options: ExecuteOptions = {}): Promise<ExecuteResult> {
    try {
      const [shell, given] = [shellOf(command), commandOptions(options)];
      return resultOf(await (await this.workspace()).exec(shell, given));
    } catch (error) {
      throw commandError(error);
    }
  }

  /** The same, told as it goes on. What cannot be run is told to `onError`, or thrown where there is none. */
  async executeStream(command: string, handlers: StreamHandlers, options: ExecuteOptions = {}): Promise<void> {
    check.object("handlers", handlers, "{onStdout, onStderr, onComplete, onError}");
    const decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
    const tell = async (stream: "stdout" | "stderr", text: string): Promise<void> => {
      if (text !== "") await (stream === "stdout" ? handlers.onStdout : handlers.onStderr)?.(text);
    };
    let result: ExecuteResult;
    try {
      const [shell, given] = [shellOf(command), commandOptions(options)];
      const run = (await this.workspace()).stream(shell, given);
      for await (const { stream, data } of run) await tell(stream, decoders[stream].write(data));
      for (const stream of ["stdout", "stderr"] as const) await tell(stream, decoders[stream].end());
      result = resultOf(await run.result);
    } catch (error) {
      const failed = commandError(error) as Error;
      if (handlers.onError === undefined) throw failed;
      return handlers.onError(failed);
    }
    await handlers.onComplete?.(result);
  }

  /** Starts a line of the shell that nobody waits for; it survives this process. */
  async executeBackground(command: string, options: ExecuteOptions = {}): Promise<BackgroundProcess> {
    try {
      const shell = shellOf(command);
      const { headBytes: _head, tailBytes: _tail, ...started } = commandOptions(options);
      const { id } = await (await this.workspace()).startProcess(shell, started);
      return { sessionId: id, kill: () => this.interrupt(id) };
    } catch (error) {
      throw commandError(error);
    }
  }

  /** Ends a background process with all that it started; harmless where it has ended, or is gone. */
  async interrupt(sessionId: string): Promise<void> {
    const id = check.text("sessionId", sessionId);
    if ((await this.getInfo()) === null) return;
    try {
      await (await this.workspace()).endProcess(id);
    } catch (error) {
      if (!(error instanceof CoveError && error.code === "NOT_FOUND")) throw commandError(error);
    }
  }

  /** Whether it runs a command; wakes one that is stopped, and makes none. */
  async ping(): Promise<boolean> {
    try {
      return (await this.getInfo()) !== null && (await this.execute("true")).exitCode === 0;
    } catch {
      return false;
    }
  }

  /** As the sandbox sees its machine. */
  async getMetrics(): Promise<SandboxMetrics> {
    const lines = (await this.execute(METRICS)).stdout.trim().split("\n");
    const [before, after] = [ticksOf(lines[3] ?? ""), ticksOf(lines[4] ?? "")];
    const mib = (kib: string | undefined): number => Math.round(Number(kib ?? 0) / 1024);
    return {
      cpuCount: Number(lines[0] ?? 0),
      cpuUsedPercentage: after.all > before.all ? (100 * (after.busy - before.busy)) / (after.all - before.all) : 0,
      memoryTotalMiB: mib(lines[1]),
      memoryUsedMiB: mib(lines[1]) - mib(lines[2]),
      timestamp: Date.now(),
    };
  }
}
