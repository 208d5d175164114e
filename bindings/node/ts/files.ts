/** Files of a workspace: read, written, edited, listed, moved. */

import { call } from "./calls.js";
import { CoveError } from "./errors.js";
import { items } from "./json.js";
import { native } from "./native.js";
import * as options from "./options.js";
import type { CallOptions, Data, PathLike } from "./options.js";
import { Processes } from "./processes.js";

/** What a path names. */
export type FileType = "file" | "directory" | "symlink" | "other";

/** What is known of a file. */
export interface FileInfo {
  /** Of a list relative to the listed directory, else below /workspace. */
  path: string;
  /** Where the name is no UTF-8: its bytes, to be given back. */
  pathBytes?: Buffer;
  type: FileType;
  /** Bytes. */
  size: number;
  /** Permission bits. */
  mode: number;
  /** When the content last changed, in milliseconds since 1970, with fractions. */
  modifiedMs: number;
  /** Where a symlink points; "" for others. */
  linkTarget: string;
  linkTargetBytes?: Buffer;
  /** Another text after every change of content, mode or place; for `ifUnchangedSince`. */
  etag: string;
  /** A directory that a list of several levels could not look into. */
  unreadable: boolean;
}

/** Bytes of a file and what was said of it at that moment. */
export interface FileContent {
  data: Buffer;
  /** Told from its first bytes: "image/png", "text/plain; charset=utf-8", ..., "application/octet-stream". */
  contentType: string;
  info: FileInfo;
}

/** Lines of a file, as far as the limits went. */
export interface LineSlice {
  /** `content` as UTF-8; bytes that are none become U+FFFD. */
  text: string;
  /** As in the file, line ends too. */
  content: Buffer;
  /** Number of the first line in it, and how many there are. */
  first: number;
  count: number;
  /** The first line that was not given; null = the file ends here. */
  next: number | null;
  /** null where it was not cheap to know. */
  totalLines: number | null;
  /** Where in the file `content` begins, in bytes. */
  offset: number;
  /** The only line in it is longer than `maxBytes` and goes on after `content`. */
  cut: boolean;
  contentType: string;
  info: FileInfo;
}

/** What was copied, or placed from an archive. */
export interface TreeCounts {
  entries: number;
  /** Of files' content. */
  bytes: number;
  /** Sockets and devices, which are never copied. */
  skipped: number;
}

export interface ReadOptions extends CallOptions {
  /** First byte: 0; past the end there are none. */
  offset?: number;
  /** To the end by default. */
  maxBytes?: number;
}

export interface ReadLinesOptions extends CallOptions {
  /** From 1. */
  first?: number;
  /** At most 2,000 lines by default. */
  count?: number;
  /** Whole lines while they fit, 4 bytes to 8 MiB: 50 KiB. */
  maxBytes?: number;
}

export interface UploadOptions extends CallOptions {
  /** Permission bits; an existing file's by default, else 0o644. */
  mode?: number;
  /** Makes missing directories: true. */
  createParents?: boolean;
  /** File and directory are synced before it counts. */
  durable?: boolean;
  /** The etag that the file must still have, else CONFLICT. */
  ifUnchangedSince?: string;
  /** A name that is taken is ALREADY_EXISTS. */
  ifAbsent?: boolean;
}

export interface WriteOptions extends UploadOptions {
  /** Adds to the file's end instead, at most 16 MiB at once. */
  append?: boolean;
}

export interface ListOptions extends CallOptions {
  /** Levels of directories, a directory before what is in it; Infinity = the whole tree. */
  depth?: number;
}

export interface RemoveOptions extends CallOptions {
  /** A directory with all below it. */
  recursive?: boolean;
}

export interface MoveOptions extends CallOptions {
  /** Replaces a file; of a move, an empty directory by a directory. */
  overwrite?: boolean;
  /** Makes missing directories: true. */
  createParents?: boolean;
}

/** One exact replacement. An LF in `old` matches the file's line end; `new` is written with the file's own. */
export interface Edit {
  old: Data;
  new: Data;
  /** Wherever it is found; else it is found exactly once, or it is an error. */
  replaceAll?: boolean;
}

export interface EditOptions extends CallOptions {
  durable?: boolean;
  ifUnchangedSince?: string;
}

/** The edits of one file within several. */
export interface FileEdit {
  path: PathLike;
  edits: readonly Edit[];
  durable?: boolean;
  ifUnchangedSince?: string;
}

/** What became of a file that was edited. */
export interface EditResult {
  info: FileInfo;
  /** Of each edit: in how many places it replaced, and the line, from 1, where the first begins. */
  edits: { replaced: number; firstLine: number }[];
}

const READ = ["offset", "maxBytes", ...options.CALL];
const UPLOAD = ["mode", "createParents", "durable", "ifUnchangedSince", "ifAbsent"];
const MOVE = ["overwrite", "createParents", ...options.CALL];
const LIST_PAGE = 1000;

function readFields(given: Partial<ReadOptions>): Record<string, unknown> {
  return {
    offset: given.offset === undefined ? 0 : options.count("offset", given.offset, 0, Number.MAX_SAFE_INTEGER),
    maxBytes: options.optionalCount("maxBytes", given.maxBytes),
  };
}

/** @internal */
export const UPLOAD_NAMES: readonly string[] = [...UPLOAD, ...options.CALL];

/** @internal */
export function writeFields(given: Partial<WriteOptions>): Record<string, unknown> {
  return {
    mode: given.mode === undefined ? 0 : options.count("mode", given.mode, 1, 0o7777),
    existingParents: !options.truthUnlessSaid("createParents", given.createParents),
    durable: options.truth("durable", given.durable),
    append: options.truth("append", given.append),
    ifAbsent: options.truth("ifAbsent", given.ifAbsent),
    ifUnchangedSince: options.optionalText("ifUnchangedSince", given.ifUnchangedSince),
  };
}

function moveFields(given: Partial<MoveOptions>): Record<string, unknown> {
  return {
    overwrite: options.truth("overwrite", given.overwrite),
    existingParents: !options.truthUnlessSaid("createParents", given.createParents),
  };
}

function editFields(name: string, edits: unknown): object[] {
  return options.list(name, edits).map((edit, i) => {
    if (typeof edit !== "object" || edit === null) throw new TypeError(`${name}[${i}] must be {old, new}`);
    const given = edit as Partial<Edit>;
    return {
      oldText: options.data(`${name}[${i}].old`, given.old),
      newText: options.data(`${name}[${i}].new`, given.new),
      replaceAll: options.truth(`${name}[${i}].replaceAll`, given.replaceAll),
    };
  });
}

function depthOf(value: number): number {
  return value === Infinity ? 2 ** 32 - 1 : options.count("depth", value, 1, 2 ** 31);
}

/**
 * @internal The file calls of a Workspace. Paths start at the chat's directory, or lie below /workspace; anything else
 * is PATH_ESCAPE.
 */
export abstract class Files extends Processes {
  /** Reads a file, or a range of it, of at most 64 MiB; larger ones: `download`. */
  async readFile(path: PathLike, given?: ReadOptions): Promise<Buffer> {
    const checked = options.options("readFile", given, READ);
    const [place, fields] = [options.path("path", path), readFields(checked)];
    return call(checked, (limits) => native.readFile(this.use(), place, { ...fields, ...limits }));
  }

  /** The same with what is said of the file: its type, told from its content, and its etag. */
  async read(path: PathLike, given?: ReadOptions): Promise<FileContent> {
    const checked = options.options("read", given, READ);
    const [place, fields] = [options.path("path", path), readFields(checked)];
    return call(checked, (limits) => native.read(this.use(), place, { ...fields, ...limits }));
  }

  /** Reads lines of a file of any size, whole ones while they fit into `maxBytes`. */
  async readLines(path: PathLike, given?: ReadLinesOptions): Promise<LineSlice> {
    const checked = options.options("readLines", given, ["first", "count", "maxBytes", ...options.CALL]);
    const place = options.path("path", path);
    const fields = {
      first: options.optionalCount("first", checked.first),
      count: options.optionalCount("count", checked.count),
      maxBytes: checked.maxBytes === undefined ? 0 : options.count("maxBytes", checked.maxBytes, 4, 8 << 20),
    };
    return call(checked, (limits) => native.readLines(this.use(), place, { ...fields, ...limits }));
  }

  /** Creates a file or replaces it as a whole: others see the old content or the new. */
  async writeFile(path: PathLike, data: Data, given?: WriteOptions): Promise<FileInfo> {
    const checked = options.options("writeFile", given, [...UPLOAD, "append", ...options.CALL]);
    const [place, bytes, fields] = [options.path("path", path), options.data("data", data), writeFields(checked)];
    return call(checked, (limits) => native.writeFile(this.use(), place, bytes, { ...fields, ...limits }));
  }

  /**
   * Replaces texts in a file, one after the other, all of them or none. The file keeps its line ends, byte order
   * mark and mode. Where one of several edits fails, the error's context "edit" is its number, from 1.
   *
   *     await workspace.editFile("a.py", [{ old: "x = 1", new: "x = 2" }]);
   */
  async editFile(path: PathLike, edits: readonly Edit[], given?: EditOptions): Promise<EditResult> {
    const checked = options.options("editFile", given, ["durable", "ifUnchangedSince", ...options.CALL]);
    const [place, list] = [options.path("path", path), editFields("edits", edits)];
    const fields = {
      durable: options.truth("durable", checked.durable),
      ifUnchangedSince: options.optionalText("ifUnchangedSince", checked.ifUnchangedSince),
    };
    return call(checked, (limits) => native.editFile(this.use(), place, list, { ...fields, ...limits }));
  }

  /**
   * Edits several files, in order; at each place is its result, or the error of this one. Entries with the same
   * path are one change of that file, all of them or none.
   */
  async editFiles(files: readonly FileEdit[], given?: CallOptions): Promise<(EditResult | CoveError)[]> {
    const checked = options.options("editFiles", given, options.CALL);
    const list = options.list("files", files).map((file, i) => {
      if (typeof file !== "object" || file === null) throw new TypeError(`files[${i}] must be {path, edits}`);
      const edited = file as Partial<FileEdit>;
      return {
        path: options.path(`files[${i}].path`, edited.path),
        edits: editFields(`files[${i}].edits`, edited.edits),
        durable: options.truth(`files[${i}].durable`, edited.durable),
        ifUnchangedSince: options.optionalText(`files[${i}].ifUnchangedSince`, edited.ifUnchangedSince),
      };
    });
    return call(checked, (limits) => native.editFiles(this.use(), list, limits));
  }

  /** Says what a path is, of a symlink itself. */
  async stat(path: PathLike, given?: CallOptions): Promise<FileInfo> {
    const checked = options.options("stat", given, options.CALL);
    return call(checked, (limits) => native.stat(this.use(), options.path("path", path), limits));
  }

  /** Lists a directory in the order of the names' bytes; one level unless `depth` says more. */
  async list(path: PathLike = ".", given?: ListOptions): Promise<FileInfo[]> {
    const checked = options.options("list", given, ["depth", ...options.CALL]);
    const entries: FileInfo[] = [];
    for await (const entry of this.iterList(path, { ...checked, depth: checked.depth ?? 1 })) entries.push(entry);
    return entries;
  }

  /**
   * The same, of which only a page is held at a time; the whole tree unless `depth` says less. `timeoutMs` bounds
   * each page.
   */
  async *iterList(path: PathLike = ".", given?: ListOptions): AsyncGenerator<FileInfo, void, undefined> {
    const checked = options.options("iterList", given, ["depth", ...options.CALL]);
    const [place, depth] = [options.path("path", path), depthOf(checked.depth ?? Infinity)];
    let after: Buffer | null = null;
    do {
      const fields: Record<string, unknown> = { limit: LIST_PAGE, depth, after: after ?? undefined };
      const page: { entries: string; next: Buffer | null } = await call(checked, (limits) =>
        native.listFiles(this.use(), place, { ...fields, ...limits }),
      );
      yield* items<FileInfo>(page.entries);
      after = page.next;
    } while (after !== null);
  }

  /** Makes a directory and the missing ones above it; success where it is one already. */
  async makeDirectory(path: PathLike, given?: CallOptions): Promise<void> {
    const checked = options.options("makeDirectory", given, options.CALL);
    await call(checked, (limits) => native.makeDirectory(this.use(), options.path("path", path), limits));
  }

  /** Removes a file, a symlink itself, or a directory (`recursive`: with all below it). */
  async remove(path: PathLike, given?: RemoveOptions): Promise<void> {
    const checked = options.options("remove", given, ["recursive", ...options.CALL]);
    const fields = { recursive: options.truth("recursive", checked.recursive) };
    await call(checked, (limits) => native.remove(this.use(), options.path("path", path), { ...fields, ...limits }));
  }

  /** Moves a file, a symlink itself or a directory to the new path `to`. */
  async move(from: PathLike, to: PathLike, given?: MoveOptions): Promise<FileInfo> {
    const checked = options.options("move", given, MOVE);
    const [source, target, fields] = [options.path("from", from), options.path("to", to), moveFields(checked)];
    return call(checked, (limits) => native.move(this.use(), source, target, { ...fields, ...limits }));
  }

  /** Copies a file, a symlink itself or a whole directory to the new path `to`, or nothing of it. */
  async copy(from: PathLike, to: PathLike, given?: MoveOptions): Promise<TreeCounts> {
    const checked = options.options("copy", given, MOVE);
    const [source, target, fields] = [options.path("from", from), options.path("to", to), moveFields(checked)];
    return call(checked, (limits) => native.copy(this.use(), source, target, { ...fields, ...limits }));
  }

  /** Sets the permission bits of what a path leads to. */
  async setMode(path: PathLike, mode: number, given?: CallOptions): Promise<FileInfo> {
    const checked = options.options("setMode", given, options.CALL);
    const [place, bits] = [options.path("path", path), options.count("mode", mode, 0, 0o7777)];
    return call(checked, (limits) => native.setMode(this.use(), place, bits, limits));
  }

  /** Makes a symlink at `path`; what it leads to need not be there. */
  async makeSymlink(path: PathLike, target: PathLike, given?: CallOptions): Promise<FileInfo> {
    const checked = options.options("makeSymlink", given, options.CALL);
    const [place, leads] = [options.path("path", path), options.path("target", target)];
    return call(checked, (limits) => native.makeSymlink(this.use(), place, leads, limits));
  }
}
