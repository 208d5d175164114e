/**
 * Cove: a persistent, isolated workspace for every user of an agent application.
 *
 *     import { Cove } from "cove-workspace";
 *
 *     const cove = await Cove.open("/var/lib/app/cove");
 *     const workspace = await cove.acquire({ sourceType: "app", sourceId: "shop", userId: "ana" }, { chatId: "c1" });
 *     await workspace.writeFile("hello.py", "print(6 * 7)");
 *     console.log((await workspace.exec(["python3", "hello.py"])).out.text); // 42
 *     await workspace.close();
 *     await cove.close();
 *
 * docs/node.md is the guide; every failure is a CoveError with a code (docs/errors.md).
 */

export { Cove, configSchema, sandboxIdOf } from "./cove.js";
export type {
  AcquireOptions, Finding, LifecycleEvent, ListSandboxesOptions, LogLevel, OpenOptions, Orphan, OrphanReport,
  RecoverReport, RelocateOptions, RemoveSessionOptions, SandboxStatus, StopOptions, WorkspaceKey,
} from "./cove.js";
export { CoveError, ERROR_CODES } from "./errors.js";
export type { CoveErrorOptions, ErrorCode } from "./errors.js";
export { ExecStream } from "./exec.js";
export type {
  Command, CommandOptions, ExecOptions, ExecResult, Outcome, OutputChunk, OutputStream, StreamOptions, StreamOutput,
} from "./exec.js";
export type {
  Edit, EditOptions, EditResult, FileContent, FileEdit, FileInfo, FileType, LineSlice, ListOptions, MoveOptions,
  ReadLinesOptions, ReadOptions, RemoveOptions, TreeCounts, UploadOptions, WriteOptions,
} from "./files.js";
export { Flow } from "./flow.js";
export { version } from "./native.js";
export type { CallOptions, Data, PathLike } from "./options.js";
export { FakeClock, selectDocuments, writeAgent } from "./parts.js";
export type {
  DocumentId, DocumentKind, DocumentPage, DocumentQuery, MetadataStore, StoreDocument, VersionedDocument,
} from "./parts.js";
export type { HostFile, MirrorName, Prepare, PrepareEvent, PrepareStep } from "./prepare.js";
export type { AttachOptions, OutputSlice, ProcessInfo, ProcessOutputOptions, StartProcessOptions } from "./processes.js";
export type { PrepareReport, PrepareStage, StepReport } from "./report.js";
export { Search } from "./searches.js";
export type { FindEntry, FindOptions, GrepLine, GrepOptions, SearchProblem, SearchSummary } from "./searches.js";
export { inspectSkill } from "./skills.js";
export type { HostPackage, Skill, SkillInfo, SkillPackage, Skills, SkillsOptions } from "./skills.js";
export type {
  DestroySourceOptions, IdlePolicy, SourceProgress, SweepCounts, SweepOptions, SweepReport, SweepStep,
} from "./sources.js";
export { defaultStateDir } from "./state-dir.js";
export type { StepResult, StepRun } from "./steps.js";
export { describeTools } from "./tools.js";
export type { FileToLink, LinkMaker, McpTool, OpenAiTool, PlainTool, ToolOptions, ToolResult } from "./tools.js";
export { Download } from "./transfers.js";
export type { OnProgress, Source, TransferOptions } from "./transfers.js";
export { Watch } from "./watches.js";
export type { FileEvent, WatchOptions } from "./watches.js";
export { Workspace } from "./workspace.js";
export type { AcquireWork } from "./workspace.js";
