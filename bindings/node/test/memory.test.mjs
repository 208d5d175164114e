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
