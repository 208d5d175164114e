// Memory returns: 10,000 acquires and commands leave a process about as large as 1,000 did.
// With COVE_SLOW, as ctest's slow test; else it is passed over.
import assert from "node:assert/strict";
import test from "node:test";
import { KEY, gc, withCove } from "./support.mjs";

const { cove } = await withCove();

async function settle() {
  for (let i = 0; i < 5; ++i) {
    gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function work(rounds) {
  for (let i = 0; i < rounds; ++i) {
    const workspace = await cove.acquire(KEY, { chatId: "c1" });
    const result = await workspace.exec(["true"]);
    assert.ok(result.succeeded);
    await workspace.close();
  }
  await settle();
  return process.memoryUsage.rss();
}

test("the resident size after 10,000 acquires and execs is within 2 % of that after 1,000", { skip: !process.env.COVE_SLOW }, async () => {
  const before = await work(1000);
  const after = await work(9000);
  const grown = (100 * (after - before)) / before;
  assert.ok(grown < 2, `it grew by ${grown.toFixed(2)} %, from ${before} to ${after} bytes`);
});

test("streams, files and transfers leave nothing behind either", { skip: !process.env.COVE_SLOW }, async () => {
  const workspace = await cove.acquire(KEY, { chatId: "c1" });
  const data = Buffer.alloc(1 << 20, "x");
  const round = async () => {
    await workspace.stream(["head", "-c", String(1 << 20), "/dev/zero"]).wait();
    await workspace.upload("data", [data]);
    assert.equal((await workspace.download("data").bytes()).length, data.length);
    await workspace.grep("x", "data").toArray();
    await workspace.editFile("data", [{ old: "no such text", new: "" }]).catch(() => undefined);
    await workspace.stat("missing").catch(() => undefined);
    await workspace.callTool("sandbox_ls", {});
  };
  const rounds = async (count) => {
    for (let i = 0; i < count; ++i) await round();
    await settle();
    return process.memoryUsage.rss();
  };
  const before = await rounds(200);
  const after = await rounds(600);
  const grown = (100 * (after - before)) / before;
  assert.ok(grown < 5, `it grew by ${grown.toFixed(2)} %, from ${before} to ${after} bytes`);
  await workspace.close();
});
