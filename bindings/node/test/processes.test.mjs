// Background processes: what runs on; [pain-46].
import assert from "node:assert/strict";
import test from "node:test";
import { fails, text, withCove } from "./support.mjs";

const { workspace } = await withCove();

test("one is started, listed, read, ended and forgotten", async () => {
  const info = await workspace.startProcess({ shell: "echo out; echo err >&2; exec sleep 1000" }, { name: "web 数据", keepAliveSeconds: 60 });
  assert.match(info.id, /^[0-9a-f]{32}$/);
  assert.deepEqual([info.name, info.keepAliveSeconds, info.running, info.end], ["web 数据", 60, true, null]);
  assert.equal(info.cwd, "/workspace/sessions/c1");
  assert.ok(Math.abs(info.startedAtMs - Date.now()) < 60_000);
  assert.deepEqual((await workspace.listProcesses()).map((each) => each.id), [info.id]);
  const output = await workspace.processOutput(info.id, { waitMs: 30_000 });
  assert.deepEqual([output.data.toString(), output.next, output.gone, output.atEnd], ["out\n", 4, 0, false]);
  const errors = await workspace.processOutput(info.id, { stream: "stderr", waitMs: 30_000 });
  assert.equal(errors.data.toString(), "err\n");
  await fails("FAILED_PRECONDITION", workspace.removeProcess(info.id));
  const ended = await workspace.endProcess(info.id);
  assert.deepEqual([ended.running, ended.end.outcome], [false, "cancelled"]);
  assert.ok((await workspace.processOutput(info.id, { offset: 4 })).atEnd);
  await workspace.removeProcess(info.id);
  await fails("NOT_FOUND", workspace.findProcess(info.id));
});

test("what is typed reaches it and its end is told", async () => {
  const info = await workspace.startProcess({ shell: "read a; read b; echo $a $b; exit 3" });
  await workspace.writeProcessStdin(info.id, "one\n");
  const run = workspace.attachProcess(info.id);
  await run.writeStdin("two\n");
  assert.equal(text(await run.toArray()), "one two\n");
  assert.equal((await run.result).code, 3);
  assert.equal((await workspace.waitProcess(info.id)).end.code, 3);
  await fails("FAILED_PRECONDITION", workspace.signalProcess(info.id, "SIGTERM"));
  await workspace.removeProcess(info.id);
});

test("leaving an attached one lets it go on", async () => {
  const info = await workspace.startProcess({ shell: "echo up; exec sleep 1000" });
  for await (const { data } of workspace.attachProcess(info.id)) {
    assert.equal(data.toString(), "up\n");
    break;
  }
  assert.ok((await workspace.findProcess(info.id)).running);
  await fails("TIMEOUT", workspace.waitProcess(info.id, { timeoutMs: 50 }));
  const detached = workspace.attachProcess(info.id, { onlyNew: true });
  detached.detach();
  await fails("CANCELLED", detached.toArray());
  await workspace.signalProcess(info.id, 9);
  assert.equal((await workspace.waitProcess(info.id)).end.code, 9);
  await workspace.removeProcess(info.id);
});

test("an attached one is ended by cancel, and its terminal resized by its id", async () => {
  const info = await workspace.startProcess({ shell: "stty size; read x; stty size; exec sleep 1000" }, { terminal: { rows: 24, columns: 80 } });
  assert.ok(info.hasTerminal);
  const run = workspace.attachProcess(info.id);
  assert.equal((await run.next()).value.data.toString(), "24 80\r\n");
  await workspace.resizeProcess(info.id, 30, 90);
  await workspace.writeProcessStdin(info.id, "\n");
  let seen = "";
  while (!seen.includes("30 90")) seen += (await run.next()).value.data.toString();
  run.cancel();
  assert.equal((await run.wait()).outcome, "cancelled");
  assert.equal((await workspace.findProcess(info.id)).running, false);
  await workspace.removeProcess(info.id);
});

test("its stdin is ended by its id", async () => {
  const info = await workspace.startProcess(["cat"]);
  await workspace.closeProcessStdin(info.id);
  await workspace.closeProcessStdin(info.id);
  assert.equal((await workspace.waitProcess(info.id)).end.code, 0);
  await workspace.removeProcess(info.id);
});
