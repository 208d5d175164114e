/** Files, and the sandbox with everything. */

import { posix } from "node:path";
import type { Source } from "../transfers.js";
import type { FileInfo } from "../files.js";
import { CoveError } from "../errors.js";
import * as check from "../options.js";
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
  check.list("paths", items);
  const results = new Array<R>(items.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < items.length; i = next++) results[i] = await work(items[i] as T);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker));
  return results;
}

/** The entries of a batch; what is wrong inside one is that entry's. */
function entriesOf<T>(name: string, entries: readonly T[], shape: string): readonly T[] {
  check.list(name, entries).forEach((entry, i) => check.object(`${name}[${i}]`, entry, shape));
  return entries;
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

/** What an entry cannot be sent with. */
function wrongIn({ path, oldContent, newContent }: ReplaceEntry): Error | undefined {
  try {
    check.text("path", path);
    check.data("oldContent", oldContent);
    check.data("newContent", newContent);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof CoveError && error.code === code;
}

function timeOf(info: FileInfo): Date {
  return new Date(info.modifiedMs);
}

/** A sandbox as FastGPT uses it, over a workspace of Cove's. */
export class CoveSandbox extends Commands implements ISandbox {
  readonly capabilities = CAPABILITIES;

  /** Reads files whole, or the same range of each. */
  async readFiles(paths: string[], options: ReadFileOptions = {}): Promise<ReadFileResult[]> {
    const { offset = 0, length } = check.object("options", options, "{offset, length}");
    return inOrder(paths, async (path) => {
      try {
        if (length !== undefined) check.count("length", length, 0, Number.MAX_SAFE_INTEGER);
        const limit = length === undefined ? {} : { maxBytes: Math.max(length, 1) }; // of 0 bytes too it is looked at
        const content = await (await this.workspace()).readFile(path, { offset, ...limit });
        return { path, content: content.subarray(0, length), error: null };
      } catch (error) {
        return { path, content: new Uint8Array(), error: fileError(error, path) };
      }
    });
  }

  /** Creates or replaces files. Owners are refused: everything belongs to the workspace's one user. */
  async writeFiles(entries: WriteFileEntry[]): Promise<WriteFileResult[]> {
    return inOrder(entriesOf("entries", entries, "{path, data}"), async (entry) => {
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

  /** Removes files, links and empty directories. */
  async deleteFiles(paths: string[]): Promise<FileResult[]> {
    return inOrder(paths, (path) => resultOf(path, async () => (await this.workspace()).remove(path)));
  }

  /** In order, since one may need what another left. */
  async moveFiles(entries: MoveEntry[]): Promise<FileResult[]> {
    const results: FileResult[] = [];
    for (const { source, destination } of entriesOf("entries", entries, "{source, destination}")) {
      results.push(
        await resultOf(source, async () => (await this.workspace()).move(source, destination, { overwrite: true })),
      );
    }
    return results;
  }

  /** Replaces every place; a text that is not there is an error, where FastGPT's providers are silent. */
  async replaceContent(entries: ReplaceEntry[]): Promise<FileResult[]> {
    const wrong = entriesOf("entries", entries, "{path, oldContent, newContent}").map(wrongIn);
    const files = entries
      .filter((_, i) => wrong[i] === undefined)
      .map(({ path, oldContent, newContent }) => ({
        path,
        edits: [{ old: oldContent, new: newContent, replaceAll: true }],
      }));
    const edited = (await (await this.workspace()).editFiles(files)).values();
    return entries.map(({ path }, i) => {
      const error = wrong[i] ?? edited.next().value;
      return error instanceof Error
        ? { path, success: false, error: fileError(error, path) }
        : { path, success: true, error: null };
    });
  }

  /** Gives a file of any size piece by piece. */
  async *readFileStream(path: string): AsyncGenerator<Uint8Array, void, undefined> {
    const workspace = await this.workspace();
    try {
      yield* workspace.download(path);
    } catch (error) {
      throw fileError(error, path);
    }
  }

  /** Creates or replaces a file of any size. */
  async writeFileStream(path: string, source: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>): Promise<void> {
    try {
      await (await this.workspace()).upload(path, source as Source);
    } catch (error) {
      throw fileError(error, path);
    }
  }

  /** Makes directories and their missing parents; success where they are there. */
  async createDirectories(paths: string[], options: { mode?: number } = {}): Promise<FileResult[]> {
    check.object("options", options, "{mode}");
    return inOrder(paths, (path) =>
      resultOf(path, async () => {
        const workspace = await this.workspace();
        try {
          await workspace.makeDirectory(path);
        } catch (error) {
          if (isCode(error, "ALREADY_EXISTS")) await workspace.stat(path); // fails as what it is below a file
          throw error;
        }
        if (options.mode !== undefined) await workspace.setMode(path, options.mode);
      }),
    );
  }

  /** Removes directories with all in them, or only empty ones; with `force` also where nothing is there. */
  async deleteDirectories(
    paths: string[],
    options: { recursive?: boolean; force?: boolean } = {},
  ): Promise<FileResult[]> {
    check.object("options", options, "{recursive, force}");
    return inOrder(paths, (path) =>
      resultOf(path, async () => {
        try {
          await (await this.workspace()).remove(path, { recursive: options.recursive ?? true });
        } catch (error) {
          if (!(options.force === true && isCode(error, "NOT_FOUND"))) throw error;
        }
      }, true),
    );
  }

  /** The entries of a directory, not of those below. */
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

  /** What is not there is left out, and so is a path that nothing can be told of; errors of the sandbox are thrown. */
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
        const told = fileError(error, path);
        if (told instanceof FileOperationError && told.fileErrorCode !== "TRANSFER_ERROR") return undefined;
        throw told;
      }
    });
    return new Map(found.filter((entry) => entry !== undefined).map((entry) => [entry.path, entry]));
  }

  /** Sets permission bits. Owners are refused, as by `writeFiles`. */
  async setPermissions(entries: PermissionEntry[]): Promise<FileResult[]> {
    return inOrder(entriesOf("entries", entries, "{path, mode}"), (entry) =>
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

