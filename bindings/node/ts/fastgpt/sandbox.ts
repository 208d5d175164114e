/** Files, and the sandbox with everything. */

import { posix } from "node:path";
import type { Source } from "../transfers.js";
import type { FileInfo } from "../files.js";
import { CoveError } from "../errors.js";
import { Commands } from "./commands.js";
import { FeatureNotSupportedError, FileOperationError, fileError } from "./errors.js";
import type {
  DirectoryEntry, FileInfoEntry, FileResult, ISandbox, MoveEntry, PermissionEntry, ReadFileOptions, ReadFileResult,
  ReplaceEntry, SandboxCapabilities, SearchResult, WriteFileEntry, WriteFileResult,
} from "./types.js";

const CAPABILITIES: SandboxCapabilities = {
  command: { streaming: true, background: true, interrupt: true },
  filesystem: { streamingRead: true, streamingWrite: true },
  metrics: true,
  expirationRenewal: false,
};

/** What may wait for its place in one batch; the rest follows. */
const AT_ONCE = 16;

/** work(item) for each, some at a time, results in the items' order. */
async function inOrder<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(items.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < items.length; i = next++) results[i] = await work(items[i] as T);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker));
  return results;
}

async function resultOf(path: string, work: () => Promise<unknown>, wantsDirectory = false): Promise<FileResult> {
  try {
    await work();
    return { path, success: true, error: null };
  } catch (error) {
    return { path, success: false, error: fileError(error, path, wantsDirectory) };
  }
}

/** Everything in a workspace belongs to its one user. */
function refuseOwner(entry: { owner?: string; group?: string }): void {
  if (entry.owner !== undefined || entry.group !== undefined) throw new FeatureNotSupportedError("owners of files");
}

function timeOf(info: FileInfo): Date {
  return new Date(info.modifiedMs);
}

/** A sandbox as FastGPT uses it, over a workspace of Cove's. */
export class CoveSandbox extends Commands implements ISandbox {
  readonly capabilities = CAPABILITIES;

  async readFiles(paths: string[], options: ReadFileOptions = {}): Promise<ReadFileResult[]> {
    const range = {
      ...(options.offset !== undefined && { offset: options.offset }),
      ...(options.length !== undefined && { maxBytes: options.length }),
    };
    return inOrder(paths, async (path) => {
      try {
        const workspace = await this.workspace();
        const content = options.length === 0 ? new Uint8Array() : await workspace.readFile(path, range);
        return { path, content, error: null };
      } catch (error) {
        return { path, content: new Uint8Array(), error: fileError(error, path) };
      }
    });
  }

  async writeFiles(entries: WriteFileEntry[]): Promise<WriteFileResult[]> {
    return inOrder(entries, async (entry) => {
      const { path } = entry;
      try {
        refuseOwner(entry);
        const mode = entry.mode === undefined ? {} : { mode: entry.mode };
        const info = await (await this.workspace()).upload(path, sourceOf(entry.data), mode);
        return { path, bytesWritten: info.size, error: null };
      } catch (error) {
        return { path, bytesWritten: 0, error: fileError(error, path) };
      }
    });
  }

  async deleteFiles(paths: string[]): Promise<FileResult[]> {
    return inOrder(paths, (path) => resultOf(path, async () => (await this.workspace()).remove(path)));
  }

  /** In order, since one may need what another left. */
  async moveFiles(entries: MoveEntry[]): Promise<FileResult[]> {
    const results: FileResult[] = [];
    for (const { source, destination } of entries) {
      results.push(
        await resultOf(source, async () => (await this.workspace()).move(source, destination, { overwrite: true })),
      );
    }
    return results;
  }

  /** Replaces every place; a text that is not there is an error, where FastGPT's providers are silent. */
  async replaceContent(entries: ReplaceEntry[]): Promise<FileResult[]> {
    const files = entries.map(({ path, oldContent, newContent }) => ({
      path,
      edits: [{ old: oldContent, new: newContent, replaceAll: true }],
    }));
    const edited = await (await this.workspace()).editFiles(files);
    return entries.map(({ path }, i) => {
      const result = edited[i];
      if (!(result instanceof CoveError)) return { path, success: true, error: null };
      const isMissing = result.code === "FAILED_PRECONDITION";
      const error = isMissing
        ? new FileOperationError(result.message, path, "TRANSFER_ERROR", result)
        : fileError(result, path);
      return { path, success: false, error };
    });
  }

  async *readFileStream(path: string): AsyncGenerator<Uint8Array, void, undefined> {
    const workspace = await this.workspace();
    try {
      yield* workspace.download(path);
    } catch (error) {
      throw fileError(error, path);
    }
  }

  async writeFileStream(path: string, source: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>): Promise<void> {
    try {
      await (await this.workspace()).upload(path, source as Source);
    } catch (error) {
      throw fileError(error, path);
    }
  }

  async createDirectories(paths: string[], options: { mode?: number } = {}): Promise<FileResult[]> {
    return inOrder(paths, (path) =>
      resultOf(path, async () => {
        const workspace = await this.workspace();
        await workspace.makeDirectory(path);
        if (options.mode !== undefined) await workspace.setMode(path, options.mode);
      }),
    );
  }

  async deleteDirectories(
    paths: string[],
    options: { recursive?: boolean; force?: boolean } = {},
  ): Promise<FileResult[]> {
    return inOrder(paths, (path) =>
      resultOf(path, async () => {
        try {
          await (await this.workspace()).remove(path, { recursive: options.recursive ?? true });
        } catch (error) {
          if (!(options.force === true && error instanceof CoveError && error.code === "NOT_FOUND")) throw error;
        }
      }, true),
    );
  }

  async listDirectory(path: string): Promise<DirectoryEntry[]> {
    try {
      const entries = await (await this.workspace()).list(path);
      return entries.map((entry) => ({
        name: posix.basename(entry.path),
        path: posix.join(path, entry.path),
        isDirectory: entry.type === "directory",
        isFile: entry.type === "file",
        size: entry.size,
        modifiedAt: timeOf(entry),
      }));
    } catch (error) {
      throw fileError(error, path, true);
    }
  }

  /** What is missing is left out. */
  async getFileInfo(paths: string[]): Promise<Map<string, FileInfoEntry>> {
    const found = await inOrder(paths, async (path): Promise<FileInfoEntry | undefined> => {
      try {
        const info = await (await this.workspace()).stat(path);
        return {
          path,
          size: info.size,
          isDirectory: info.type === "directory",
          isFile: info.type === "file",
          mode: info.mode,
          modifiedAt: timeOf(info),
        };
      } catch (error) {
        if (error instanceof CoveError && error.code === "NOT_FOUND") return undefined;
        throw fileError(error, path);
      }
    });
    return new Map(found.filter((entry) => entry !== undefined).map((entry) => [entry.path, entry]));
  }

  async setPermissions(entries: PermissionEntry[]): Promise<FileResult[]> {
    return inOrder(entries, (entry) =>
      resultOf(entry.path, async () => {
        refuseOwner(entry);
        if (entry.mode !== undefined) await (await this.workspace()).setMode(entry.path, entry.mode);
      }),
    );
  }

  /** Names that match a glob, hidden ones too. */
  async search(pattern: string, path = "."): Promise<SearchResult[]> {
    try {
      const found = await (await this.workspace()).find(pattern, { path, hidden: true, limit: Infinity }).toArray();
      return found.map((entry) => ({
        path: posix.join(path, entry.path),
        isDirectory: entry.type === "directory",
        isFile: entry.type === "file",
      }));
    } catch (error) {
      throw fileError(error, path, true);
    }
  }
}

function sourceOf(data: WriteFileEntry["data"]): Source {
  return (data instanceof ArrayBuffer ? new Uint8Array(data) : data) as Source;
}

