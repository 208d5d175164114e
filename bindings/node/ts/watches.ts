/** Watches: what changes below a directory, as it is seen. */

import { CoveError } from "./errors.js";
import { cancelOf, limitsOf, seen } from "./calls.js";
import { Flow, ITEM_BYTES, Waking } from "./flow.js";
import { items } from "./json.js";
import { native, type Following, type WatchHandle } from "./native.js";
import * as options from "./options.js";
import type { CallOptions, PathLike } from "./options.js";
import { unlinkAtEnd } from "./processes.js";
import { Transfers } from "./transfers.js";

/** A change: where to look, not what happened in detail. Two may come as one, and one twice. */
export interface FileEvent {
  /** "overflow": some were lost, list again. */
  change: "created" | "modified" | "removed" | "moved" | "attributes" | "overflow";
  /** Below the watched directory; "" = that directory itself. */
  path: string;
  pathBytes?: Buffer;
  /** Where it was before "moved"; else "". */
  oldPath: string;
  oldPathBytes?: Buffer;
  isDirectory: boolean;
}

export interface WatchOptions extends CallOptions {
  /** Also directories below, and that appear later: true. */
  recursive?: boolean;
  /** More end it with QUOTA_EXCEEDED, at most 100,000: 20,000. */
  maxDirectories?: number;
}

/**
 * A watch that runs. Iterating waits for the next change and gives it.
 *
 *     for await (const event of workspace.watch("src")) console.log(event.change, event.path);
 *
 * It ends by leaving the loop or by `cancel`; what else ends it is thrown. Changes that nobody reads wait, and become
 * one "overflow" when they are too many. While it runs the workspace does not go idle.
 */
export class Watch extends Flow<FileEvent> {
  readonly #run: WatchHandle;
  readonly #done: Promise<void>;
  #ended = false;

  /** @internal */
  constructor(following: Following<WatchHandle, void>, waking: Waking, signal?: AbortSignal) {
    super(waking);
    this.#run = following.run;
    this.#done = following.done.catch((error: unknown) => {
      throw seen(error, signal);
    });
    this.#done.catch(() => undefined); // thrown to the reader, if there is one
  }

  /** Ends the watch; changes that came can still be read. Harmless after the end. */
  cancel(): void {
    this.#ended = true;
    native.cancelWatch(this.#run);
  }

  override async close(): Promise<void> {
    this.isClosed = true;
    this.cancel();
    await this.#done.catch(() => undefined);
    while (native.takeEvents(this.#run, Infinity)) continue; // thrown away
  }

  protected override take(): FileEvent[] | null | undefined {
    const taken = native.takeEvents(this.#run, ITEM_BYTES);
    return typeof taken === "string" ? items<FileEvent>(taken) : taken;
  }

  protected override async atEnd(): Promise<void> {
    try {
      await this.#done;
    } catch (error) {
      if (this.#ended && error instanceof CoveError && error.code === "CANCELLED") return;
      throw error;
    }
  }
}

/** @internal The watches of a Workspace. */
export abstract class Watches extends Transfers {
  /** Watches a directory, also those below it; see Watch. */
  watch(path: PathLike = ".", given?: WatchOptions): Watch {
    const checked = options.options("watch", given, ["recursive", "maxDirectories", ...options.CALL]);
    const place = options.path("path", path);
    const fields = {
      notRecursive: !options.truthUnlessSaid("recursive", checked.recursive),
      maxDirectories: options.optionalCount("maxDirectories", checked.maxDirectories, 100_000),
    };
    const waking = new Waking();
    const cancel = cancelOf(checked);
    const following = native.watch(this.use(), place, { ...fields, ...limitsOf(checked, cancel) }, waking.wake);
    unlinkAtEnd(following.done, cancel);
    return new Watch(following, waking, checked.signal);
  }
}
