// What an acquire prepares: inputs, steps of the application, the report.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import test from "node:test";
import { CoveError } from "cove-workspace";
import { Home, KEY, collected, fails, runNode, withCove } from "./support.mjs";

const { home, cove } = await withCove();

/** Acquires a chat, which is let go of at the test's end. */
async function acquire(t, chatId, prepare, options = {}) {
  const workspace = await cove.acquire(KEY, { chatId, prepare, ...options });
  t.after(() => workspace.close());
  return workspace;
}

test("inputs are there, and the report says where", async (t) => {
  const local = path.join(home.path, "local.txt");
  fs.writeFileSync(local, "from disk");
  const workspace = await acquire(t, "inputs", {
    files: { "a/数据.csv": Buffer.from("1,2"), "b.txt": { path: local }, "c.txt": "text" },
    initScript: 'echo "$MODE $TOKEN" > /workspace/init.txt',
    initVersion: "2",
    initTimeoutMs: 60_000,
    variables: { MODE: "demo" },
    secrets: { TOKEN: "s3cr3t" },
    timeZone: "UTC",
    mirrors: { npm: "https://npm.example/", go: undefined },
  });
  const report = workspace.prepareReport();
  assert.deepEqual([report.path, report.failed], ["run", false]);
  assert.ok(report.durationMs >= report.waitedMs);
  assert.deepEqual(report.inputFiles, ["数据.csv", "b.txt", "c.txt"].map((name) => `sessions/inputs/user_files/${name}`));
  assert.equal((await workspace.readFile("user_files/b.txt")).toString(), "from disk");
  assert.equal((await workspace.readFile("user_files/c.txt")).toString(), "text");
  assert.equal((await workspace.readFile("/workspace/init.txt")).toString(), "demo s3cr3t\n");
  assert.equal((await workspace.exec({ shell: "echo $MODE $TZ" })).out.text, "demo UTC\n");
  const mirrors = report.steps.find((step) => step.step === "mirrors");
  assert.deepEqual([mirrors.stage, mirrors.policy], ["mirrors", "best_effort"]);
  assert.ok(!JSON.stringify(report).includes("s3cr3t"));
});

test("a list of files may have a name twice, and bytes that are no UTF-8", async (t) => {
  const files = [["a.txt", "1"], ["a.txt", "2"], [Buffer.from([0xff, 0x62]), "3"]];
  const report = (await acquire(t, "twice", { files })).prepareReport();
  const base = "sessions/twice/user_files/";
  assert.deepEqual(report.inputFiles, [`${base}a.txt`, `${base}a-1.txt`, `${base}b`]);
});

test("a step of the application works in the workspace, tells, and keeps a note", async (t) => {
  const heard = [];
  let kept;
  const notes = [];
  const apply = async ({ workspace, signal, note, tell, over }) => {
    notes.push(note);
    assert.deepEqual([signal.aborted, over], [false, false]);
    tell("half");
    const done = await workspace.exec({ shell: "echo made > step.txt; echo $HOME" });
    await workspace.upload("up.bin", "uploaded");
    kept = workspace;
    return { reason: "as asked", output: `${done.out.text}\0`, note: `${note}n` };
  };
  const prepare = (fingerprint) => ({
    steps: [{ name: "own", apply, fingerprint, after: "directories" }],
    onEvent: (event) => heard.push(event),
  });
  const workspace = await acquire(t, "step", prepare("1"));
  const own = workspace.prepareReport().steps.find((step) => step.step === "host/own");
  assert.deepEqual([own.outcome, own.reason, own.stage], ["applied", "as asked", "directories"]);
  assert.match(own.output, /^\/home\/sandbox\n $/);
  assert.equal((await workspace.readFile("step.txt")).toString(), "made\n");
  assert.equal((await workspace.readFile("up.bin")).toString(), "uploaded");
  const events = heard.filter((event) => event.step === "host/own");
  assert.deepEqual(events.map((event) => event.event), ["started", "progress", "finished"]);
  assert.equal(events[1].text, "half");
  assert.equal(events[2].report.outcome, "applied");
  assert.ok(kept.closed);
  await fails("FAILED_PRECONDITION", kept.exec(["true"]), /this workspace is closed/);
  assert.throws(() => kept.prepareReport(), { code: "FAILED_PRECONDITION" });
  await acquire(t, "step", prepare("1"));
  assert.deepEqual(notes, [""]);
  await acquire(t, "step", prepare("2"));
  assert.deepEqual(notes, ["", "n"]);
});

test("closing the workspace of a step ends nothing of the acquire", async (t) => {
  const apply = async ({ workspace }) => {
    await workspace.release();
    await workspace.close();
    await fails("FAILED_PRECONDITION", workspace.release());
    return { skipped: true, reason: "nothing to do" };
  };
  const workspace = await acquire(t, "release", { steps: [{ name: "own", apply }] });
  assert.equal((await workspace.exec(["echo", "on"])).out.text, "on\n");
  const own = workspace.prepareReport().steps.at(-1);
  assert.deepEqual([own.outcome, own.reason], ["skipped", "nothing to do"]);
});

test("what a required step throws is the acquire's error, of another one the report's", async (t) => {
  const missing = () => {
    throw new CoveError("NOT_FOUND", "no fonts here", { context: { output: "looked\n" } });
  };
  const error = await fails("NOT_FOUND", acquire(t, "fail1", { steps: [{ name: "fonts", apply: missing }] }), /no fonts here/);
  assert.deepEqual([error.context.step, error.context.output], ["host/fonts", "looked\n"]);
  const cause = new RangeError("in the step");
  const apply = () => Promise.reject(cause);
  const internal = await fails("INTERNAL", acquire(t, "fail2", { steps: [{ name: "fonts", apply }] }), /threw RangeError: in the step/);
  assert.equal(internal.cause, cause);
  await fails("INTERNAL", acquire(t, "fail3", { steps: [{ name: "x", apply: () => ({ reasons: "x" }) }] }), /has no option "reasons"/);
  const weak = { name: "weak", apply: missing, fingerprint: "1", required: false };
  const report = (await acquire(t, "fail4", { steps: [weak] })).prepareReport();
  assert.ok(report.failed);
  const failed = report.steps.find((step) => step.step === "host/weak");
  assert.deepEqual(failed.error, { code: "NOT_FOUND", message: "no fonts here" });
  assert.ok(failed.retryAfterMs > 0);
});

/** A step that waits for its signal; `ended` gives the signal's reason. */
function waiting() {
  let aborted;
  let began;
  const ended = new Promise((resolve) => (aborted = resolve));
  const begun = new Promise((resolve) => (began = resolve));
  const apply = (run) => {
    began(run);
    return new Promise((resolve) => run.signal.addEventListener("abort", () => resolve(aborted(run.signal.reason))));
  };
  return { apply, ended, begun };
}

test("a step that takes too long fails, and hears of it", async (t) => {
  const { apply, ended, begun } = waiting();
  const slow = { name: "slow", apply, fingerprint: "1", required: false, timeoutMs: 1000 };
  const report = (await acquire(t, "slow", { steps: [slow] })).prepareReport();
  assert.equal(report.steps.at(-1).reason, "it took longer than its 1 s");
  assert.equal((await ended).code, "CANCELLED");
  const run = await begun;
  assert.ok(run.over && run.workspace.closed);
  run.tell("late");
});

test("an acquire that is called off, or whose Cove closes, ends its step", async (t) => {
  const first = waiting();
  const controller = new AbortController();
  const acquiring = acquire(t, "off", { steps: [{ name: "own", apply: first.apply }] }, { signal: controller.signal });
  await first.begun;
  controller.abort();
  assert.equal((await fails("CANCELLED", acquiring)).name, "AbortError");
  assert.equal((await first.ended).code, "CANCELLED");

  const other = new Home();
  const second = waiting();
  const closing = await other.open();
  const pending = closing.acquire(KEY, { prepare: { steps: [{ name: "own", apply: second.apply }] } });
  pending.catch(() => undefined);
  await second.begun;
  await closing.close();
  await fails("CANCELLED", pending);
  await second.ended;
  await other.end();
});

test("a workspace that wakes is prepared again", async (t) => {
  let times = 0;
  const own = { name: "own", apply: () => ({ reason: String(++times) }) };
  const workspace = await cove.acquire({ ...KEY, userId: "waking" }, { prepare: { steps: [own] } });
  t.after(() => workspace.close());
  assert.equal(times, 1);
  await cove.stop(workspace.sandboxId, { drain: "cancel", waitMs: 1 });
  assert.equal((await workspace.exec(["echo", "awake"])).out.text, "awake\n");
  assert.equal(times, 2);
  assert.equal(workspace.prepareReport().steps.at(-1).reason, "2");
});

test("functions are let go of with the workspace that was prepared by them", async () => {
  const seen = [];
  const workspace = await (() => {
    const apply = () => ({ note: "x" });
    const onEvent = () => undefined;
    seen.push(new WeakRef(apply), new WeakRef(onEvent));
    return cove.acquire(KEY, { chatId: "gone", prepare: { steps: [{ name: "own", apply }], onEvent } });
  })();
  await workspace.close();
  await collected(() => seen.every((each) => each.deref() === undefined), "a function of prepare");
});

test("wrong inputs are named", async (t) => {
  const wrong = (prepare, message) => assert.rejects(acquire(t, "wrong", prepare), message);
  const step = { name: "x", apply: () => undefined };
  await wrong({ mirrors: { nuget: "https://x" } }, /a name in mirrors must be "npm" or "pypi"/);
  await wrong({ steps: [{ ...step, after: "then" }] }, /after must be "directories"/);
  await wrong({ steps: [{ ...step, timeout: 1 }] }, /a step has no option "timeout"/);
  await wrong({ steps: [{ name: "x" }] }, /apply of the step "x" must be a function/);
  await wrong({ steps: step }, /steps must be a list/);
  await wrong({ variables: { A: 1 } }, /variables.A must be a string/);
  await wrong({ files: { a: 7 } }, /files\["a"\] must be bytes or a string, not number/);
  await wrong({ files: { a: { path: 7 } } }, /files\["a"\].path must be a string or bytes/);
  await wrong({ onEvent: "x" }, /onEvent must be a function/);
  await wrong({ file: {} }, /prepare has no option "file"/);
  await wrong("x", /the options of prepare must be an object/);
  await fails("INVALID_ARGUMENT", acquire(t, "wrong", { variables: { HOME: "/root" } }), /HOME is the sandbox's own/);
});

const STEPS = (name) => `
  const prepare = { steps: [{ name: "own", apply: async ({ workspace, tell }) => {
    tell("on");
    return { output: (await workspace.exec(["echo", "${name}"])).out.text };
  } }] };`;

test("steps of several workers and of the main thread each run where they belong", async () => {
  const other = new Home();
  const done = await runNode(
    `import { Worker } from "node:worker_threads";
     import { Cove } from "cove-workspace";
     const key = (n) => ({ ...${JSON.stringify(KEY)}, userId: "user" + n });
     const code = \`
       const { workerData, parentPort, threadId } = require("node:worker_threads");
       const { Cove } = require("cove-workspace");
       ${STEPS("worker").replaceAll("`", "\\`").replaceAll("${", "\\${")}
       (async () => {
         const cove = await Cove.open(workerData.state);
         const workspace = await cove.acquire(workerData.key, { prepare });
         parentPort.postMessage(workspace.prepareReport().steps.at(-1).output.trim());
         const hang = { steps: [{ name: "hang", apply: () => { parentPort.postMessage("hangs"); return new Promise(() => undefined); } }] };
         await cove.acquire(workerData.key, { chatId: "c2", prepare: hang });
       })();\`;
     ${STEPS("main")}
     const cove = await Cove.open(process.argv[2]);
     const works = [0, 1].map((n) => new Promise((resolve, reject) => {
       const said = [];
       const worker = new Worker(code, { eval: true, workerData: { state: process.argv[2], key: key(n) } });
       worker.on("error", reject).on("message", (text) => said.push(text) === 2 && worker.terminate().then(() => resolve(said)));
     }));
     const mine = await cove.acquire(key(2), { prepare });
     console.log(mine.prepareReport().steps.at(-1).output.trim(), (await Promise.all(works)).flat().join(" "));
     await mine.close();
     await cove.close();`,
    { args: [other.state] },
  );
  await other.end();
  assert.deepEqual([done.code, done.stdout], [0, "main worker hangs worker hangs\n"], done.stderr);
});

test("a program may exit while its step runs, quietly", async () => {
  const other = new Home();
  const done = await runNode(
    `import { Cove } from "cove-workspace";
     const cove = await Cove.open(process.argv[2]);
     const apply = async ({ workspace }) => {
       workspace.exec(["sleep", "100"]).catch(() => undefined);
       workspace.upload("never", new ReadableStream({ pull: () => new Promise(() => undefined) })).catch(() => undefined);
       setTimeout(() => { console.log("end"); process.exit(4); }, 50);
       await new Promise(() => undefined);
     };
     await cove.acquire(${JSON.stringify(KEY)}, { prepare: { steps: [{ name: "own", apply }], onEvent: () => undefined } });`,
    { args: [other.state] },
  );
  await other.end();
  assert.deepEqual([done.code, done.signal, done.stdout, done.stderr], [4, null, "end\n", ""]);
});
