/** What comes piece by piece: taken from the addon as its reader goes on, so that a slow one slows it down. */

/// <reference lib="esnext.disposable" />
import { Readable } from "node:stream";
import { ReadableStream } from "node:stream/web";

/** Symbol.asyncDispose, which Node 18 may lack. */
export const asyncDispose: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? (Symbol.for("Symbol.asyncDispose") as typeof Symbol.asyncDispose);

/** About so many bytes are taken from the addon at once. */
export const TAKE_BYTES = 256 << 10;

/** Of items, which are made objects at once, about so many bytes of JSON. */
export const ITEM_BYTES = 64 << 10;

/** Hears from the addon that there is something to take. Holds nothing of what it wakes. */
export class Waking {
  #resolve: (() => void) | undefined;

  /** Given to the addon. */
  readonly wake = (): void => {
    const resolve = this.#resolve;
    this.#resolve = undefined;
    resolve?.();
  };

  /** The next wake. One waits at a time. */
  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }
}

/** A turn of the event loop, so that a reader that never waits does not keep it from everything else. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Items that come as they are read. Leaving a `for await` early, `close()` and `await using` end what
 * gives them. For one reader.
 */
export abstract class Flow<Item> implements AsyncIterableIterator<Item>, AsyncDisposable {
  readonly #waking: Waking;
  #pieces: AsyncGenerator<Item, undefined, undefined> | undefined;

  /** @internal Set by `close`: nothing is given any more. */
  protected isClosed = false;

  /** @internal */
  protected constructor(waking: Waking) {
    this.#waking = waking;
  }

  /** @internal Items; null at the end; undefined where nothing is there yet. */
  protected abstract take(): Item[] | null | undefined;

  /** @internal After the last item: throws what ended it. */
  protected abstract atEnd(): Promise<void>;

  /** Ends it if it still goes on, waits for that, and throws unread items away. May be repeated. */
  abstract close(): Promise<void>;

  /** The next item, as an async iterator gives it. */
  next(): Promise<IteratorResult<Item, undefined>> {
    this.#pieces ??= this.#read();
    return this.#pieces.next();
  }

  /** Ends it, as leaving a `for await` does. */
  async return(): Promise<IteratorResult<Item, undefined>> {
    await this.close();
    return { done: true, value: undefined };
  }

  /** Gives its items as they come; there is one reader. */
  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Ends it, as `close`. */
  async [asyncDispose](): Promise<void> {
    await this.close();
  }

  /** All that is left, at once. */
  async toArray(): Promise<Item[]> {
    const items: Item[] = [];
    for await (const item of this) items.push(item);
    return items;
  }

  async *#read(): AsyncGenerator<Item, undefined, undefined> {
    let waited = true;
    for (;;) {
      const items = this.isClosed ? null : this.take();
      if (items === null) {
        if (!this.isClosed) await this.atEnd();
        return undefined;
      }
      if (items === undefined) {
        await this.#waking.wait();
        waited = true;
        continue;
      }
      if (!waited) await turn();
      waited = false;
      for (const item of items) {
        if (this.isClosed) return undefined;
        yield item;
      }
    }
  }
}

/** Bytes as a Node stream; destroying it ends what gives them. */
export function readableOf(pieces: AsyncIterable<Buffer>): Readable {
  return Readable.from(pieces, { objectMode: false, highWaterMark: 64 << 10 });
}

/** Bytes as a web stream, read as they are asked for; cancelling it ends what gives them. */
export function webStreamOf(pieces: AsyncIterable<Buffer>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = await iterator.next();
        if (piece.done === true) controller.close();
        else controller.enqueue(piece.value);
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
