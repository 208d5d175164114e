// Sweeps, sources, sessions, orphans and events.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Cove, configSchema } from "cove-workspace";
import { Home, KEY, fails } from "./support.mjs";

async function withCove(body, options = {}) {
  const home = new Home();
  try {
    const cove = await Cove.open({ stateDir: home.state, ...options });
    try {
      await body(cove);
    } finally {
      await cove.close();
    }
  } finally {
    await home.end();
  }
}

test("a sweep plans, then does what the policy of a source says", () =>
  withCove(async (cove) => {
    const workspace = await cove.acquire(KEY);
    await workspace.close();
    const { sandboxId } = workspace;
    assert.equal((await cove.sweep()).stopped, 0);
    assert.deepEqual(await cove.idlePolicy("app/demo"), { archive: "when_idle" });
    const policy = { stopAfterMs: 0, archiveAfterMs: 1500, archive: "never" };
    await cove.setIdlePolicy("app/demo", policy);
    assert.deepEqual(await cove.idlePolicy("app/demo"), policy);
    assert.deepEqual((await cove.sweep({ dryRun: true })).planned, [{ sandboxId, action: "stop" }]);
    assert.equal((await cove.status(sandboxId)).state, "running");
    const heard = [];
    const done = await cove.sweep({ atOnce: 1, onProgress: (step) => heard.push(step) });
    assert.deepEqual([done.stopped, done.failed, done.errors], [1, 0, []]);
    assert.deepEqual([heard[0].sandboxId, heard[0].action, heard[0].error], [sandboxId, "stop", ""]);
    await cove.setIdlePolicy("app/demo", undefined);
    assert.deepEqual(await cove.idlePolicy("app/demo"), { archive: "when_idle" });
    await assert.rejects(cove.setIdlePolicy("app/demo", { archive: "soon" }), /archive must be/);
    await assert.rejects(cove.setIdlePolicy("app/demo", { stopAfterMs: -1 }), /stopAfterMs must be more than 0/);
    await assert.rejects(cove.sweep({ atOnce: 65 }), RangeError);
    await assert.rejects(cove.sweep({ onProgress: 7 }), /onProgress must be a function/);
    await fails("INVALID_ARGUMENT", cove.setIdlePolicy("demo", undefined));
  }));

test("a source is ended with progress, and revived", () =>
  withCove(async (cove) => {
    for (const userId of ["ana", "bob"]) await (await cove.acquire({ ...KEY, userId })).close();
    const heard = [];
    assert.equal(await cove.destroySource("app/demo", { onProgress: (soFar) => heard.push(soFar.destroyed) }), 2);
    assert.deepEqual(heard, [1, 2]);
    await fails("FAILED_PRECONDITION", cove.acquire(KEY));
    await cove.reviveSource("app/demo");
    await (await cove.acquire(KEY)).close();
  }));

test("a session is removed, and the others stay", () =>
  withCove(async (cove) => {
    for (const chatId of ["c1", "c2"]) {
      const workspace = await cove.acquire(KEY, { chatId });
      await workspace.writeFile("note.txt", chatId);
      await workspace.close();
    }
    await cove.removeSession(KEY, "c1");
    await cove.removeSession(KEY, "c1");
    const workspace = await cove.acquire(KEY, { chatId: "c2" });
    assert.equal((await workspace.readFile("note.txt")).toString(), "c2");
    await fails("NOT_FOUND", workspace.stat("../c1/note.txt"));
    await workspace.close();
    await fails("INVALID_ARGUMENT", cove.removeSession(KEY, ""));
  }));

test("events are heard, and nothing is an orphan", async () => {
  const events = [];
  let sandboxId;
  await withCove(
    async (cove) => {
      const workspace = await cove.acquire(KEY);
      ({ sandboxId } = workspace);
      await workspace.close();
      await cove.stop(sandboxId);
      const found = await cove.orphans();
      assert.deepEqual([found.volumes, found.instances], [[], []]);
    },
    { onEvent: (event) => events.push(event) },
  );
  const ended = events.filter((event) => event.completed).map((event) => [event.operation, event.state, event.reason]);
  assert.deepEqual(ended, [["provision", "running", "acquire"], ["stop", "stopped", "asked"]]);
  assert.deepEqual([...new Set(events.map((event) => event.sandboxId))], [sandboxId]);
});

test("the schema of a configuration needs no Cove", () => {
  assert.ok("state_dir" in configSchema().properties);
});
