/** Finds and loads the addon and libcove.so, and says what the addon has. Nothing else loads either. */

import * as fs from "node:fs";
import * as path from "node:path";
import { makeError } from "./errors.js";
import { makeExecResult } from "./exec-result.js";

/** Before 1.0 every minor is an ABI of its own. */
const ABI = "0.1";
const SONAME = `libcove.so.${ABI}`;
const PREBUILDS = path.join(__dirname, "..", "prebuilds");

declare const kind: unique symbol;
/** What stands for something of C; each kind is another type. */
export interface Handle<Kind extends string> {
  readonly [kind]: Kind;
}
export type CoveHandle = Handle<"cove">;
export type WorkspaceHandle = Handle<"workspace">;
export type CancelHandle = Handle<"cancel">;
export type ExecHandle = Handle<"exec">;
export type DownloadHandle = Handle<"download">;
export type UploadHandle = Handle<"upload">;
export type WatchHandle = Handle<"watch">;
export type SearchHandle = Handle<"search">;
export type LinkRequest = Handle<"links">;
export type PrepareHandle = Handle<"prepare">;
export type StepHandle = Handle<"step">;
export type ClockHandle = Handle<"clock">;
export type DoneHandle = Handle<"done">;

/** Of every call: 0 = no limit. */
export interface Limits {
  timeoutMs: number;
  cancel?: CancelHandle | undefined;
}

export interface Following<Run, Result> {
  run: Run;
  done: Promise<Result>;
}

type Path = string | Buffer;
type Fields = Limits & Record<string, unknown>;
type Wake = () => void;
/** Takes a report as JSON, and how many before it were lost. */
export type Hear = (json: string, lost: number) => void;

/** The functions of src/functions.hpp. */
export interface Native {
  load(library: string, makeError: unknown, makeExecResult: unknown): string | null;
  version(): string;
  statusName(code: number): string;
  cancelCreate(): CancelHandle;
  cancelTrigger(cancel: CancelHandle): void;
  sandboxIdOf(key: object): string;
  configSchema(): string;
  open(
    json: string,
    log?: (level: number, message: string) => void,
    clock?: ClockHandle,
    ask?: (slot: string, raw: never, done: DoneHandle) => void,
  ): Promise<CoveHandle>;
  observe(cove: CoveHandle, onEvent: Hear): void;
  close(cove: CoveHandle, timeoutMs: number): Promise<void>;
  closeAll(): void;
  letGo(handle: CoveHandle | WorkspaceHandle | PrepareHandle | StepHandle): void;
  clockCreate(): ClockHandle;
  clockAdvance(clock: ClockHandle, ms: number): void;
  clockMoved(cove: CoveHandle): void;
  answerDone(done: DoneHandle): void;
  answerFailure(done: DoneHandle, code: number, message: string, retryAfterMs: number): void;
  answerVersion(done: DoneHandle, version: number): void;
  answerTime(done: DoneHandle, ms: number): void;
  answerDocument(done: DoneHandle, document: object | null): void;
  answerDocuments(done: DoneHandle, documents: object[], isLast: boolean): void;
  isDoneOver(done: DoneHandle): boolean;
  writeAgent(path: Path): Promise<void>;
  prepareCreate(): PrepareHandle;
  prepareMirror(prepare: PrepareHandle, mirror: number, url: string): void;
  prepareVariable(prepare: PrepareHandle, name: string, value: string): void;
  prepareSecret(prepare: PrepareHandle, name: string, value: string): void;
  prepareLocale(prepare: PrepareHandle, timeZone: string, locale: string): void;
  prepareFile(prepare: PrepareHandle, name: Path, data: Buffer): void;
  prepareHostFile(prepare: PrepareHandle, name: Path, path: Path): void;
  prepareInit(prepare: PrepareHandle, text: string, options: object): void;
  prepareSkill(prepare: PrepareHandle, versionId: string, data: Buffer, sha256: string): void;
  prepareHostSkill(prepare: PrepareHandle, versionId: string, path: Path, sha256: string): void;
  prepareStoredSkill(prepare: PrepareHandle, versionId: string): void;
  prepareBuiltinSkill(prepare: PrepareHandle, name: string, data: Buffer): void;
  prepareHostBuiltinSkill(prepare: PrepareHandle, name: string, path: Path): void;
  prepareSkillInitTimeout(prepare: PrepareHandle, milliseconds: number): void;
  prepareStep(
    prepare: PrepareHandle,
    name: string,
    options: object,
    apply: (run: StepHandle, workspace: Acquired, note: string) => void,
  ): void;
  prepareObserver(prepare: PrepareHandle, onEvent: (event: number, step: string, text: string) => void): void;
  prepareReport(workspace: WorkspaceHandle): Buffer;
  isStepOver(run: StepHandle): boolean;
  tellStep(run: StepHandle, text: string): void;
  finishStep(run: StepHandle, result: object): void;
  failStep(run: StepHandle, code: number, message: string, output: string): void;
  acquire(cove: CoveHandle, key: object, options: Fields): Promise<Acquired>;
  removeSession(cove: CoveHandle, key: object, options: Fields): Promise<void>;
  release(workspace: WorkspaceHandle, options: Limits): Promise<void>;
  workspaceSkills(workspace: WorkspaceHandle, options: Fields): Promise<Buffer>;
  inspectSkill(versionId: string, data: Buffer): Buffer;
  addSkill(cove: CoveHandle, versionId: string, data: Buffer, options: Limits): Promise<Buffer>;
  listSkills(cove: CoveHandle, options: Limits): Promise<Buffer>;
  removeSkill(cove: CoveHandle, versionId: string, options: Limits): Promise<void>;
  stop(cove: CoveHandle, sandboxId: string, options: Fields): Promise<void>;
  archive(cove: CoveHandle, sandboxId: string, options: Fields): Promise<void>;
  relocate(cove: CoveHandle, sandboxId: string, options: Fields): Promise<void>;
  destroy(cove: CoveHandle, sandboxId: string, options: Limits): Promise<void>;
  destroySource(cove: CoveHandle, source: string, options: Fields): Promise<Buffer>;
  reviveSource(cove: CoveHandle, source: string, options: Limits): Promise<void>;
  setIdlePolicy(cove: CoveHandle, source: string, policy: object, options: Limits): Promise<void>;
  idlePolicy(cove: CoveHandle, source: string, options: Limits): Promise<Buffer>;
  recover(cove: CoveHandle, deployment: string, options: Limits): Promise<Buffer>;
  metrics(cove: CoveHandle, options: Limits): Promise<Buffer>;
  sweep(cove: CoveHandle, options: Fields): Promise<Buffer>;
  status(cove: CoveHandle, sandboxId: string, options: Limits): Promise<Buffer>;
  listPage(cove: CoveHandle, options: Fields): Promise<Buffer>;
  orphans(cove: CoveHandle, options: Limits): Promise<Buffer>;
  doctor(cove: CoveHandle, options: Limits): Promise<Buffer>;
  exec(
    workspace: WorkspaceHandle,
    argv: Path[],
    fields: object | undefined,
    limits: Limits,
    wake?: Wake,
  ): Following<ExecHandle, unknown>;
  takeOutput(run: ExecHandle, most: number): (number | Buffer)[] | null | undefined;
  cancelRun(run: ExecHandle): void;
  detachRun(run: ExecHandle): void;
  discardRun(run: ExecHandle): void;
  bufferedOf(run: ExecHandle): number;
  writeStdin(run: ExecHandle, data: Buffer, options: Limits): Promise<void>;
  closeStdin(run: ExecHandle, options: Limits): Promise<void>;
  sendSignal(run: ExecHandle, signal: number, options: Limits): Promise<void>;
  resize(run: ExecHandle, rows: number, columns: number, options: Limits): Promise<void>;
  startProcess(workspace: WorkspaceHandle, argv: Path[], options: Fields): Promise<unknown>;
  listProcesses(workspace: WorkspaceHandle, options: Limits): Promise<unknown>;
  findProcess(workspace: WorkspaceHandle, id: string, options: Limits): Promise<unknown>;
  endProcess(workspace: WorkspaceHandle, id: string, options: Limits): Promise<unknown>;
  waitProcess(workspace: WorkspaceHandle, id: string, options: Limits): Promise<unknown>;
  processOutput(workspace: WorkspaceHandle, id: string, options: Fields): Promise<unknown>;
  writeProcessStdin(workspace: WorkspaceHandle, id: string, data: Buffer, options: Limits): Promise<void>;
  closeProcessStdin(workspace: WorkspaceHandle, id: string, options: Limits): Promise<void>;
  signalProcess(workspace: WorkspaceHandle, id: string, signal: number, options: Limits): Promise<void>;
  resizeProcess(workspace: WorkspaceHandle, id: string, rows: number, columns: number, options: Limits): Promise<void>;
  removeProcess(workspace: WorkspaceHandle, id: string, options: Limits): Promise<void>;
  attachProcess(w: WorkspaceHandle, id: string, options: Fields, wake: Wake): Following<ExecHandle, unknown>;
  readFile(workspace: WorkspaceHandle, path: Path, options: Fields): Promise<Buffer>;
  read(workspace: WorkspaceHandle, path: Path, options: Fields): Promise<unknown>;
  readLines(workspace: WorkspaceHandle, path: Path, options: Fields): Promise<unknown>;
  writeFile(workspace: WorkspaceHandle, path: Path, data: Buffer, options: Fields): Promise<unknown>;
  stat(workspace: WorkspaceHandle, path: Path, options: Limits): Promise<unknown>;
  listFiles(workspace: WorkspaceHandle, path: Path, options: Fields): Promise<{ entries: string; next: Buffer | null }>;
  makeDirectory(workspace: WorkspaceHandle, path: Path, options: Limits): Promise<void>;
  remove(workspace: WorkspaceHandle, path: Path, options: Fields): Promise<void>;
  move(workspace: WorkspaceHandle, from: Path, to: Path, options: Fields): Promise<unknown>;
  copy(workspace: WorkspaceHandle, from: Path, to: Path, options: Fields): Promise<unknown>;
  setMode(workspace: WorkspaceHandle, path: Path, mode: number, options: Limits): Promise<unknown>;
  makeSymlink(workspace: WorkspaceHandle, path: Path, target: Path, options: Limits): Promise<unknown>;
  editFile(workspace: WorkspaceHandle, path: Path, edits: object[], options: Fields): Promise<unknown>;
  editFiles(workspace: WorkspaceHandle, files: object[], options: Limits): Promise<unknown[]>;
  download(workspace: WorkspaceHandle, path: Path, isTree: boolean, options: Limits, wake: Wake): Following<DownloadHandle, void>;
  takePieces(run: DownloadHandle, most: number): (number | Buffer)[] | null | undefined;
  endDownload(run: DownloadHandle): void;
  upload(workspace: WorkspaceHandle, path: Path, options: Fields): Following<UploadHandle, unknown>;
  uploadTree(workspace: WorkspaceHandle, path: Path, options: Limits): Following<UploadHandle, unknown>;
  givePiece(run: UploadHandle, piece: Buffer): Promise<void>;
  finishUpload(run: UploadHandle): void;
  cancelUpload(run: UploadHandle): void;
  watch(workspace: WorkspaceHandle, path: Path, options: Fields, wake: Wake): Following<WatchHandle, void>;
  takeEvents(run: WatchHandle, most: number): string | null | undefined;
  cancelWatch(run: WatchHandle): void;
  grep(workspace: WorkspaceHandle, path: Path, pattern: Path, options: Fields, wake: Wake): Following<SearchHandle, unknown>;
  find(workspace: WorkspaceHandle, path: Path, options: Fields, wake: Wake): Following<SearchHandle, unknown>;
  takeFound(run: SearchHandle, most: number): string | null | undefined;
  cancelSearch(run: SearchHandle): void;
  discardFound(run: SearchHandle): void;
  describeTools(format: number): string;
  callTool(
    workspace: WorkspaceHandle,
    name: string,
    json: string,
    options: Limits,
    makeLinks?: (request: LinkRequest, files: unknown[]) => void,
  ): Promise<{ text: string; dataJson: string; isError: boolean }>;
  answerLinks(request: LinkRequest, urls: string[]): void;
  refuseLinks(request: LinkRequest, code: number, message: string): void;
  areLinksOver(request: LinkRequest): boolean;
}

export interface Acquired {
  handle: WorkspaceHandle;
  directory: string;
  sandboxId: string;
  work: string;
  /** It belongs to a step, and is not to be released. */
  lent?: boolean;
}

/** The folders of this machine's kind; one of another C library cannot be loaded, and is passed over. */
function folders(): string[] {
  return ["glibc", "musl"]
    .map((libc) => path.join(PREBUILDS, `${process.platform}-${process.arch}-${libc}`))
    .filter((folder) => fs.existsSync(folder));
}

function loadAddon(): { native: Native; folder: string } {
  const tried: string[] = [];
  for (const folder of folders()) {
    const file = path.join(folder, "cove.node");
    try {
      return { native: require(file) as Native, folder };
    } catch (error) {
      tried.push(`  ${file}: ${(error as Error).message}`);
    }
  }
  const where = `${process.platform}-${process.arch}, Node ${process.version}`;
  throw new Error(
    `cove: the addon for ${where} was not found or cannot be loaded. Tried:\n` +
      (tried.join("\n") || `  ${PREBUILDS}: nothing for this machine`) +
      "\nInstall the package with its binaries, or in a checkout run: npm install",
  );
}

function loadLibrary(native: Native, folder: string): void {
  const named = process.env.COVE_LIBRARY;
  // Whoever names a library means that one: another would be a silent surprise.
  const candidates: [string, string][] = named
    ? [[named, "COVE_LIBRARY"]]
    : [
        [path.join(folder, SONAME), "in this package"],
        [SONAME, "of the system"],
      ];
  const tried: string[] = [];
  for (const [file, origin] of candidates) {
    const problem = native.load(file, makeError, makeExecResult);
    if (problem === null) return checkVersion(native.version(), file);
    tried.push(`  ${file} (${origin}): ${problem}`);
  }
  throw new Error(
    `cove: libcove.so was not found or cannot be loaded. Tried:\n${tried.join("\n")}\n` +
      `Install the package with its binaries, or set COVE_LIBRARY to the path of ${SONAME}`,
  );
}

/** Once, at load: the binding and the library must be of one ABI. */
export function checkVersion(version: string, file: string): void {
  if (version.split(".").slice(0, 2).join(".") !== ABI) {
    throw new Error(`cove: this package needs libcove.so ${ABI}, but ${file} is ${version}`);
  }
}

function load(): Native {
  const { native, folder } = loadAddon();
  loadLibrary(native, folder);
  // While JavaScript can still be called, whatever way the program ends.
  process.once("exit", () => native.closeAll());
  return native;
}

/** The addon, loaded with this module. */
export const native: Native = load();

/** The version of the library that runs, as "0.1.0". */
export const version: string = native.version();
