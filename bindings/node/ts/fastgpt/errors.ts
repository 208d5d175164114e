/** Errors as FastGPT's sandbox adapter has them, made of Cove's. */

import { CoveError } from "../errors.js";

/** What is wrong with one file. */
export type FileErrorCode =
  | "FILE_NOT_FOUND"
  | "FILE_ALREADY_EXISTS"
  | "PERMISSION_DENIED"
  | "PATH_IS_DIRECTORY"
  | "PATH_NOT_DIRECTORY"
  | "INVALID_PATH"
  | "QUOTA_EXCEEDED"
  | "TRANSFER_ERROR";

export class SandboxException extends Error {
  constructor(
    message: string,
    readonly code: string,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
  }
}

/** The store, the provider or the machine does not answer now. */
export class ConnectionError extends SandboxException {
  constructor(message: string, cause?: unknown) {
    super(message, "CONNECTION_ERROR", cause);
  }
}

export class SandboxNotFoundError extends SandboxException {
  constructor(
    readonly sandboxId: string,
    cause?: unknown,
  ) {
    super(`sandbox ${sandboxId} does not exist`, "SANDBOX_NOT_FOUND", cause);
  }
}

/** The sandbox is in a state that this call does not fit. */
export class SandboxStateError extends SandboxException {
  constructor(message: string, cause?: unknown) {
    super(message, "INVALID_STATE", cause);
  }
}

export class TimeoutError extends SandboxException {
  constructor(message: string, cause?: unknown, code = "TIMEOUT") {
    super(message, code, cause);
  }
}

/** `waitUntilReady` waited for nothing. */
export class ReadyTimeoutError extends TimeoutError {
  constructor(message: string, cause?: unknown) {
    super(message, cause, "READY_TIMEOUT");
  }
}

/** The command could not be run; that it ends badly is a result. */
export class CommandExecutionError extends SandboxException {
  constructor(message: string, cause?: unknown) {
    super(message, "COMMAND_FAILED", cause);
  }
}

export class FileOperationError extends SandboxException {
  constructor(
    message: string,
    readonly path: string,
    readonly fileErrorCode: FileErrorCode,
    cause?: unknown,
  ) {
    super(message, fileErrorCode, cause);
  }
}

export class FeatureNotSupportedError extends SandboxException {
  constructor(readonly feature: string) {
    super(`Cove has no ${feature}`, "FEATURE_NOT_SUPPORTED");
  }
}

/** What is said of a sandbox as a whole. */
export function sandboxError(error: unknown, sandboxId: string): unknown {
  if (!(error instanceof CoveError)) return error;
  switch (error.code) {
    case "NOT_FOUND":
      return new SandboxNotFoundError(sandboxId, error);
    case "TIMEOUT":
      return new TimeoutError(error.message, error);
    case "UNAVAILABLE":
    case "PROVIDER":
      return new ConnectionError(error.message, error);
    case "FAILED_PRECONDITION":
    case "CONFLICT":
      return new SandboxStateError(error.message, error);
    default:
      return new SandboxException(error.message, error.code, error);
  }
}

export function commandError(error: unknown): unknown {
  if (!(error instanceof CoveError)) return error;
  if (error.code === "TIMEOUT") return new TimeoutError(error.message, error);
  if (error.code === "UNAVAILABLE") return new ConnectionError(error.message, error);
  return new CommandExecutionError(error.message, error);
}

/** A file where a directory is wanted or the other way: the library has one code for both, and its words tell. */
function wrongKind(reason: string, wantsDirectory: boolean): FileErrorCode {
  if (/, not a directory$|' is no directory, /.test(reason)) return "PATH_NOT_DIRECTORY";
  const isDirectory = /' (is|names) a directory(, not a file$|; | with something in it)/.test(reason);
  return isDirectory && !wantsDirectory ? "PATH_IS_DIRECTORY" : "TRANSFER_ERROR";
}

/** `wantsDirectory`: that there is one is what the call needs. */
export function fileError(error: unknown, path: string, wantsDirectory = false): SandboxException {
  if (error instanceof SandboxException) return error;
  if (!(error instanceof CoveError)) {
    const isNoPath = typeof path !== "string" || path.includes("\0");
    const code = isNoPath ? "INVALID_PATH" : "TRANSFER_ERROR";
    return new FileOperationError(error instanceof Error ? error.message : String(error), path, code, error);
  }
  if (error.code === "TIMEOUT") return new TimeoutError(error.message, error);
  const codes: Partial<Record<string, FileErrorCode>> = {
    NOT_FOUND: "FILE_NOT_FOUND",
    ALREADY_EXISTS: "FILE_ALREADY_EXISTS",
    PERMISSION_DENIED: "PERMISSION_DENIED",
    PATH_ESCAPE: "INVALID_PATH",
    INVALID_ARGUMENT: "INVALID_PATH",
    QUOTA_EXCEEDED: "QUOTA_EXCEEDED",
    FAILED_PRECONDITION: wrongKind(error.reason, wantsDirectory),
  };
  return new FileOperationError(error.message, path, codes[error.code] ?? "TRANSFER_ERROR", error);
}
