/** Searches: lines that match a pattern, and names that match a glob. */

import { cancelOf, limitsOf, seen, type Cancel } from "./calls.js";
import { codeOfName, type ErrorCode } from "./errors.js";
import type { FileInfo, FileType } from "./files.js";
import { Flow, ITEM_BYTES, Waking } from "./flow.js";
import { items } from "./json.js";
import { native, type Following, type SearchHandle } from "./native.js";
import * as options from "./options.js";
import type { CallOptions, PathLike } from "./options.js";
import { unlinkAtEnd } from "./processes.js";
import { Watches } from "./watches.js";

/** A matching line, or a line beside one. */
export interface GrepLine {
  /** Below the searched directory; of a single file its name. */
  path: string;
  /** Where the name is no UTF-8: its bytes. */
  pathBytes?: Buffer;
  /** From 1. */
  line: number;
  /** Where the first match begins, in bytes from 1; 0 for a context line. */
  column: number;
  /** The line without its end. */
  text: string;
  /** Where the line is no UTF-8: its bytes. */
  textBytes?: Buffer;
  /** Bytes of the line before `text`: above 0 only where it is cut. */
  textOffset: number;
  /** The matches within `text`, in bytes of its UTF-8 form, at most 64. */
  spans: { offset: number; length: number }[];
  isContext: boolean;
  /** `text` is a part of the line, with its first match in view. */
  cut: boolean;
  /** "utf16le" and "utf16be" by a byte order mark; columns are of the UTF-8 form then. */
  encoding: "bytes" | "utf16le" | "utf16be";
}

/** Something found by its name. */
export interface FindEntry {
  path: string;
  pathBytes?: Buffer;
  type: FileType;
  /** With `facts: true`; its path is "". */
  facts: FileInfo | null;
}

/** A file or directory that could not be read. */
export interface SearchProblem {
  path: string;
  pathBytes?: Buffer;
  code: ErrorCode;
  message: string;
}

/** How a search ended, and what it passed. */
export interface SearchSummary {
  /** "limit": there may be more. "deadline" and "cancelled": what was found by then. */
  ended: "complete" | "limit" | "deadline" | "cancelled";
  /** Matching lines or entries given. */
  matches: number;
  /** Of find: entries looked at. */
  filesSearched: number;
  filesMatched: number;
  /** Passed over. */
  filesBinary: number;
  filesTooLarge: number;
  problemCount: number;
  /** The first 16. */
  problems: SearchProblem[];
}

export interface GrepOptions extends CallOptions {
  /** The pattern is plain text; else it is RE2's syntax. */
  literal?: boolean;
  ignoreCase?: boolean;
  wholeWord?: boolean;
  /** Lines on both sides of each match, at most 1,000: 0. */
  context?: number;
  contextBefore?: number;
  contextAfter?: number;
  /** Globs: only files that match one. */
  include?: readonly PathLike[];
  /** Globs of files and directories to pass over. */
  exclude?: readonly PathLike[];
  /** .gitignore, .ignore and .coveignore count: true. */
  useIgnoreFiles?: boolean;
  /** Also what begins with ".". */
  hidden?: boolean;
  /** Larger files are passed over and counted. */
  maxFileBytes?: number;
  /** Matching lines: 100; Infinity = all. */
  limit?: number;
  /** Of a longer line a part is given, 16 to 65,536: 500. */
  maxLineBytes?: number;
}

export interface FindOptions extends CallOptions {
  /** Where to look: ".". */
  path?: PathLike;
  type?: FileType;
  exclude?: readonly PathLike[];
  /** Sizes of files, both included. */
  minBytes?: number;
  maxBytes?: number;
  /** Last changed then or later; a Date or milliseconds since 1970. */
  modifiedFrom?: Date | number;
  /** Last changed before. */
  modifiedUntil?: Date | number;
  useIgnoreFiles?: boolean;
  hidden?: boolean;
  /** 1 = the directory's own entries. */
  maxDepth?: number;
  /** 1,000; Infinity = all. */
  limit?: number;
  /** The `limit` newest of all, newest first, after the walk. */
  newestFirst?: boolean;
  /** Size, mode and times too. */
  facts?: boolean;
}

/**
 * A search that runs. Iterating gives what it finds as it comes; `summary` says the rest.
 *
 *     for await (const line of workspace.grep("TODO", "src")) console.log(line.path, line.line, line.text);
 *
 * A slow reader slows the search down; only some results are held at a time. Leaving the loop early, or dropping
 * the last reference, ends it.
 */
export class Search<Found> extends Flow<Found> {
  readonly #run: SearchHandle;
  readonly #done: Promise<SearchSummary>;

  /** @internal */
  constructor(following: Following<SearchHandle, unknown>, waking: Waking, signal?: AbortSignal) {
    super(waking);
    this.#run = following.run;
    this.#done = (following.done as Promise<SearchSummary>).then(
      (summary) => {
        for (const problem of summary.problems) problem.code = codeOfName(problem.code);
        return summary;
      },
      (error: unknown) => {
        throw seen(error, signal);
      },
    );
    this.#done.catch(() => undefined); // thrown to the reader, if there is one
  }

  /** How the search ended. One whose results nobody reads may wait for that. */
  get summary(): Promise<SearchSummary> {
    return this.#done;
  }

  /** Ends the search; what it found can still be read. Harmless after the end. */
  cancel(): void {
    native.cancelSearch(this.#run);
  }

  override async close(): Promise<void> {
    this.isClosed = true;
    native.discardFound(this.#run);
    await this.#done.catch(() => undefined);
  }

  protected override take(): Found[] | null | undefined {
    const taken = native.takeFound(this.#run, ITEM_BYTES);
    return typeof taken === "string" ? items<Found>(taken) : taken;
  }

  protected override async atEnd(): Promise<void> {
    await this.#done;
  }
}

const GREP = [
  "literal", "ignoreCase", "wholeWord", "context", "contextBefore", "contextAfter", "include", "exclude",
  "useIgnoreFiles", "hidden", "maxFileBytes", "limit", "maxLineBytes", ...options.CALL,
];
const FIND = [
  "path", "type", "exclude", "minBytes", "maxBytes", "modifiedFrom", "modifiedUntil", "useIgnoreFiles", "hidden",
  "maxDepth", "limit", "newestFirst", "facts", ...options.CALL,
];
const TYPES = ["file", "directory", "symlink", "other"] as const;
const U32 = 2 ** 32 - 1;

function context(name: string, value: number | undefined, both: number | undefined): number {
  return options.count(name, value ?? both ?? 0, 0, 1000);
}

function grepFields(given: Partial<GrepOptions>): Record<string, unknown> {
  return {
    literal: options.truth("literal", given.literal),
    ignoreCase: options.truth("ignoreCase", given.ignoreCase),
    wholeWord: options.truth("wholeWord", given.wholeWord),
    hidden: options.truth("hidden", given.hidden),
    noIgnoreFiles: !options.truthUnlessSaid("useIgnoreFiles", given.useIgnoreFiles),
    contextBefore: context("contextBefore", given.contextBefore, given.context),
    contextAfter: context("contextAfter", given.contextAfter, given.context),
    include: options.paths("include", given.include),
    exclude: options.paths("exclude", given.exclude),
    maxFileBytes: options.optionalCount("maxFileBytes", given.maxFileBytes),
    limit: options.limit("limit", given.limit, 100),
    maxLineBytes: given.maxLineBytes === undefined ? 0 : options.count("maxLineBytes", given.maxLineBytes, 16, 65_536),
  };
}

function findFields(given: Partial<FindOptions>): Record<string, unknown> {
  const type = given.type === undefined ? 0 : TYPES.indexOf(options.oneOf("type", given.type, TYPES)) + 1;
  return {
    type,
    hidden: options.truth("hidden", given.hidden),
    noIgnoreFiles: !options.truthUnlessSaid("useIgnoreFiles", given.useIgnoreFiles),
    newestFirst: options.truth("newestFirst", given.newestFirst),
    facts: options.truth("facts", given.facts),
    exclude: options.paths("exclude", given.exclude),
    minBytes: given.minBytes === undefined ? 0 : options.count("minBytes", given.minBytes, 0, Number.MAX_SAFE_INTEGER),
    maxBytes: options.keptBytes("maxBytes", given.maxBytes),
    modifiedFromMs: options.time("modifiedFrom", given.modifiedFrom),
    modifiedUntilMs: options.time("modifiedUntil", given.modifiedUntil),
    maxDepth: options.optionalCount("maxDepth", given.maxDepth, U32),
    limit: options.limit("limit", given.limit, 1000),
  };
}

/** @internal The searches of a Workspace. */
export abstract class Searches extends Watches {
  /**
   * Searches the files below a directory, or one file, for lines that match; see Search. `timeoutMs` and `signal` end
   * it with what it has found by then.
   */
  grep(pattern: PathLike, path: PathLike = ".", given?: GrepOptions): Search<GrepLine> {
    const checked = options.options("grep", given, GREP);
    const [wanted, place] = [options.path("pattern", pattern), options.path("path", path)];
    const fields = grepFields(checked);
    return this.#search(checked, (cancel, wake) =>
      native.grep(this.use(), place, wanted, { ...fields, ...limitsOf(checked, cancel) }, wake),
    );
  }

  /** Looks for names below a directory; `glob` "" = everything. See Search. */
  find(glob: PathLike = "", given?: FindOptions): Search<FindEntry> {
    const checked = options.options("find", given, FIND);
    const [name, place] = [options.path("glob", glob), options.path("path", checked.path ?? ".")];
    const fields = { glob: name, ...findFields(checked) };
    return this.#search(checked, (cancel, wake) =>
      native.find(this.use(), place, { ...fields, ...limitsOf(checked, cancel) }, wake),
    );
  }

  #search<Found>(
    given: Partial<CallOptions>,
    start: (cancel: Cancel | undefined, wake: () => void) => Following<SearchHandle, unknown>,
  ): Search<Found> {
    const waking = new Waking();
    const cancel = cancelOf(given);
    const following = start(cancel, waking.wake);
    unlinkAtEnd(following.done, cancel);
    return new Search<Found>(following, waking, given.signal);
  }
}
