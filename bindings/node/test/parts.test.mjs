// Parts of a program's own: a clock that is set ahead, a metadata store, and the agent's program.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { Cove, CoveError, FakeClock, sandboxIdOf, selectDocuments, writeAgent } from "cove-workspace";
import { runNode } from "./support.mjs";

const ANA = { sourceType: "app", sourceId: "parts-node", userId: "ana" };
let folder;
before(() => { folder = fs.mkdtempSync(path.join(os.tmpdir(), "cove-parts-")); });
after(() => fs.rmSync(folder, { recursive: true, force: true }));

/** Documents in a Map, answered a turn of the event loop later. */
class MapStore {
  documents = new Map();
  lastVersion = 0;
  asked = [];

  #key({ kind, name }) { return `${kind}/${name.toString("hex")}`; }

  async #turn(slot) {
    this.asked.push(slot);
    await new Promise((resolve) => setImmediate(resolve));
  }

  #put(document) {
    this.documents.set(this.#key(document), { ...document, version: ++this.lastVersion });
    return this.lastVersion;
  }

  #check(id, expected) {
    const found = this.documents.get(this.#key(id));
    if (found?.version !== expected) throw new CoveError("CONFLICT", "somebody else changed it");
  }

  async insert(document) {
    await this.#turn("insert");
    if (this.documents.has(this.#key(document))) throw new CoveError("ALREADY_EXISTS", "it is there");
    return this.#put(document);
  }
  async find(id) {
    await this.#turn("find");
    return this.documents.get(this.#key(id)) ?? null;
  }
  async compareAndSwap(document, expected) {
    await this.#turn("compareAndSwap");
    this.#check(document, expected);
    return this.#put(document);
  }
  async remove(id, expected) {
    await this.#turn("remove");
    this.#check(id, expected);
    this.documents.delete(this.#key(id));
  }
  async query(query) {
    await this.#turn("query");
    return selectDocuments(query, this.documents.values());
  }
}

test("a store in JavaScript holds the records, over another Cove", async () => {
  const metadata = new MapStore();
  const stateDir = path.join(folder, "store");
  let cove = await Cove.open({ stateDir, metadata });
  let workspace = await cove.acquire(ANA, { chatId: "c1" });
  await workspace.writeFile("note.txt", "hello");
  await workspace.close();
  const ids = [];
  for await (const status of cove.list()) ids.push(status.sandboxId);
  assert.deepEqual(ids, [sandboxIdOf(ANA)]);
  await cove.close();
  assert.ok(metadata.asked.includes("compareAndSwap") && metadata.asked.includes("query"));

  cove = await Cove.open({ stateDir, metadata });
  workspace = await cove.acquire(ANA, { chatId: "c1" });
  assert.equal(workspace.work, "none");
  assert.equal((await workspace.readFile("note.txt")).toString(), "hello");
  await workspace.close();
  await cove.destroy(sandboxIdOf(ANA));
  await cove.close();
});

test("what a store throws is the error of whoever asked", async () => {
  class Broken extends MapStore {
    query() { throw new TypeError("oh no"); }
    async find(id) {
      if (id.kind === "sandbox") throw new CoveError("UNAVAILABLE", "the database is away", { retryAfterMs: 250 });
      return super.find(id);
    }
  }
  const cove = await Cove.open({ stateDir: path.join(folder, "broken"), metadata: new Broken() });
  await assert.rejects(cove.status(sandboxIdOf(ANA)), (error) =>
    error.code === "UNAVAILABLE" && error.reason === "the database is away" && error.retryAfterMs === 250);
  const listing = (async () => { for await (const status of cove.list()) assert.fail(status.sandboxId); })();
  await assert.rejects(listing, (error) => error.code === "INTERNAL" && error.message.includes("oh no"));
  await cove.close();
});

test("an answer that makes no sense is an internal error that says what", async () => {
  class Wrong extends MapStore {
    async find(id) {
      return id.kind === "sandbox" ? { version: "one" } : super.find(id);
    }
    async query() {
      return this.answer;
    }
  }
  const metadata = new Wrong();
  const cove = await Cove.open({ stateDir: path.join(folder, "wrong"), metadata });
  await assert.rejects(cove.status(sandboxIdOf(ANA)), { code: "INTERNAL" });
  for (const [answer, said] of [
    [null, /the answer to a query must be {documents, isLast}, not null/],
    [{}, /documents must be a list, not undefined/],
    [{ documents: [null], isLast: true }, /a document must be a VersionedDocument, not null/],
  ]) {
    metadata.answer = answer;
    await assert.rejects(cove.list().next(), (error) => error.code === "INTERNAL" && said.test(error.message));
  }
  await cove.close();
});

test("selectDocuments names an argument that is wrong", () => {
  const query = {
    kind: "sandbox", order: "name", limit: 10, state: null, source: null, node: null, activeBeforeMs: null,
    heartbeatBeforeMs: null, after: null,
  };
  assert.deepEqual(selectDocuments(query, []), { documents: [], isLast: true });
  for (const wrong of [undefined, null, 7, {}]) {
    assert.throws(() => selectDocuments(query, wrong), { name: "TypeError", message: /^documents must be an iterable/ });
  }
  for (const wrong of [null, undefined, 7]) {
    assert.throws(() => selectDocuments(query, [wrong]), { name: "TypeError", message: /^each of documents must be/ });
    assert.throws(() => selectDocuments(wrong, []), { name: "TypeError", message: /^query must be a DocumentQuery/ });
  }
  assert.throws(() => selectDocuments({ ...query, after: undefined }, []), { name: "TypeError", message: /^query.after must/ });
});

test("a store that does not answer is waited for as long as the call lasts", async () => {
  class Silent extends MapStore {
    find(id) { return id.kind === "sandbox" ? new Promise(() => {}) : super.find(id); }
  }
  const cove = await Cove.open({ stateDir: path.join(folder, "silent"), metadata: new Silent() });
  await assert.rejects(cove.status(sandboxIdOf(ANA), { timeoutMs: 50 }), { code: "TIMEOUT" });
  await cove.close();
});

/** A store that is silent about sandboxes, and says so once it is asked. */
const SILENT = `
  const silent = (heard) => {
    const documents = new Map();
    const key = (id) => id.kind + "/" + id.name.toString("hex");
    let last = 0;
    const put = (document) => { documents.set(key(document), { ...document, version: ++last }); return last; };
    return {
      insert: put,
      compareAndSwap: put,
      find: (id) => id.kind === "sandbox" ? new Promise(() => heard()) : documents.get(key(id)) ?? null,
      remove: (id) => void documents.delete(key(id)),
      query: () => ({ documents: [], isLast: true }),
    };
  };`;

test("a program may exit while its store owes an answer, at once and quietly", async () => {
  const done = await runNode(
    `import { Cove } from "cove-workspace";
     ${SILENT}
     const cove = await Cove.open({ stateDir: process.argv[2], metadata: silent(() => {
       const began = performance.now();
       process.on("exit", () => console.log(performance.now() - began < 10_000 ? "soon" : "late"));
       setImmediate(() => process.exit(4));
     }) });
     await cove.status("app-none");`,
    { args: [path.join(folder, "exit")] },
  );
  assert.deepEqual([done.code, done.signal, done.stdout, done.stderr], [4, null, "soon\n", ""]);
});

test("a program may exit while a Cove opens on its store", async () => {
  const done = await runNode(
    `import { Cove } from "cove-workspace";
     ${SILENT}
     const metadata = { ...silent(), find: () => new Promise(() => process.exit(4)), insert: () => new Promise(() => process.exit(4)) };
     await Cove.open({ stateDir: process.argv[2], metadata });`,
    { args: [path.join(folder, "opening")] },
  );
  assert.deepEqual([done.code, done.signal, done.stdout, done.stderr], [4, null, "", ""]);
});

test("a worker may end while its store owes an answer", async () => {
  const done = await runNode(
    `import { Worker } from "node:worker_threads";
     const code = \`
       const { workerData, parentPort } = require("node:worker_threads");
       const { Cove } = require("cove-workspace");
       ${SILENT}
       (async () => {
         const cove = await Cove.open({ stateDir: workerData, metadata: silent(() => parentPort.postMessage("asked")) });
         await cove.status("app-none");
       })();\`;
     const worker = new Worker(code, { eval: true, workerData: process.argv[2] });
     worker.on("message", () => worker.terminate().then(() => console.log("ended")));`,
    { args: [path.join(folder, "worker")] },
  );
  assert.deepEqual([done.code, done.signal, done.stdout, done.stderr], [0, null, "ended\n", ""]);
});

test("a clock that is set ahead makes a workspace idle, and it wakes", async () => {
  const clock = new FakeClock();
  const cove = await Cove.open({ stateDir: path.join(folder, "clock"), clock, config: { lifecycle: { stop_after_s: 3600 } } });
  const workspace = await cove.acquire(ANA, { chatId: "c1" });
  await workspace.close();
  assert.equal((await cove.sweep()).stopped, 0);
  clock.advance(61 * 60_000);
  assert.equal((await cove.sweep()).stopped, 1);
  const woken = await cove.acquire(ANA, { chatId: "c1" });
  assert.equal(woken.work, "resumed");
  await woken.close();
  await cove.destroy(sandboxIdOf(ANA));
  await cove.close();
  clock.advance(1000); // nobody goes by it any more
});

test("parts of another kind are refused", async () => {
  const stateDir = path.join(folder, "refused");
  await assert.rejects(Cove.open({ stateDir, metadata: {} }), /metadata.insert must be a function/);
  await assert.rejects(Cove.open({ stateDir, clock: {} }), /clock must be a FakeClock/);
  assert.throws(() => new FakeClock().advance(-1), RangeError);
});

test("the agent's program is written whole", async () => {
  const file = path.join(folder, "cove-agent");
  await writeAgent(file);
  assert.equal(fs.statSync(file).mode & 0o777, 0o555);
  assert.ok(fs.statSync(file).size > 100_000);
  await assert.rejects(writeAgent(path.join(folder, "not", "there")), { code: "NOT_FOUND" });
});
