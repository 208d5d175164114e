/** One call that can last: its time limit, and the AbortSignal that calls it off. */

import { CoveError } from "./errors.js";
import { native, type CancelHandle, type Limits } from "./native.js";
import { milliseconds, type CallOptions } from "./options.js";

/** A cancel token of C that an AbortSignal triggers, as long as it is linked. */
export class Cancel {
  readonly token: CancelHandle = native.cancelCreate();
  readonly #signal: AbortSignal | undefined;
  readonly #abort: () => void;

  constructor(signal: AbortSignal | undefined) {
    const token = this.token; // not `this`: the signal may outlive the call
    this.#signal = signal;
    this.#abort = () => native.cancelTrigger(token);
    if (signal === undefined) return;
    if (signal.aborted) this.#abort();
    else signal.addEventListener("abort", this.#abort, { once: true });
  }

  trigger(): void {
    native.cancelTrigger(this.token);
  }

  unlink(): void {
    this.#signal?.removeEventListener("abort", this.#abort);
  }
}

function checkSignal(signal: unknown): AbortSignal | undefined {
  if (signal === undefined) return undefined;
  // By its shape: a test runner's realm may have an AbortSignal of its own.
  const given = signal as Partial<AbortSignal> | null;
  if (typeof given?.aborted === "boolean" && typeof given.addEventListener === "function") return signal as AbortSignal;
  throw new TypeError("signal must be an AbortSignal");
}

/** The limits of a call that has no signal, or whose token is made elsewhere. */
export function limitsOf(options: Partial<CallOptions>, cancel?: Cancel): Limits {
  return { timeoutMs: milliseconds("timeoutMs", options.timeoutMs), cancel: cancel?.token };
}

/** A token where there is a signal. */
export function cancelOf(options: Partial<CallOptions>): Cancel | undefined {
  const signal = checkSignal(options.signal);
  return signal === undefined ? undefined : new Cancel(signal);
}

/** The same for work that is also called off by itself. */
export function ownCancel(options: Partial<CallOptions>): Cancel {
  return new Cancel(checkSignal(options.signal));
}

/** What the caller sees of an error: where it called itself, and why it was called off. */
export function seen(error: unknown, signal: AbortSignal | undefined, above?: Function): unknown {
  if (!(error instanceof CoveError)) return error;
  if (above !== undefined) Error.captureStackTrace(error, above);
  if (error.code === "CANCELLED" && signal?.aborted === true) {
    Object.defineProperty(error, "name", { value: "AbortError", configurable: true, writable: true });
    Object.defineProperty(error, "cause", { value: signal.reason, configurable: true, writable: true });
  }
  return error;
}

/** Runs start(limits) to its end. Everything that is wrong is a rejection. */
export async function call<T>(options: Partial<CallOptions>, start: (limits: Limits) => Promise<unknown>): Promise<T> {
  const cancel = cancelOf(options);
  try {
    return (await start(limitsOf(options, cancel))) as T;
  } catch (error) {
    throw seen(error, options.signal, call);
  } finally {
    cancel?.unlink();
  }
}
