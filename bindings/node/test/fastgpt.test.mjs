// FastGPT's adapter, method by method.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, test } from "node:test";
import {
  CommandExecutionError, CoveSandbox, FeatureNotSupportedError, FileOperationError, ReadyTimeoutError,
  SandboxNotFoundError, TimeoutError, fastgptSandboxId,
} from "cove-workspace/fastgpt";
import { Home } from "./support.mjs";

const home = new Home();
const cove = await home.open();
const identity = { sourceType: "app", sourceId: "66f0c0ffee", userId: "member-1", chatId: "chat/1" };
const sandbox = new CoveSandbox({ cove, ...identity });
after(async () => {
  await sandbox.close();
  await cove.close();
  await home.end();
});

test("the id is FastGPT's own, so that old records are adopted", async () => {
  const digest = createHash("sha256").update("66f0c0ffee-member-1").digest("hex").slice(0, 16);
  assert.equal(sandbox.id, `app-${digest}`);
  assert.match(fastgptSandboxId({ sourceType: "skillEdit", sourceId: "s", userId: "whoever" }), /^skilledit-[0-9a-f]{16}$/);
  const shared = ["a", "b"].map((userId) => fastgptSandboxId({ sourceType: "skillEdit", sourceId: "s", userId }));
  assert.equal(shared[0], shared[1]);
  assert.equal(new CoveSandbox({ cove, ...identity, sandboxId: "app-0123456789abcdef" }).id, "app-0123456789abcdef");
});

test("getInfo, ensureRunning, create, start", async () => {
  assert.equal(await sandbox.getInfo(), null);
  assert.equal(sandbox.status.state, "UnExist");
  await assert.rejects(sandbox.ensureRunning({ allowCreate: false }), SandboxNotFoundError);
  await assert.rejects(sandbox.start(), SandboxNotFoundError);
  await Promise.all([sandbox.ensureRunning(), sandbox.create(), sandbox.waitUntilReady()]);
  const info = await sandbox.getInfo();
  assert.equal(info.id, sandbox.id);
  assert.deepEqual(info.status, { state: "Running" });
  assert.deepEqual(info.metadata, { sourceType: "app", sourceId: "66f0c0ffee", userId: "member-1" });
  assert.ok(Math.abs(info.createdAt.getTime() - Date.now()) < 60_000);
  assert.equal(sandbox.provider, "cove");
});

/** A sandbox of its own, whose acquires begin when `go` is called; `calls` = their options. */
function heldUp() {
  let go;
  const held = new Promise((resolve) => (go = resolve));
  const calls = [];
  const slow = new Proxy(cove, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (name !== "acquire") return typeof value === "function" ? value.bind(target) : value;
      return async (key, options) => {
        calls.push(options);
        const aborted = new Promise((resolve) => options.signal.addEventListener("abort", resolve));
        await Promise.race([held, aborted]);
        return target.acquire(key, options);
      };
    },
  });
  return { sandbox: new CoveSandbox({ cove: slow, ...identity, sourceId: "held-up" }), go, calls };
}

test("calls share one acquire, and each keeps its own limit, whoever began it", async () => {
  for (const isLimitedFirst of [true, false]) {
    const { sandbox: slow, go, calls } = heldUp();
    const limited = () => assert.rejects(slow.waitUntilReady(20), ReadyTimeoutError);
    const first = isLimitedFirst ? limited() : slow.ensureRunning();
    const second = isLimitedFirst ? slow.ensureRunning() : limited();
    await (isLimitedFirst ? first : second);
    await limited();
    go();
    await (isLimitedFirst ? second : first);
    await slow.waitUntilReady(20);
    assert.deepEqual([calls.length, calls[0].timeoutMs], [1, undefined]);
    await slow.delete();
  }
});

test("close calls off an acquire that nobody waits for any more; the next call begins another", async () => {
  const { sandbox: slow, go, calls } = heldUp();
  await assert.rejects(slow.waitUntilReady(1), ReadyTimeoutError);
  const closed = slow.close();
  assert.ok(calls[0].signal.aborted);
  const running = slow.ensureRunning();
  await closed;
  go();
  await running;
  assert.equal((await slow.execute("echo here")).stdout, "here\n");
  assert.equal(calls.length, 2);
  await slow.delete();
  await assert.rejects(slow.waitUntilReady(0), /timeoutMs must be more than 0/);
  await assert.rejects(slow.waitUntilDeleted(NaN), /timeoutMs must be/);
});

test("arguments that are wrong are told by the adapter's own names", async () => {
  await assert.rejects(sandbox.execute("true", { timeoutMs: 0 }), { name: "RangeError", message: /^timeoutMs must be/ });
  await assert.rejects(sandbox.executeBackground("true", { timeoutMs: -1 }), { name: "RangeError", message: /^timeoutMs must be/ });
  await assert.rejects(sandbox.execute(""), { name: "RangeError", message: "command must not be empty" });
  await assert.rejects(sandbox.executeStream("", {}), { name: "RangeError", message: "command must not be empty" });
  await assert.rejects(sandbox.executeBackground(""), { name: "RangeError", message: "command must not be empty" });
  await assert.rejects(sandbox.execute(undefined), { name: "TypeError", message: /^command must be a string/ });
  await assert.rejects(sandbox.execute("true", { workingDirectory: 1 }), { name: "TypeError", message: /^workingDirectory must/ });
  await assert.rejects(sandbox.execute("true", { maxOutputBytes: -1 }), { name: "RangeError", message: /^maxOutputBytes must/ });
  await assert.rejects(sandbox.interrupt(undefined), { name: "TypeError", message: /^sessionId must/ });
  await assert.rejects(sandbox.readFiles(undefined), { name: "TypeError", message: /^paths must be a list/ });
  await assert.rejects(sandbox.writeFiles([null]), { name: "TypeError", message: /^entries\[0\] must be \{path, data\}/ });
  await assert.rejects(sandbox.moveFiles(null), { name: "TypeError", message: /^entries must be a list/ });
  await assert.rejects(sandbox.replaceContent([1]), { name: "TypeError", message: /^entries\[0\] must be/ });
  await assert.rejects(sandbox.setPermissions([undefined]), { name: "TypeError", message: /^entries\[0\] must be/ });
  await assert.rejects(sandbox.execute("true", null), { name: "TypeError", message: /^options must be an object, not null/ });
  await assert.rejects(sandbox.executeStream("true"), { name: "TypeError", message: /^handlers must be/ });
  await assert.rejects(sandbox.readFiles([], null), { name: "TypeError", message: /^options must be \{offset, length\}/ });
  await assert.rejects(sandbox.ensureRunning(null), { name: "TypeError", message: /^options must be \{allowCreate\}/ });
  await assert.rejects(sandbox.delete(7), { name: "TypeError", message: /^id must be a string/ });
  assert.throws(() => fastgptSandboxId(undefined), { name: "TypeError", message: /^identity must be/ });
  assert.throws(() => fastgptSandboxId({ sourceType: "app" }), { name: "TypeError", message: /^sourceId must be a string/ });
  assert.throws(() => new CoveSandbox(undefined), { name: "TypeError", message: /CoveSandbox must be/ });
  assert.throws(() => new CoveSandbox(identity), { name: "TypeError", message: /^cove must be/ });
});

test("execute", async () => {
  const result = await sandbox.execute("pwd; echo $NAME; echo oops >&2; exit 3", { env: { NAME: "ana" } });
  assert.deepEqual([result.stdout, result.stderr, result.exitCode, result.truncated], ["/workspace/sessions/chat%2F1\nana\n", "oops\n", 3, false]);
  assert.ok(result.durationMs > 0);
  const limited = await sandbox.execute("seq 100000", { maxOutputBytes: 100 });
  assert.ok(limited.truncated && limited.stdout.endsWith("99999\n100000\n") && limited.stdout.length <= 100);
  assert.equal((await sandbox.execute("pwd", { workingDirectory: "/workspace" })).stdout, "/workspace\n");
  assert.equal((await sandbox.execute("sleep 100", { timeoutMs: 200 })).exitCode, 124);
  const aborted = await sandbox.execute("sleep 100", { signal: AbortSignal.timeout(300) });
  assert.equal(aborted.exitCode, null);
  await assert.rejects(sandbox.execute("true", { workingDirectory: "no-such" }), CommandExecutionError);
});

test("executeStream", async () => {
  const told = { out: "", err: "", result: undefined, error: undefined };
  const handlers = {
    onStdout: (text) => void (told.out += text),
    onStderr: (text) => void (told.err += text),
    onComplete: (result) => void (told.result = result),
    onError: (error) => void (told.error = error),
  };
  await sandbox.executeStream("i=0; while [ $i -lt 2000 ]; do printf '数据'; i=$((i+1)); done; echo err >&2", handlers);
  assert.deepEqual([told.out, told.err, told.result.exitCode, told.error], ["数据".repeat(2000), "err\n", 0, undefined]);
  await sandbox.executeStream("true", handlers, { workingDirectory: "no-such" });
  assert.ok(told.error instanceof CommandExecutionError);
  await assert.rejects(sandbox.executeStream("true", {}, { workingDirectory: "no-such" }), CommandExecutionError);
});

test("executeBackground and interrupt", async () => {
  const first = await sandbox.executeBackground("echo $$ > pid; exec sleep 1000");
  while ((await sandbox.execute("test -s pid")).exitCode !== 0) continue;
  await first.kill();
  assert.notEqual((await sandbox.execute("kill -0 $(cat pid)")).exitCode, 0);
  const second = await sandbox.executeBackground("exec sleep 1000");
  await sandbox.interrupt(second.sessionId);
  await sandbox.interrupt(second.sessionId);
  await sandbox.interrupt("0".repeat(32));
});

test("writeFiles and readFiles keep the order, and errors are their entries'", async () => {
  const written = await sandbox.writeFiles([
    { path: "a.txt", data: "text" },
    { path: "/etc/escape", data: "x" },
    { path: "b.bin", data: new Uint8Array([1, 2, 3]), mode: 0o755 },
    { path: "c.bin", data: new Blob(["blob"]) },
    { path: "d.bin", data: new Blob(["stream"]).stream() },
    { path: "e.bin", data: new Uint8Array([9, 9]).buffer },
    { path: "f.txt", data: "x", owner: "root" },
  ]);
  assert.deepEqual(written.map((result) => result.bytesWritten), [4, 0, 3, 4, 6, 2, 0]);
  assert.ok(written[1].error instanceof FileOperationError);
  assert.equal(written[1].error.code, "INVALID_PATH");
  assert.ok(written[6].error instanceof FeatureNotSupportedError);
  const read = await sandbox.readFiles(["d.bin", "missing", "a.txt"], { offset: 1, length: 2 });
  assert.deepEqual(read.map((result) => Buffer.from(result.content).toString()), ["tr", "", "ex"]);
  assert.equal(read[1].error.code, "FILE_NOT_FOUND");
  assert.equal(read[0].error, null);
});

test("moveFiles, replaceContent, deleteFiles", async () => {
  const moved = await sandbox.moveFiles([
    { source: "a.txt", destination: "moved/a.txt" },
    { source: "missing", destination: "x" },
  ]);
  assert.deepEqual(moved.map((result) => [result.success, result.error?.code]), [[true, undefined], [false, "FILE_NOT_FOUND"]]);
  await sandbox.writeFiles([{ path: "r.txt", data: "one two one" }]);
  const replaced = await sandbox.replaceContent([
    { path: "r.txt", oldContent: "one", newContent: "1" },
    { path: "moved/a.txt", oldContent: "no such", newContent: "" },
  ]);
  assert.deepEqual(replaced.map((result) => result.success), [true, false]);
  assert.equal(Buffer.from((await sandbox.readFiles(["r.txt"]))[0].content).toString(), "1 two 1");
  const mixed = await sandbox.replaceContent([
    { path: "a\0b", oldContent: "1", newContent: "2" },
    { path: "r.txt", oldContent: "1", newContent: "uno" },
    { path: "r.txt", oldContent: "two" },
    { path: "none", oldContent: "1", newContent: "2" },
  ]);
  assert.deepEqual(mixed.map((result) => result.error?.code), ["INVALID_PATH", undefined, "TRANSFER_ERROR", "FILE_NOT_FOUND"]);
  assert.match(mixed[2].error.message, /^newContent must be/);
  assert.equal(Buffer.from((await sandbox.readFiles(["r.txt"]))[0].content).toString(), "uno two uno");
  const deleted = await sandbox.deleteFiles(["r.txt", "r2.txt"]);
  assert.deepEqual(deleted.map((result) => result.error?.code), [undefined, "FILE_NOT_FOUND"]);
});

test("an error of a file says which kind of thing is in the way", async () => {
  await sandbox.writeFiles([{ path: "kinds/file", data: "text" }, { path: "kinds/full/in", data: "" }]);
  await sandbox.createDirectories(["kinds/empty"]);
  const codes = async (results) => (await results).map((result) => result.error?.code);
  assert.deepEqual(await codes(sandbox.readFiles(["kinds", "kinds/file/x", "kinds/file"])), ["PATH_IS_DIRECTORY", "PATH_NOT_DIRECTORY", undefined]);
  assert.deepEqual(await codes(sandbox.readFiles(["none", "kinds", "kinds/file"], { length: 0 })), ["FILE_NOT_FOUND", "PATH_IS_DIRECTORY", undefined]);
  assert.deepEqual((await sandbox.readFiles(["kinds/file"], { length: 0 }))[0].content.length, 0);
  assert.match((await sandbox.readFiles(["kinds/file"], { length: -1 }))[0].error.message, /^length must be/);
  assert.deepEqual(
    await codes(sandbox.writeFiles([{ path: "kinds", data: "" }, { path: "kinds/file/x", data: "" }, { path: "a\0b", data: "" }])),
    ["PATH_IS_DIRECTORY", "PATH_NOT_DIRECTORY", "INVALID_PATH"],
  );
  assert.deepEqual(
    await codes(sandbox.createDirectories(["kinds/file", "kinds/file/x", "kinds/file/x/y", "kinds"])),
    ["FILE_ALREADY_EXISTS", "PATH_NOT_DIRECTORY", "PATH_NOT_DIRECTORY", undefined],
  );
  assert.deepEqual(
    await codes(sandbox.deleteDirectories(["kinds/full", "kinds/file/x", "kinds/empty"], { recursive: false })),
    ["TRANSFER_ERROR", "PATH_NOT_DIRECTORY", undefined],
  );
  assert.deepEqual(await codes(sandbox.deleteFiles(["kinds/full", "kinds/file/x"])), ["PATH_IS_DIRECTORY", "PATH_NOT_DIRECTORY"]);
  const edit = { oldContent: "a", newContent: "b" };
  assert.deepEqual(
    await codes(sandbox.replaceContent([{ path: "kinds", ...edit }, { path: "kinds/file", ...edit }])),
    ["PATH_IS_DIRECTORY", "TRANSFER_ERROR"],
  );
  const moves = [["kinds/file", "kinds/full"], ["kinds/full", "kinds/file"], ["kinds/file", "kinds/file/x"]];
  assert.deepEqual(
    await codes(sandbox.moveFiles(moves.map(([source, destination]) => ({ source, destination })))),
    ["PATH_IS_DIRECTORY", "PATH_NOT_DIRECTORY", "PATH_NOT_DIRECTORY"],
  );
  await assert.rejects(sandbox.search("*", "kinds/file"), { code: "PATH_NOT_DIRECTORY" });
});

test("getFileInfo leaves out what nothing can be told of, and throws where the sandbox cannot be asked", async () => {
  await sandbox.writeFiles([{ path: "told", data: "text" }]);
  const info = await sandbox.getFileInfo(["told/below", "../../../etc", "a\0b", "none", "told"]);
  assert.deepEqual([...info.keys()], ["told"]);
  const other = await home.open();
  const asked = new CoveSandbox({ cove: other, ...identity });
  await other.close();
  await assert.rejects(asked.getFileInfo(["told"]), { code: "INVALID_STATE" });
});

test("readFileStream and writeFileStream", async () => {
  async function* pieces() {
    for (let i = 0; i < 100; ++i) yield new Uint8Array(10_000).fill(i);
  }
  await sandbox.writeFileStream("stream.bin", pieces());
  let size = 0;
  for await (const piece of sandbox.readFileStream("stream.bin")) size += piece.length;
  assert.equal(size, 1_000_000);
  await assert.rejects(sandbox.readFileStream("missing").next(), { code: "FILE_NOT_FOUND" });
});

test("createDirectories, listDirectory, getFileInfo, setPermissions, search, deleteDirectories", async () => {
  const made = await sandbox.createDirectories(["dirs/one", "dirs/two"], { mode: 0o700 });
  assert.ok(made.every((result) => result.success));
  await sandbox.writeFiles([{ path: "dirs/one/x.py", data: "12345" }, { path: "dirs/.hidden.py", data: "" }]);
  const listed = await sandbox.listDirectory("dirs");
  assert.deepEqual(listed.map((entry) => [entry.name, entry.path, entry.isDirectory]), [
    [".hidden.py", "dirs/.hidden.py", false], ["one", "dirs/one", true], ["two", "dirs/two", true],
  ]);
  await assert.rejects(sandbox.listDirectory("dirs/one/x.py"), { code: "PATH_NOT_DIRECTORY" });
  const info = await sandbox.getFileInfo(["dirs/one/x.py", "missing", "dirs"]);
  assert.deepEqual([...info.keys()], ["dirs/one/x.py", "dirs"]);
  assert.deepEqual([info.get("dirs/one/x.py").size, info.get("dirs").isDirectory], [5, true]);
  const set = await sandbox.setPermissions([{ path: "dirs/one/x.py", mode: 0o640 }, { path: "dirs", group: "root" }]);
  assert.deepEqual(set.map((result) => result.success), [true, false]);
  assert.equal((await sandbox.getFileInfo(["dirs/one/x.py"])).get("dirs/one/x.py").mode, 0o640);
  const found = await sandbox.search("*.py", "dirs");
  assert.deepEqual(found.map((entry) => entry.path).sort(), ["dirs/.hidden.py", "dirs/one/x.py"]);
  const removed = await sandbox.deleteDirectories(["dirs", "missing"], { force: true });
  assert.ok(removed.every((result) => result.success));
});

test("ping, getMetrics, capabilities, and what Cove has not", async () => {
  assert.equal(await sandbox.ping(), true);
  const metrics = await sandbox.getMetrics();
  assert.ok(metrics.cpuCount >= 1 && metrics.memoryTotalMiB > metrics.memoryUsedMiB && metrics.memoryUsedMiB > 0);
  assert.ok(metrics.cpuUsedPercentage >= 0 && metrics.cpuUsedPercentage <= 100);
  assert.deepEqual(sandbox.capabilities, {
    command: { streaming: true, background: true, interrupt: true },
    filesystem: { streamingRead: true, streamingWrite: true },
    metrics: true,
    expirationRenewal: false,
  });
  await assert.rejects(sandbox.renewExpiration(60), FeatureNotSupportedError);
  await assert.rejects(sandbox.getEndpoint(80), FeatureNotSupportedError);
});

test("two chats of one user share files; edits of a skill are at the root", async () => {
  const other = new CoveSandbox({ cove, ...identity, chatId: "chat2" });
  await sandbox.writeFiles([{ path: "/workspace/shared.txt", data: "x" }]);
  assert.equal((await other.execute("pwd; cat /workspace/shared.txt")).stdout, "/workspace/sessions/chat2\nx");
  await other.close();
  const skill = new CoveSandbox({ cove, sourceType: "skillEdit", sourceId: "s1", userId: "any", chatId: "edit-debug" });
  assert.equal((await skill.execute("pwd")).stdout, "/workspace\n");
  await skill.delete();
  await skill.waitUntilDeleted();
});

test("stop keeps the files, delete does not", async () => {
  await sandbox.writeFiles([{ path: "kept.txt", data: "kept" }]);
  await sandbox.stop();
  assert.equal((await sandbox.getInfo()).status.state, "Stopped");
  assert.equal((await sandbox.execute("cat kept.txt")).stdout, "kept");
  await assert.rejects(sandbox.waitUntilDeleted(1), TimeoutError);
  await sandbox.delete();
  await sandbox.delete();
  await sandbox.waitUntilDeleted();
  assert.equal(await sandbox.getInfo(), null);
});

test("ping and interrupt make no sandbox", async () => {
  await sandbox.delete();
  assert.equal(await sandbox.ping(), false);
  await sandbox.interrupt("0".repeat(32));
  assert.equal(await sandbox.getInfo(), null);
  await sandbox.ensureRunning();
  await sandbox.stop();
  assert.equal(await sandbox.ping(), true);
  await sandbox.delete();
});
