// Moving a workspace to another provider of the configuration, and what is said of where things are.
import assert from "node:assert/strict";
import * as path from "node:path";
import test from "node:test";
import { sandboxIdOf } from "cove-workspace";
import { Home, KEY, fails, makeTree } from "./support.mjs";

const SYSTEM = { shell: "if [ -e /etc/mark ]; then cat /etc/mark; else echo host; fi" };

/** Its configuration has the provider "tree" beside the usual one. */
async function withTree(work) {
  const home = new Home();
  try {
    const tree = path.join(home.path, "tree");
    makeTree(tree);
    home.config = { providers: { tree: { root_tree: tree } } };
    await work(home);
  } finally {
    await home.end();
  }
}

async function systemOf(cove) {
  const workspace = await cove.acquire(KEY);
  const { text } = (await workspace.exec(SYSTEM)).out;
  await workspace.close();
  return text;
}

test("a workspace moves to a named tree and back, with its files", () =>
  withTree(async (home) => {
    const events = [];
    const cove = await home.open({ onEvent: (event) => events.push(event) });
    const first = await cove.acquire(KEY);
    const { sandboxId } = first;
    await first.writeFile("note.txt", "hello");
    await first.close();
    assert.equal(await systemOf(cove), "host\n");
    await cove.relocate(sandboxId, { provider: "tree" });
    const known = await cove.status(sandboxId);
    assert.deepEqual([known.provider, known.state], ["tree", "running"]);
    assert.equal(await systemOf(cove), "named tree\n");
    await cove.relocate(sandboxId, { provider: "tree" }); // it is there
    await cove.archive(sandboxId);
    await cove.relocate(sandboxId, { provider: "local", timeoutMs: 120_000 });
    assert.equal(await systemOf(cove), "host\n");
    const second = await cove.acquire(KEY);
    assert.equal((await second.readFile("note.txt")).toString(), "hello");
    await second.close();
    assert.deepEqual((await cove.orphans()).volumes, []);
    await cove.close();
    const ended = events.filter((event) => event.completed && event.operation === "relocate");
    assert.deepEqual(ended.map((event) => [event.state, event.reason]), [["running", "asked"]]);
  }));

test("use refuses a relocate, or is ended", () =>
  withTree(async (home) => {
    const cove = await home.open();
    const workspace = await cove.acquire(KEY);
    const { sandboxId } = workspace;
    const run = workspace.stream({ shell: "echo up; exec sleep 1000" });
    await run.next();
    await fails("FAILED_PRECONDITION", cove.relocate(sandboxId, { provider: "tree" }));
    assert.equal((await cove.status(sandboxId)).provider, "local");
    await cove.relocate(sandboxId, { provider: "tree", drain: "cancel" });
    await run.close();
    assert.equal((await cove.status(sandboxId)).provider, "tree");
    assert.equal((await workspace.exec(SYSTEM)).out.text, "named tree\n");
    await workspace.close();
    await cove.close();
  }));

test("what a relocate cannot mean is refused", () =>
  withTree(async (home) => {
    const cove = await home.open();
    const workspace = await cove.acquire(KEY);
    await workspace.close();
    const { sandboxId } = workspace;
    await fails("INVALID_ARGUMENT", cove.relocate(sandboxId, { provider: "nowhere" }), /no provider 'nowhere'/);
    await fails("INVALID_ARGUMENT", cove.relocate(sandboxId, { provider: "" }));
    await fails("INVALID_ARGUMENT", cove.relocate(sandboxId, { provider: "tree", waitMs: 3_600_001 }));
    await fails("NOT_FOUND", cove.relocate(sandboxIdOf({ ...KEY, userId: "bob" }), { provider: "tree" }));
    await fails("CANCELLED", cove.relocate(sandboxId, { provider: "tree", signal: AbortSignal.abort() }));
    await assert.rejects(cove.relocate(sandboxId), /provider must be a string, not undefined/);
    await assert.rejects(cove.relocate(sandboxId, { provider: "tree", drain: "soon" }), /drain must be/);
    await assert.rejects(cove.relocate(sandboxId, { provider: "tree", to: "x" }), /relocate has no option "to"/);
    const known = await cove.status(sandboxId);
    assert.deepEqual([known.provider, known.state], ["local", "running"]);
    await cove.close();
  }));

test("what is foreign is told with its provider", () =>
  withTree(async (home) => {
    const sandboxes = {};
    const forgetful = await home.open({ config: { ...home.config, metadata: { type: "memory" } } });
    for (const [userId, provider] of [["ana", "local"], ["bob", "tree"]]) {
      const workspace = await forgetful.acquire({ ...KEY, userId });
      await workspace.close();
      await forgetful.relocate(workspace.sandboxId, { provider });
      await forgetful.stop(workspace.sandboxId);
      sandboxes[workspace.sandboxId] = provider;
    }
    await forgetful.close();
    const cove = await home.open();
    const found = await cove.orphans();
    await cove.close();
    assert.deepEqual(Object.fromEntries(found.foreignVolumes.map((one) => [one.sandboxId, one.provider])), sandboxes);
    assert.deepEqual([found.volumes, found.instances, found.foreignInstances], [[], [], []]);
  }));
