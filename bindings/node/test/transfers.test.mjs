// Files of any size, trees, and watches.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as pause } from "node:timers/promises";
import test from "node:test";
import { collected, fails, withCove } from "./support.mjs";

const { home, workspace } = await withCove();

test("a large file goes up and down unchanged, with progress", async () => {
  const content = randomBytes(5 << 20);
  const told = [];
  const onProgress = (done, total) => told.push([done, total]);
  const info = await workspace.upload("big.bin", Readable.from([content.subarray(0, 7), content.subarray(7)]), { mode: 0o600, onProgress });
  assert.deepEqual([info.size, info.mode], [content.length, 0o600]);
  assert.deepEqual(told.at(-1), [content.length, null]);
  told.length = 0;
  assert.ok((await workspace.download("big.bin", { onProgress }).bytes()).equals(content));
  assert.deepEqual(told.at(-1), [content.length, content.length]);
  const file = path.join(home.path, "big.bin");
  await pipeline(workspace.download("big.bin").readable(), fs.createWriteStream(file));
  assert.ok(fs.readFileSync(file).equals(content));
  await workspace.upload("again.bin", fs.createReadStream(file));
  assert.equal((await workspace.stat("again.bin")).size, content.length);
});

test("every kind of source is one file", async () => {
  const pieces = [Buffer.alloc(0), Buffer.alloc(1_000_000, "a"), "b", new Uint8Array(10).fill(99)];
  const whole = Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
  const sources = [
    pieces,
    (async function* () {
      yield* pieces;
    })(),
    new Blob(pieces),
    new Blob(pieces).stream(),
    whole,
    new Uint8Array(whole),
  ];
  for (const source of sources) {
    await workspace.upload("pieces.bin", source);
    assert.ok((await workspace.readFile("pieces.bin")).equals(whole));
  }
  await workspace.upload("text.txt", "数据");
  assert.equal((await workspace.readFile("text.txt")).toString(), "数据");
  await workspace.upload("none.bin", []);
  assert.equal((await workspace.download("none.bin").bytes()).length, 0);
});

test("what the source throws is thrown, and the old file stays", async () => {
  await workspace.writeFile("kept.txt", "old");
  async function* broken() {
    yield Buffer.alloc(3_000_000, "new");
    throw new RangeError("in the source");
  }
  await assert.rejects(workspace.upload("kept.txt", broken()), /in the source/);
  assert.equal((await workspace.readFile("kept.txt")).toString(), "old");
  await fails("CONFLICT", workspace.upload("kept.txt", ["x"], { ifUnchangedSince: "another" }));
  await assert.rejects(workspace.upload("kept.txt", 7), /source must be bytes/);
  await assert.rejects(workspace.upload("kept.txt", [7]), /a piece of source must be bytes/);
});

test("a source is asked for no more than is needed", async () => {
  let given = 0;
  async function* endless() {
    for (;;) {
      given += 1 << 16;
      yield Buffer.alloc(1 << 16);
    }
  }
  const controller = new AbortController();
  const uploading = workspace.upload("endless.bin", endless(), { signal: controller.signal });
  while (given === 0) await pause(1);
  controller.abort();
  const error = await fails("CANCELLED", uploading);
  assert.equal(error.name, "AbortError");
  const end = given;
  await pause(50);
  assert.equal(given, end);
  await fails("NOT_FOUND", workspace.stat("endless.bin"));
});

test("an upload whose source waits is called off at once", async () => {
  const waiting = new ReadableStream({ pull: () => new Promise(() => undefined) });
  const began = Date.now();
  await fails("CANCELLED", workspace.upload("never.bin", waiting, { signal: AbortSignal.timeout(100) }));
  const other = new ReadableStream({ pull: () => new Promise(() => undefined) });
  await fails("TIMEOUT", workspace.upload("never.bin", other, { timeoutMs: 100 }));
  assert.ok(Date.now() - began < 30_000);
});

test("trees are tar streams", async () => {
  await workspace.writeFile("tree/a.txt", "one");
  await workspace.writeFile("tree/sub/b.txt", "two", { mode: 0o700 });
  const archive = await workspace.downloadTree("tree").bytes();
  assert.ok(archive.includes("sub/b.txt"));
  const counts = await workspace.uploadTree("placed", [archive]);
  assert.equal(counts.bytes, 6);
  assert.equal((await workspace.stat("placed/sub/b.txt")).mode, 0o700);
  await fails("INVALID_ARGUMENT", workspace.uploadTree("placed", Buffer.from("no tar at all".repeat(1000))));
});

test("what is missing is thrown to the reader", async () => {
  await fails("NOT_FOUND", workspace.download("missing.bin").bytes());
});

test("a slow reader holds only some; leaving early, forgetting and aborting end a download", async () => {
  await workspace.exec({ shell: `head -c ${64 << 20} /dev/zero > zeros` });
  const download = workspace.download("zeros");
  for await (const piece of download) {
    assert.ok(piece.length > 0);
    break;
  }
  assert.deepEqual(await download.next(), { done: true, value: undefined });
  const controller = new AbortController();
  const aborted = workspace.download("zeros", { signal: controller.signal });
  await aborted.next();
  controller.abort();
  assert.equal((await fails("CANCELLED", aborted.toArray())).name, "AbortError");
  const late = workspace.download("zeros", { timeoutMs: 300 });
  await late.next();
  await pause(500);
  await fails("TIMEOUT", late.toArray());
  const before = fs.readdirSync("/proc/self/task").length;
  await (async () => {
    await workspace.download("zeros").next();
  })();
  await collected(() => fs.readdirSync("/proc/self/task").length <= before, "the download's thread");
});

test("changes come as they happen", async () => {
  await workspace.makeDirectory("seen/sub");
  const changes = workspace.watch("seen");
  // The first event proves that the watch has begun: written until it is seen.
  let began = false;
  const knocking = (async () => {
    while (!began) await workspace.writeFile("seen/knock", "x");
  })();
  assert.equal((await changes.next()).value.path, "knock");
  began = true;
  await knocking;
  await workspace.writeFile("seen/sub/a.txt", "1");
  await workspace.move("seen/sub/a.txt", "seen/sub/b.txt");
  await workspace.remove("seen/sub/b.txt");
  const seen = [];
  for await (const event of changes) {
    seen.push(event);
    if (event.change === "removed" && event.path === "sub/b.txt") break;
  }
  assert.ok(seen.some((event) => event.change === "moved" && event.path === "sub/b.txt" && event.oldPath === "sub/a.txt"));
});

test("a watch ends quietly when it is told to, and else says why", async () => {
  await workspace.makeDirectory("quiet");
  const watch = workspace.watch("quiet");
  watch.cancel();
  assert.deepEqual(await watch.toArray(), []);
  await watch.close();
  await fails("TIMEOUT", workspace.watch("quiet", { timeoutMs: 100 }).toArray());
  const error = await fails("CANCELLED", workspace.watch("quiet", { signal: AbortSignal.timeout(50) }).toArray());
  assert.equal(error.name, "AbortError");
  await fails("NOT_FOUND", workspace.watch("no-such-directory").toArray());
});
