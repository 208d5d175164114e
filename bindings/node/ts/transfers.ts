/** Files of any size, and directories as tar streams. */

import type { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { types } from "node:util";
import { CoveError } from "./errors.js";
import { limitsOf, ownCancel, seen, type Cancel } from "./calls.js";
import { Files, UPLOAD_NAMES, writeFields, type FileInfo, type TreeCounts, type UploadOptions } from "./files.js";
import { Flow, TAKE_BYTES, Waking, readableOf, turn, webStreamOf } from "./flow.js";
import { native, type DownloadHandle, type Following, type UploadHandle } from "./native.js";
import * as options from "./options.js";
import type { CallOptions, Data, PathLike } from "./options.js";
import { unlinkAtEnd } from "./processes.js";

/** Is told how many bytes are done and, where it is known, of how many. */
export type OnProgress = (done: number, total: number | null) => unknown;

export interface TransferOptions extends CallOptions {
  onProgress?: OnProgress;
}

/** What is sent: bytes, or pieces of any size. A Node stream, a web stream and a Blob are such, too. */
export type Source = Data | Blob | Iterable<Data> | AsyncIterable<Data>;

function checkProgress(value: unknown): OnProgress | undefined {
  if (value === undefined || typeof value === "function") return value as OnProgress | undefined;
  throw new TypeError("onProgress must be a function");
}

/**
 * A file, or a directory as a tar stream. Iterating gives it piece by piece.
 *
 *     await pipeline(workspace.download("out/chart.png").readable(), fs.createWriteStream("chart.png"));
 *
 * A slow reader slows it down; about 1 MiB is held. Leaving a loop early, or dropping the last reference, ends it.
 */
export class Download extends Flow<Buffer> {
  readonly #run: DownloadHandle;
  readonly #done: Promise<void>;
  readonly #onProgress: OnProgress | undefined;
  #taken = 0;
  #total: number | null = null;

  /** @internal */
  constructor(following: Following<DownloadHandle, void>, waking: Waking, given: Partial<TransferOptions>) {
    super(waking);
    const signal = given.signal;
    this.#run = following.run;
    this.#onProgress = given.onProgress;
    this.#done = following.done.catch((error: unknown) => {
      throw seen(error, signal);
    });
    this.#done.catch(() => undefined); // thrown to the reader, if there is one
  }

  /** All that is left, in one Buffer. */
  async bytes(): Promise<Buffer> {
    return Buffer.concat(await this.toArray());
  }

  /** As a Node stream; destroying it ends the download. */
  readable(): Readable {
    return readableOf(this);
  }

  /** As a web stream; cancelling it ends the download. */
  webStream(): ReadableStream<Uint8Array> {
    return webStreamOf(this);
  }

  override async close(): Promise<void> {
    this.isClosed = true;
    native.endDownload(this.#run);
    await this.#done.catch(() => undefined);
  }

  protected override take(): Buffer[] | null | undefined {
    const taken = native.takePieces(this.#run, TAKE_BYTES);
    if (taken === null || taken === undefined) return taken;
    const pieces: Buffer[] = [];
    for (const item of taken) {
      if (typeof item === "number") {
        this.#total = item < 0 ? null : item; // comes once, before the first piece
      } else {
        pieces.push(item);
        this.#taken += item.length;
        this.#onProgress?.(this.#taken, this.#total);
      }
    }
    return pieces;
  }

  protected override async atEnd(): Promise<void> {
    await this.#done;
  }
}

async function* once(data: Data): AsyncGenerator<Data, void, undefined> {
  yield data;
}

function piecesOf(source: unknown): AsyncIterator<unknown> | Iterator<unknown> {
  if (typeof source === "string" || types.isUint8Array(source)) return once(source);
  if (typeof source === "object" && source !== null) {
    const { stream } = source as Partial<Blob>;
    if (typeof stream === "function") return piecesOf(stream.call(source));
    if (Symbol.asyncIterator in source) return (source as AsyncIterable<unknown>)[Symbol.asyncIterator]();
    if (Symbol.iterator in source) return (source as Iterable<unknown>)[Symbol.iterator]();
  }
  throw new TypeError("source must be bytes, a string, a Blob, a stream, or an iterable of bytes");
}

/** So many pieces of a source are taken in one turn of the event loop. */
const PIECES_A_TURN = 16;

/** About so many bytes are on their way at once; past it the source waits. */
const ON_THE_WAY = 1 << 20;

/** An upload that is given its pieces. */
class Upload<Result> {
  #done = 0;
  #ended = false;
  #atEnd: (() => void) | undefined;
  /** Pieces that were given and not answered, oldest first. */
  readonly #given: { size: number; written: Promise<void> }[] = [];
  #onTheWay = 0;

  constructor(
    private readonly run: UploadHandle,
    private readonly done: Promise<Result>,
    private readonly onProgress: OnProgress | undefined,
    private readonly signal: AbortSignal | undefined,
  ) {
    const end = (): void => {
      this.#ended = true;
      this.#atEnd?.();
    };
    done.then(end, end);
  }

  /** Gives the pieces until there are no more, or the call has ended. What the source throws is thrown. */
  async serve(pieces: AsyncIterator<unknown> | Iterator<unknown>): Promise<Result> {
    try {
      await this.#giveAll(pieces);
      await this.#settle(0);
    } catch (error) {
      native.cancelUpload(this.run);
      // A piece is refused where the upload is over: what ended it is the reason.
      const why = await this.done.then(() => error, (reason: unknown) => reason);
      if (!(error instanceof CoveError) || error.code !== "FAILED_PRECONDITION") throw error;
      const isOurs = why instanceof CoveError && why.code === "CANCELLED" && this.signal?.aborted !== true;
      throw isOurs ? error : why;
    }
    native.finishUpload(this.run);
    return this.done;
  }

  async #giveAll(pieces: AsyncIterator<unknown> | Iterator<unknown>): Promise<void> {
    for (let count = 1; ; ++count) {
      if (count % PIECES_A_TURN === 0) await turn(); // a source that never waits keeps nobody from anything
      const piece = await this.#unlessEnded(pieces.next());
      if (piece === undefined) {
        // The source may be waiting itself; nobody waits for it any more.
        Promise.resolve(pieces.return?.()).catch(() => undefined);
        return;
      }
      if (piece.done === true) return;
      const bytes = options.data("a piece of source", piece.value);
      for (let at = 0; at < bytes.length && !this.#ended; at += TAKE_BYTES) {
        await this.#give(bytes.subarray(at, at + TAKE_BYTES));
      }
    }
  }

  async #give(piece: Buffer): Promise<void> {
    const written = native.givePiece(this.run, piece);
    written.catch(() => undefined); // thrown by #settle, or by the upload itself
    this.#given.push({ size: piece.length, written });
    this.#onTheWay += piece.length;
    await this.#settle(ON_THE_WAY);
  }

  /** Waits until at most so many bytes are on their way. */
  async #settle(most: number): Promise<void> {
    while (this.#onTheWay > most) {
      const oldest = this.#given.shift();
      if (oldest === undefined) return;
      await oldest.written;
      this.#onTheWay -= oldest.size;
      this.#done += oldest.size;
      this.onProgress?.(this.#done, null);
    }
  }

  /** What `next` gives; undefined once the call has ended. */
  #unlessEnded<T>(next: T | Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      this.#atEnd = () => resolve(undefined);
      if (this.#ended) this.#atEnd();
      Promise.resolve(next).then(resolve, reject);
    });
  }
}

/** @internal The transfers of a Workspace. */
export abstract class Transfers extends Files {
  /** A file of any size, as it is read. */
  download(path: PathLike, given?: TransferOptions): Download {
    return this.#download("download", path, false, given);
  }

  /** A directory as a tar stream. */
  downloadTree(path: PathLike, given?: TransferOptions): Download {
    return this.#download("downloadTree", path, true, given);
  }

  /**
   * Creates or replaces a file of any size from `source`, as a whole: what the source throws is thrown, and leaves the
   * old file.
   */
  async upload(path: PathLike, source: Source, given?: UploadOptions & TransferOptions): Promise<FileInfo> {
    const checked = options.options("upload", given, [...UPLOAD_NAMES, "onProgress"]);
    const [place, fields] = [options.path("path", path), writeFields(checked)];
    return this.#upload(source, checked, (cancel) =>
      native.upload(this.use(), place, { ...fields, ...limitsOf(checked, cancel) }),
    );
  }

  /** Places a tar stream below a directory, which is made where it is missing; as `upload`. */
  async uploadTree(path: PathLike, source: Source, given?: TransferOptions): Promise<TreeCounts> {
    const checked = options.options("uploadTree", given, ["onProgress", ...options.CALL]);
    const place = options.path("path", path);
    return this.#upload(source, checked, (cancel) =>
      native.uploadTree(this.use(), place, limitsOf(checked, cancel)),
    );
  }

  #download(name: string, path: PathLike, isTree: boolean, given?: TransferOptions): Download {
    const checked = options.options(name, given, ["onProgress", ...options.CALL]);
    checkProgress(checked.onProgress);
    const place = options.path("path", path);
    const waking = new Waking();
    const cancel = ownCancel(checked);
    const following = native.download(this.use(), place, isTree, limitsOf(checked, cancel), waking.wake);
    unlinkAtEnd(following.done, cancel);
    return new Download(following, waking, checked);
  }

  async #upload<Result>(
    source: unknown,
    given: Partial<TransferOptions>,
    start: (cancel: Cancel) => Following<UploadHandle, unknown>,
  ): Promise<Result> {
    const onProgress = checkProgress(given.onProgress);
    const pieces = piecesOf(source);
    const cancel = ownCancel(given);
    const { run, done } = start(cancel);
    unlinkAtEnd(done, cancel);
    try {
      return await new Upload(run, done as Promise<Result>, onProgress, given.signal).serve(pieces);
    } catch (error) {
      throw seen(error, given.signal, this.upload);
    }
  }
}
