/**
 * Errors: one class, and a code that is chosen by what the caller does next.
 * docs/errors.md says what to do about each.
 */

const NAMES = [
  "OK",
  "INVALID_ARGUMENT",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "PATH_ESCAPE",
  "CONFLICT",
  "FAILED_PRECONDITION",
  "UNAVAILABLE",
  "TIMEOUT",
  "CANCELLED",
  "TOO_LARGE",
  "QUOTA_EXCEEDED",
  "INTEGRITY",
  "UNSUPPORTED",
  "PROVIDER",
  "INTERNAL",
] as const;

/** Why a call failed. The numbers behind them are the same in every language, and never change. */
export type ErrorCode = Exclude<(typeof NAMES)[number], "OK">;

/** Every code, in the order of its number (the first is 1). */
export const ERROR_CODES: readonly ErrorCode[] = NAMES.slice(1) as ErrorCode[];

/** What a CoveError may be made with. */
export interface CoveErrorOptions {
  /** The lower error, or what called the call off. */
  cause?: unknown;
  /** Facts beside the message, as `path`. */
  context?: Readonly<Record<string, string>>;
  /** After how many milliseconds the same call may be tried again. */
  retryAfterMs?: number | null;
}

/**
 * Why a call failed. `message` is one line with the context and the causes, for logs.
 * Where an AbortSignal of the caller called it off, `name` is "AbortError" and `cause` the signal's reason.
 */
export class CoveError extends Error {
  /** What to do next; see docs/errors.md. */
  readonly code: ErrorCode;
  /** The fact alone, without context and causes. */
  readonly reason: string;
  /** Milliseconds after which the same call may be tried again; null where no time is known. */
  readonly retryAfterMs: number | null;
  /** Facts beside the message. */
  readonly context: Readonly<Record<string, string>>;

  /** For a host's own use, as in a link maker; `reason` becomes the message too. */
  constructor(code: ErrorCode, reason: string, options: CoveErrorOptions = {}) {
    super(reason, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "CoveError";
    this.code = code;
    this.reason = reason;
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.context = options.context ?? {};
  }
}

/** @internal As the library's own errors are made. */
export function makeError(
  code: number,
  reason: string,
  description: string,
  retryAfterMs: number,
  context: Record<string, string>,
  cause: unknown,
): CoveError {
  const name = code >= 1 && code < NAMES.length ? (NAMES[code] as ErrorCode) : "INTERNAL";
  const error = new CoveError(name, reason, {
    cause,
    context,
    retryAfterMs: retryAfterMs < 0 ? null : retryAfterMs,
  });
  error.message = description;
  return error;
}

/** @internal "not_found" as JSON has it, of a code. */
export function codeOfName(name: string): ErrorCode {
  const upper = name.toUpperCase() as ErrorCode;
  return ERROR_CODES.includes(upper) ? upper : "INTERNAL";
}

/** @internal The number of a code. */
export function numberOf(code: ErrorCode): number {
  return NAMES.indexOf(code);
}

/** @internal */
export function closed(what: string): CoveError {
  return new CoveError("FAILED_PRECONDITION", `this ${what} is closed`);
}
