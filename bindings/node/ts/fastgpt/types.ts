/** The shape of FastGPT's sandbox adapter. */

import type { SandboxException } from "./errors.js";

/** What a sandbox is doing. */
export type SandboxState =
  | "UnExist"
  | "Running"
  | "Creating"
  | "Starting"
  | "Stopping"
  | "Stopped"
  | "Deleting"
  | "Error";

/** Its state, and what a person has to know of it. */
export interface SandboxStatusInfo {
  state: SandboxState;
  message?: string;
}

/** What is known of a sandbox. */
export interface SandboxInfo {
  id: string;
  image: { repository: string; tag?: string };
  entrypoint: string[];
  metadata: Record<string, string>;
  status: SandboxStatusInfo;
  createdAt: Date;
  /** Cove has no end of a sandbox: it stops when it is idle. */
  expiresAt?: Date;
}

/** How a line of the shell is run. */
export interface ExecuteOptions {
  /** Absolute below /workspace, or relative to the session's directory: that directory. */
  workingDirectory?: string;
  timeoutMs?: number;
  env?: Record<string, string>;
  signal?: AbortSignal;
  /** Of each stream, the oldest are dropped: 1 MiB. */
  maxOutputBytes?: number;
}

/** How a line of the shell ended, and what it wrote. */
export interface ExecuteResult {
  stdout: string;
  stderr: string;
  /** null where the command was called off. */
  exitCode: number | null;
  truncated?: boolean;
  durationMs?: number;
}

/** Who hears of a line of the shell while it runs. */
export interface StreamHandlers {
  /** As it comes; what is waited for holds the output up. */
  onStdout?: (text: string) => void | Promise<void>;
  /** The same. */
  onStderr?: (text: string) => void | Promise<void>;
  /** Once, after all output. */
  onComplete?: (result: ExecuteResult) => void | Promise<void>;
  /** Once, instead: it could not be run, or its end is not known. */
  onError?: (error: Error) => void | Promise<void>;
}

/** A line of the shell that nobody waits for. */
export interface BackgroundProcess {
  sessionId: string;
  /** Ends it with all that it started. */
  kill(): Promise<void>;
}

/** Which part of each file is read. */
export interface ReadFileOptions {
  /** First byte, and how many. */
  offset?: number;
  length?: number;
}

/** What was read of one file. */
export interface ReadFileResult {
  path: string;
  content: Uint8Array;
  error: SandboxException | null;
}

/** A file to be written. */
export interface WriteFileEntry {
  path: string;
  data: string | Uint8Array | ArrayBuffer | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;
  mode?: number;
  owner?: string;
  group?: string;
}

/** What became of one file. */
export interface WriteFileResult {
  path: string;
  bytesWritten: number;
  error: SandboxException | null;
}

/** Of one entry of a batch; the order is kept, and nothing is thrown. */
export interface FileResult {
  path: string;
  success: boolean;
  error: SandboxException | null;
}

/** A path that gets another name. */
export interface MoveEntry {
  source: string;
  destination: string;
}

/** A text to be replaced in a file. */
export interface ReplaceEntry {
  path: string;
  oldContent: string;
  newContent: string;
}

/** An entry of a directory. */
export interface DirectoryEntry {
  name: string;
  path: string;
  isDirectory: boolean;
  isFile: boolean;
  size: number;
  modifiedAt: Date;
}

/** What is said of one path. */
export interface FileInfoEntry {
  path: string;
  size: number;
  isDirectory: boolean;
  isFile: boolean;
  mode: number;
  modifiedAt: Date;
}

/** The permissions that one path gets. */
export interface PermissionEntry {
  path: string;
  mode?: number;
  owner?: string;
  group?: string;
}

/** A path that matches. */
export interface SearchResult {
  path: string;
  isDirectory: boolean;
  isFile: boolean;
}

/** What a sandbox uses. */
export interface SandboxMetrics {
  cpuCount: number;
  cpuUsedPercentage: number;
  memoryTotalMiB: number;
  memoryUsedMiB: number;
  timestamp: number;
}

/** What an adapter can do. */
export interface SandboxCapabilities {
  command: { streaming: boolean; background: boolean; interrupt: boolean };
  filesystem: { streamingRead: boolean; streamingWrite: boolean };
  metrics: boolean;
  expirationRenewal: boolean;
}

/** What FastGPT calls of any adapter; CoveSandbox says what each call does here. */
export interface ISandbox {
  readonly provider: string;
  readonly capabilities: SandboxCapabilities;
  readonly id: string;
  readonly status: SandboxStatusInfo;

  ensureRunning(options?: { allowCreate?: boolean }): Promise<void>;
  create(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
  delete(id?: string): Promise<void>;
  getInfo(): Promise<SandboxInfo | null>;
  waitUntilReady(timeoutMs?: number): Promise<void>;
  waitUntilDeleted(timeoutMs?: number): Promise<void>;
  renewExpiration(seconds: number): Promise<void>;
  close(): Promise<void>;
  getEndpoint(port: number): Promise<never>;

  execute(command: string, options?: ExecuteOptions): Promise<ExecuteResult>;
  executeStream(command: string, handlers: StreamHandlers, options?: ExecuteOptions): Promise<void>;
  executeBackground(command: string, options?: ExecuteOptions): Promise<BackgroundProcess>;
  interrupt(sessionId: string): Promise<void>;

  readFiles(paths: string[], options?: ReadFileOptions): Promise<ReadFileResult[]>;
  writeFiles(entries: WriteFileEntry[]): Promise<WriteFileResult[]>;
  deleteFiles(paths: string[]): Promise<FileResult[]>;
  moveFiles(entries: MoveEntry[]): Promise<FileResult[]>;
  replaceContent(entries: ReplaceEntry[]): Promise<FileResult[]>;
  readFileStream(path: string): AsyncIterable<Uint8Array>;
  writeFileStream(path: string, source: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>): Promise<void>;
  createDirectories(paths: string[], options?: { mode?: number }): Promise<FileResult[]>;
  deleteDirectories(paths: string[], options?: { recursive?: boolean; force?: boolean }): Promise<FileResult[]>;
  listDirectory(path: string): Promise<DirectoryEntry[]>;
  getFileInfo(paths: string[]): Promise<Map<string, FileInfoEntry>>;
  setPermissions(entries: PermissionEntry[]): Promise<FileResult[]>;
  search(pattern: string, path?: string): Promise<SearchResult[]>;

  ping(): Promise<boolean>;
  getMetrics(): Promise<SandboxMetrics>;
}
