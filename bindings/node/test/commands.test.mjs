// Commands on the real thing: how they end, what they write, how they are followed.
import assert from "node:assert/strict";
import { once } from "node:events";
import { pipeline } from "node:stream/promises";
import { Writable } from "node:stream";
import test from "node:test";
import { collected, fails, text, withCove } from "./support.mjs";

const { workspace } = await withCove();

test("a result says how it ended and what was written", async () => {
  const result = await workspace.exec(["sh", "-c", "pwd; echo oops >&2; exit 7"]);
  assert.deepEqual([result.outcome, result.code, result.shellCode, result.succeeded], ["exited", 7, 7, false]);
  assert.equal(result.out.text, "/workspace/sessions/c1\n");
  assert.deepEqual(result.err.head, Buffer.from("oops\n"));
  assert.equal(result.out.droppedBytes, 0);
  assert.equal(result.out.spillPath, null);
  assert.ok(result.durationMs > 0);
});

test("a signal is an outcome", async () => {
  const result = await workspace.exec(["sh", "-c", "kill -TERM $$"]);
  assert.deepEqual([result.outcome, result.code, result.shellCode], ["signaled", 15, 143]);
});

test("arguments, environment, stdin and directory arrive", async () => {
  const result = await workspace.exec(["sh", "-c", 'printf "%s|" "$@" "$NAME" "$PWD"; cat', "sh", "", "a b"], {
    env: { NAME: "ana" },
    stdin: "in\0put",
    cwd: "/workspace",
  });
  assert.equal(result.out.head.toString(), "|a b|ana|/workspace|in\0put");
});

test("a line of the shell, merged output, quiet time-outs and spills", async () => {
  const line = await workspace.exec({ shell: "echo $((6 * 7)); echo err >&2" }, { mergeOutput: true });
  assert.equal(line.out.text, "42\nerr\n");
  assert.ok(line.userCpuMs + line.systemCpuMs > 0);
  const quiet = await workspace.exec(["sleep", "100"], { quietTimeoutMs: 200 });
  assert.deepEqual([quiet.outcome, quiet.quiet], ["timed_out", true]);
  const spilled = await workspace.exec(["seq", "100000"], { headBytes: 10, tailBytes: 10, spill: true });
  const last = await workspace.exec(["tail", "-n", "1", spilled.out.spillPath]);
  assert.equal(last.out.text, "100000\n");
});

test("a missing program is an error, not an outcome, and its stack leads to the caller", async () => {
  async function here() {
    await workspace.exec(["no-such-program"]);
  }
  const error = await fails("NOT_FOUND", here, /no-such-program/);
  assert.match(error.stack, /here/);
});

test("a command's time limit keeps the output so far", async () => {
  const result = await workspace.exec(["sh", "-c", "echo before; exec sleep 100"], { commandTimeoutMs: 500 });
  assert.deepEqual([result.outcome, result.shellCode, result.out.text], ["timed_out", 124, "before\n"]);
});

test("a long output keeps head and tail and counts the rest", async () => {
  const result = await workspace.exec(["seq", "100000"], { headBytes: 100, tailBytes: 0 });
  assert.ok(result.out.head.toString().startsWith("1\n2\n3\n"));
  assert.equal(result.out.tail.length, 0);
  assert.equal(result.out.totalBytes, 588895);
  assert.equal(result.out.droppedBytes, 588895 - result.out.head.length);
});

test("an abort ends the command; its result says so", async () => {
  const controller = new AbortController();
  const run = workspace.stream(["sh", "-c", "echo up; exec sleep 100"], { signal: controller.signal });
  assert.equal((await run.next()).value.data.toString(), "up\n");
  controller.abort();
  const result = await run.wait();
  assert.deepEqual([result.outcome, result.out.text], ["cancelled", "up\n"]);
});

test("an abort before the start is an AbortError with the signal's reason", async () => {
  const reason = new Error("the user left");
  const error = await fails("CANCELLED", workspace.exec(["true"], { signal: AbortSignal.abort(reason) }));
  assert.equal(error.name, "AbortError");
  assert.equal(error.cause, reason);
});

test("a signal that outlives its calls keeps nothing of them", async () => {
  const { getEventListeners } = await import("node:events");
  const { signal } = new AbortController();
  await workspace.exec(["true"], { signal });
  await workspace.stream(["true"], { signal }).wait();
  await workspace.stat(".", { signal });
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

test("many commands at once share one workspace", async () => {
  const results = await Promise.all(Array.from({ length: 50 }, (_, i) => workspace.exec(["echo", String(i)])));
  assert.deepEqual(results.map((result) => result.out.text), Array.from({ length: 50 }, (_, i) => `${i}\n`));
});

test("output comes as it is written, then the result", async () => {
  const run = workspace.stream(["sh", "-c", "echo one; read x; echo two >&2"], { stdin: "\n" });
  const chunks = await run.toArray();
  assert.equal(text(chunks, "stdout"), "one\n");
  assert.equal(text(chunks, "stderr"), "two\n");
  assert.ok((await run.result).succeeded);
});

test("a slow reader slows the command down and loses nothing", async () => {
  // 16 MiB through a buffer of 1 MiB: it pauses and resumes many times.
  let total = 0;
  const run = workspace.stream(["head", "-c", String(16 << 20), "/dev/zero"]);
  for await (const { data } of run) {
    total += data.length;
    assert.ok(run.bufferedBytes < (1 << 20) + (1 << 19), `${run.bufferedBytes} bytes are held`);
  }
  assert.equal(total, 16 << 20);
  assert.equal((await run.result).out.totalBytes, 16 << 20);
});

test("[pain-52] pieces put together are the text, whatever they cut", async () => {
  const pieces = [];
  const command = "i=0; while [ $i -lt 5000 ]; do printf '数据é'; i=$((i+1)); done";
  const result = await workspace.exec({ shell: command }, { onOutput: (_, data) => pieces.push(data) });
  assert.equal(Buffer.concat(pieces).toString(), "数据é".repeat(5000));
  assert.equal(result.out.totalBytes, Buffer.concat(pieces).length);
});

test("what onOutput throws ends the command and is thrown", async () => {
  const began = Date.now();
  const fail = () => {
    throw new RangeError("in the callback");
  };
  await assert.rejects(workspace.exec({ shell: "echo up; exec sleep 100" }, { onOutput: fail }), /in the callback/);
  assert.ok(Date.now() - began < 50_000);
});

test("onOutput may be asynchronous, and call the workspace", async () => {
  const seen = [];
  await workspace.exec(["echo", "outer"], {
    onOutput: async () => seen.push((await workspace.exec(["echo", "inner"])).out.text),
  });
  assert.deepEqual(seen, ["inner\n"]);
});

test("leaving a loop early ends the command", async () => {
  const run = workspace.stream({ shell: "echo up; exec yes" });
  for await (const { data } of run) {
    assert.ok(data.length > 0);
    break;
  }
  assert.equal((await run.result).outcome, "cancelled");
  assert.deepEqual(await run.next(), { done: true, value: undefined });
  await run.close();
});

test("await using's method ends the command", async () => {
  const run = workspace.stream({ shell: "echo up; exec sleep 100" });
  await run.next();
  await run[Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]();
  assert.equal((await run.result).outcome, "cancelled");
});

test("forgetting a stream ends the command", async () => {
  let result;
  await (async () => {
    const run = workspace.stream({ shell: "echo up; exec yes" });
    await run.next();
    run.result.then((value) => (result = value));
  })();
  await collected(() => result !== undefined, "the stream");
  assert.equal(result.outcome, "cancelled");
});

test("stdin is written piece by piece", async () => {
  const run = workspace.stream({ shell: "while read x; do echo got $x; done" }, { keepStdin: true });
  await run.writeStdin("one\n");
  assert.equal((await run.next()).value.data.toString(), "got one\n");
  await run.writeStdin(Buffer.from("two\n"));
  assert.equal((await run.next()).value.data.toString(), "got two\n");
  await run.closeStdin();
  assert.ok((await run.wait()).succeeded);
  await fails("FAILED_PRECONDITION", run.writeStdin("late"));
});

test("stdin and output as Node streams", async () => {
  const run = workspace.stream(["tr", "a-z", "A-Z"], { keepStdin: true });
  const stdin = run.stdin();
  stdin.write("hello ");
  stdin.end("there");
  const chunks = [];
  await pipeline(run.readable("stdout"), new Writable({ write: (data, _, done) => done(void chunks.push(data)) }));
  assert.equal(Buffer.concat(chunks).toString(), "HELLO THERE");
  assert.ok((await run.result).succeeded);
});

test("destroying a Node stream, and cancelling a web stream, end the command", async () => {
  const first = workspace.stream({ shell: "exec yes" });
  const readable = first.readable();
  await once(readable, "data");
  readable.destroy();
  assert.equal((await first.result).outcome, "cancelled");
  const second = workspace.stream({ shell: "exec yes" });
  const reader = second.webStream("stdout").getReader();
  assert.ok((await reader.read()).value.length > 0);
  await reader.cancel();
  assert.equal((await second.result).outcome, "cancelled");
});

test("a web stream gives one stream's bytes", async () => {
  const run = workspace.stream({ shell: "echo out; echo err >&2" });
  assert.equal(await new Response(run.webStream("stderr")).text(), "err\n");
});

test("a terminal has its size and changes it", async () => {
  const line = "trap 'stty size' WINCH; stty size; while :; do sleep 0.05; done";
  const run = workspace.stream({ shell: line }, { terminal: { rows: 31, columns: 97 } });
  assert.equal((await run.next()).value.data.toString(), "31 97\r\n");
  await run.resize(40, 120);
  assert.equal((await run.next()).value.data.toString(), "40 120\r\n");
  await run.sendSignal("SIGKILL");
  assert.equal((await run.wait()).code, 9);
});
