// Opening, acquiring, stopping, archiving, destroying, closing.
import assert from "node:assert/strict";
import test from "node:test";
import { Home, KEY, collected, fails } from "./support.mjs";

async function withHome(work) {
  const home = new Home();
  try {
    await work(home);
  } finally {
    await home.end();
  }
}

async function all(items) {
  const list = [];
  for await (const item of items) list.push(item);
  return list;
}

test("a workspace lives, sleeps, is archived and wakes", () =>
  withHome(async (home) => {
    const cove = await home.open();
    const first = await cove.acquire(KEY, { chatId: "c1" });
    assert.equal(first.work, "provisioned");
    const sandbox = first.sandboxId;
    await first.writeFile("note.txt", "hello");
    const run = first.stream({ shell: "echo up; exec sleep 100" });
    await run.next();
    await fails("FAILED_PRECONDITION", cove.stop(sandbox));
    await run.close();
    await first.release();
    await cove.stop(sandbox);
    const stopped = await cove.status(sandbox);
    assert.deepEqual([stopped.state, stopped.sourceType, stopped.userId, stopped.users], ["stopped", "app", "ana", 0]);
    await cove.archive(sandbox);
    assert.equal((await cove.status(sandbox)).state, "archived");
    const second = await cove.acquire(KEY, { chatId: "c2" });
    assert.equal(second.work, "restored");
    assert.equal((await second.readFile("../c1/note.txt")).toString(), "hello");
    await cove.stop(sandbox, { drain: "cancel" });
    assert.deepEqual((await all(cove.list())).map((record) => record.sandboxId), [sandbox]);
    assert.deepEqual(await all(cove.list({ source: "app/other" })), []);
    const swept = await cove.sweep();
    assert.deepEqual(swept.errors, []);
    assert.deepEqual([swept.stopped, swept.archived, swept.deleted], [0, 0, 0]);
    const findings = await cove.doctor();
    assert.ok(findings.length > 0 && findings.every((finding) => ["good", "limited", "broken"].includes(finding.level)));
    await cove.destroy(sandbox);
    await fails("NOT_FOUND", cove.status(sandbox));
    await second.close();
    await cove.close();
  }));

test("a source is deleted, records are recovered, numbers are there", () =>
  withHome(async (home) => {
    const cove = await home.open();
    const workspace = await cove.acquire(KEY);
    const numbers = await cove.metrics();
    assert.match(numbers, /^cove_sandboxes\{state="running"\} 1$/m);
    await workspace.close();
    await cove.archive(workspace.sandboxId);
    const again = await cove.recover();
    assert.deepEqual([again.kept, again.archived, again.stopped, again.destroyed, again.problems], [1, 0, 0, 0, []]);
    assert.equal((await cove.recover(again.deployment)).kept, 1);
    await fails("FAILED_PRECONDITION", cove.recover("another"), /recover 'another' into an empty store/);
    assert.equal(await cove.destroySource("app/none"), 0);
    assert.equal(await cove.destroySource("app/demo"), 1);
    await fails("NOT_FOUND", cove.status(workspace.sandboxId));
    await fails("FAILED_PRECONDITION", cove.acquire(KEY));
    await fails("CANCELLED", cove.metrics({ signal: AbortSignal.abort() }));
    await assert.rejects(cove.destroySource(7), /source must be a string, not number/);
    await assert.rejects(cove.recover(null), /deployment must be a string, not null/);
    await cove.close();
  }));

test("a stop may wait for what runs", () =>
  withHome(async (home) => {
    const cove = await home.open();
    const workspace = await cove.acquire(KEY);
    const running = workspace.exec({ shell: "sleep 0.3; echo finished" });
    await cove.stop(workspace.sandboxId, { waitMs: 60_000 });
    assert.equal((await running).out.text, "finished\n");
    assert.equal((await cove.status(workspace.sandboxId)).state, "stopped");
    await assert.rejects(cove.stop(workspace.sandboxId, { waitMs: -1 }), /waitMs must be more than 0/);
    await fails("INVALID_ARGUMENT", cove.stop(workspace.sandboxId, { waitMs: 3_600_001 }));
    await workspace.close();
    await cove.close();
  }));

test("closing may be repeated and ends all calls", () =>
  withHome(async (home) => {
    const cove = await home.open();
    const workspace = await cove.acquire(KEY);
    await workspace.close();
    await workspace.close();
    await fails("FAILED_PRECONDITION", workspace.exec(["true"]), /this workspace is closed/);
    assert.throws(() => workspace.stream(["true"]), { code: "FAILED_PRECONDITION" });
    const other = await cove.acquire(KEY);
    await cove.close();
    await cove.close();
    await fails("FAILED_PRECONDITION", cove.acquire(KEY), /this Cove is closed/);
    await fails("FAILED_PRECONDITION", other.exec(["true"]));
    await other.close();
    assert.ok(cove.closed && other.closed);
  }));

test("close ends what is pending, with its code", () =>
  withHome(async (home) => {
    const cove = await home.open();
    const workspace = await cove.acquire(KEY);
    const run = workspace.stream({ shell: "echo up; exec sleep 100" });
    await run.next();
    const reading = run.toArray().catch((error) => error);
    await cove.close();
    const ended = await reading;
    if (Array.isArray(ended)) assert.equal((await run.result).outcome, "cancelled");
    else assert.equal(ended.code, "CANCELLED");
  }));

test("await using's methods close", () =>
  withHome(async (home) => {
    const dispose = Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose");
    const cove = await home.open();
    const workspace = await cove.acquire(KEY);
    await workspace[dispose]();
    await cove[dispose]();
    assert.ok(workspace.closed && cove.closed);
  }));

test("handles may go in any order, and what is pending keeps them", () =>
  withHome(async (home) => {
    let cove = await home.open();
    const workspace = await cove.acquire(KEY);
    const gone = new WeakRef(cove);
    cove = undefined;
    await collected(() => gone.deref() === undefined, "the Cove");
    assert.equal((await workspace.exec(["echo", "x"])).out.text, "x\n");
    await workspace.close();
    // Nothing but the call itself knows of this Cove.
    const acquired = await (await home.open()).acquire({ ...KEY, userId: "bob" });
    assert.equal((await acquired.exec(["echo", "y"])).out.text, "y\n");
    await acquired.close();
  }));

test("a call has a time limit and can be called off", () =>
  withHome(async (home) => {
    const cove = await home.open();
    const workspace = await cove.acquire(KEY);
    assert.equal((await workspace.exec(["sleep", "100"], { timeoutMs: 300 })).outcome, "timed_out");
    const error = await fails("CANCELLED", cove.acquire({ ...KEY, userId: "bob" }, { signal: AbortSignal.abort() }));
    assert.equal(error.name, "AbortError");
    await workspace.close();
    await cove.close();
  }));

test("a record of another id is adopted, and belongs to its key", () =>
  withHome(async (home) => {
    const cove = await home.open();
    const workspace = await cove.acquire(KEY, { sandboxId: "app-0123456789abcdef" });
    assert.equal(workspace.sandboxId, "app-0123456789abcdef");
    await workspace.close();
    await fails("CONFLICT", cove.acquire({ ...KEY, userId: "bob" }, { sandboxId: "app-0123456789abcdef" }));
    await cove.close();
  }));

test("the log gets lines, and is let go of", () =>
  withHome(async (home) => {
    const lines = [];
    const cove = await home.open({ log: (level, message) => lines.push([level, message]) });
    await (await cove.acquire(KEY)).close();
    await cove.close();
    for (const [level, message] of lines) {
      assert.ok(["debug", "info", "warning", "error"].includes(level));
      assert.ok(!message.includes("\n"));
    }
  }));
