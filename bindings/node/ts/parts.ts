/** Parts of one's own: a clock that is set ahead, and a metadata store. */

import { call } from "./calls.js";
import { CoveError, numberOf } from "./errors.js";
import { native, type ClockHandle, type CoveHandle, type DoneHandle } from "./native.js";
import * as options from "./options.js";
import type { PathLike } from "./options.js";

/**
 * The machine's clock, which can be set ahead: `Cove.open({ clock })` goes by it, with its time limits, pauses and
 * leases, and the time of its own stores. For tests and demonstrations: no other process uses the stores meanwhile.
 *
 *     const clock = new FakeClock();
 *     const cove = await Cove.open({ stateDir, clock });
 *     clock.advance(2 * 3_600_000);
 *     await cove.sweep();
 */
export class FakeClock {
  /** @internal */
  readonly handle: ClockHandle = native.clockCreate();
  readonly #coves = new Set<CoveHandle>();

  /** Sets the clock ahead: what its Coves waited for goes on, where its time has come. */
  advance(ms: number): void {
    if (typeof ms !== "number" || !(ms >= 0) || !Number.isFinite(ms)) {
      throw new RangeError(`ms must be 0 or more, not ${String(ms)}`);
    }
    native.clockAdvance(this.handle, ms);
    for (const cove of this.#coves) native.clockMoved(cove);
  }

  /** @internal */
  follow(cove: CoveHandle): void {
    this.#coves.add(cove);
  }

  /** @internal */
  leave(cove: CoveHandle): void {
    this.#coves.delete(cove);
  }
}

/** The kinds of documents. */
export type DocumentKind = "deployment" | "sandbox" | "source" | "lease" | "quota" | "tombstone";

/** What names a document. */
export interface DocumentId {
  kind: DocumentKind;
  /** Bytes, nearly always UTF-8. */
  name: Buffer;
}

/** A document: text, and the few values that it is found by. */
export interface StoreDocument extends DocumentId {
  /** A store does not look inside. */
  body: Buffer;
  /** "" = none, which no filter matches; also of the next two. */
  state: string;
  source: string;
  node: string;
  /** Milliseconds since 1970 by the store's time; null = none. */
  activeAtMs: number | null;
  heartbeatMs: number | null;
}

export interface VersionedDocument extends StoreDocument {
  /** Only grows, and is never used again, not even after a removal. */
  version: number;
}

/** Which documents are wanted. A filter that is null lets all pass. */
export interface DocumentQuery {
  kind: DocumentKind;
  /** "name"; the others go by that time, then by name, without documents that have none. */
  order: "name" | "active" | "heartbeat";
  /** Documents at most. */
  limit: number;
  state: string | null;
  source: string | null;
  node: string | null;
  activeBeforeMs: number | null;
  heartbeatBeforeMs: number | null;
  /** Only documents behind this place; the time is 0 where it goes by name. */
  after: { timeMs: number; name: Buffer } | null;
}

/** Some documents of a query. */
export interface DocumentPage {
  /** In the query's order. */
  documents: VersionedDocument[];
  /** Whether no more follow. */
  isLast: boolean;
}

type Awaitable<T> = T | Promise<T>;

/**
 * Where the records of a Cove live: `Cove.open({ metadata })`. Its methods must not call the Cove whose part they are.
 * What they throw is the error of whoever asked: a CoveError as it is, anything else as INTERNAL. One document changes
 * as a whole, in an order that all see alike. `durable` = it lasts over a crash of the machine when it is answered.
 */
export interface MetadataStore {
  /** Adds a document that is not there, and gives its version; ALREADY_EXISTS: it is there. */
  insert(document: StoreDocument, durable: boolean): Awaitable<number>;
  /** Reads a document; null where it is absent. */
  find(id: DocumentId): Awaitable<VersionedDocument | null>;
  /** Replaces a document if its version is `expected`, and gives the new, greater one; else CONFLICT. */
  compareAndSwap(document: StoreDocument, expected: number, durable: boolean): Awaitable<number>;
  /** Removes a document, durably, if its version is `expected`; else CONFLICT. */
  remove(id: DocumentId, expected: number): Awaitable<void>;
  /** Reads documents; see selectDocuments. */
  query(query: DocumentQuery): Awaitable<DocumentPage>;
  /** The store's time, the same for all who use it: Date.now(). */
  nowMs?(): Awaitable<number>;
}

const KINDS: readonly string[] = ["", "deployment", "sandbox", "source", "lease", "quota", "tombstone"];
const ORDERS: readonly DocumentQuery["order"][] = ["name", "active", "heartbeat"];
const METHODS = ["insert", "find", "compareAndSwap", "remove", "query"] as const;

function holds(wanted: string | null, value: string): boolean {
  return wanted === null || (value !== "" && value === wanted);
}

function isBefore(before: number | null, value: number | null): boolean {
  return before === null || (value !== null && value < before);
}

function matches(query: DocumentQuery, document: StoreDocument): boolean {
  return (
    document.kind === query.kind &&
    holds(query.state, document.state) &&
    holds(query.source, document.source) &&
    holds(query.node, document.node) &&
    isBefore(query.activeBeforeMs, document.activeAtMs) &&
    isBefore(query.heartbeatBeforeMs, document.heartbeatMs)
  );
}

/** Where a document stands in an order; undefined where it has no place. */
function placeOf(query: DocumentQuery, document: StoreDocument): number | undefined {
  if (query.order === "name") return 0;
  return (query.order === "active" ? document.activeAtMs : document.heartbeatMs) ?? undefined;
}

/** The answer to a query, of all documents that there are: for stores that hold them in memory. */
export function selectDocuments(query: DocumentQuery, documents: Iterable<VersionedDocument>): DocumentPage {
  const { after } = options.object("query", query, "a DocumentQuery");
  if (after !== null) options.object("query.after", after, "{timeMs, name} or null");
  if (typeof (documents as Partial<Iterable<unknown>> | null | undefined)?.[Symbol.iterator] !== "function") {
    throw new TypeError("documents must be an iterable of documents");
  }
  const found: { timeMs: number; document: VersionedDocument }[] = [];
  for (const document of documents) {
    options.object("each of documents", document, "a VersionedDocument");
    const timeMs = placeOf(query, document);
    if (timeMs === undefined || !matches(query, document)) continue;
    const behind = after === null || timeMs > after.timeMs;
    if (behind || (timeMs === after.timeMs && Buffer.compare(document.name, after.name) > 0)) {
      found.push({ timeMs, document });
    }
  }
  found.sort((a, b) => a.timeMs - b.timeMs || Buffer.compare(a.document.name, b.document.name));
  return {
    documents: found.slice(0, query.limit).map((entry) => entry.document),
    isLast: found.length <= query.limit,
  };
}

/** What the addon asks with: members as it gives them. */
interface RawQuestion {
  kind: number;
  name: Buffer;
  body: Buffer;
  state: string;
  source: string;
  node: string;
  activeAtMs: number | null;
  heartbeatMs: number | null;
  expected: number;
  durable: boolean;
}

interface RawQuery extends Omit<DocumentQuery, "kind" | "order" | "after"> {
  kind: number;
  order: number;
  afterName: Buffer | null;
  afterMs: number;
}

function idOf(raw: RawQuestion): DocumentId {
  return { kind: KINDS[raw.kind] as DocumentKind, name: raw.name };
}

function documentOf(raw: RawQuestion): StoreDocument {
  const { body, state, source, node, activeAtMs, heartbeatMs } = raw;
  return { ...idOf(raw), body, state, source, node, activeAtMs, heartbeatMs };
}

function queryOf(raw: RawQuery): DocumentQuery {
  const { kind, order, afterName, afterMs, ...rest } = raw;
  const after = afterName === null ? null : { timeMs: order === 0 ? 0 : afterMs, name: afterName };
  return { ...rest, kind: KINDS[kind] as DocumentKind, order: ORDERS[order] ?? "name", after };
}

function given(document: VersionedDocument): object {
  options.object("a document", document, "a VersionedDocument");
  const kind = KINDS.indexOf(document.kind);
  if (kind < 1) throw new TypeError(`a document's kind is ${String(document.kind)}, which is none`);
  return { ...document, kind, name: Buffer.from(document.name), body: Buffer.from(document.body) };
}

function numberGiven(what: string, value: unknown): number {
  if (!Number.isSafeInteger(value)) throw new TypeError(`${what} must be a whole number, not ${String(value)}`);
  return value as number;
}

/** Asks the store, and gives what answers C; it may throw. */
async function answerTo(store: MetadataStore, slot: string, raw: RawQuestion & RawQuery): Promise<(d: DoneHandle) => void> {
  switch (slot) {
    case "insert": {
      const version = numberGiven("a version", await store.insert(documentOf(raw), raw.durable));
      return (done) => native.answerVersion(done, version);
    }
    case "find": {
      const found = await store.find(idOf(raw));
      const document = found === null || found === undefined ? null : given(found);
      return (done) => native.answerDocument(done, document);
    }
    case "compareAndSwap": {
      const swapped = await store.compareAndSwap(documentOf(raw), raw.expected, raw.durable);
      const version = numberGiven("a version", swapped);
      return (done) => native.answerVersion(done, version);
    }
    case "remove":
      await store.remove(idOf(raw), raw.expected);
      return (done) => native.answerDone(done);
    case "query": {
      const page = await store.query(queryOf(raw));
      const found = options.object("the answer to a query", page, "{documents, isLast}").documents;
      const documents = options.list("documents", found).map((document) => given(document as VersionedDocument));
      return (done) => native.answerDocuments(done, documents, page.isLast);
    }
    default: {
      const time = numberGiven("the store's time", Math.floor(await (store.nowMs?.() ?? Date.now())));
      return (done) => native.answerTime(done, time);
    }
  }
}

/** What the store threw, as the answer. */
function refuse(done: DoneHandle, error: unknown): void {
  const known = error instanceof CoveError;
  const said = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const message = known ? error.reason : `the metadata store threw ${said}`;
  const code = numberOf(known ? error.code : "INTERNAL");
  native.answerFailure(done, code, message.replaceAll("\0", " "), known ? (error.retryAfterMs ?? -1) : -1);
}

export type Ask = (slot: string, raw: RawQuestion & RawQuery, done: DoneHandle) => void;

/** @internal What the addon asks. It never throws: what is wrong with an answer, whoever asked hears. */
export function asker(store: MetadataStore): Ask {
  for (const name of METHODS) {
    if (typeof store?.[name] !== "function") throw new TypeError(`metadata.${name} must be a function`);
  }
  return (slot, raw, done) => {
    answerTo(store, slot, raw).then(
      (answer) => {
        try {
          // Nobody may wait any more; then it is only let go of.
          if (!native.isDoneOver(done)) answer(done);
        } catch {
          // Refused by the library, which told whoever asked.
        }
      },
      (error: unknown) => {
        if (!native.isDoneOver(done)) refuse(done, error);
      },
    );
  };
}

/** Writes the cove-agent of the library, a static program, to a file that anybody may run. */
export async function writeAgent(path: PathLike): Promise<void> {
  const file = options.path("path", path);
  await call({}, () => native.writeAgent(file));
}
