// What is wrong in a call is said before C sees it; needs no sandbox.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import test from "node:test";
import * as cove from "cove-workspace";
import { Cove, CoveError, ERROR_CODES, defaultStateDir, sandboxIdOf } from "cove-workspace";
import { fails } from "./support.mjs";

const require = createRequire(import.meta.url);
const options = require("../dist/options.js");
const { native } = require("../dist/native.js");
const { argvOf, commandFields } = require("../dist/exec.js");

test("the sandbox id is the promised one", () => {
  assert.equal(sandboxIdOf({ sourceType: "app", sourceId: "demo", userId: "ana" }), "app-52b3bfdf3477b4e1a1bf8608dc581e36");
  assert.equal(sandboxIdOf({ sourceType: "app", sourceId: "数据", userId: "a-b" }), "app-437a76ef03ccf4f4718c84565ce373a4");
});

test("a wrong key is an error of its code with a message", async () => {
  const error = await fails("INVALID_ARGUMENT", () => sandboxIdOf({ sourceType: "a-b", sourceId: "demo", userId: "ana" }));
  assert.match(error.message, /source_type/);
  assert.equal(error.retryAfterMs, null);
  assert.equal(error.name, "CoveError");
  assert.ok(error instanceof Error);
});

test("wrong types are named", () => {
  for (const wrong of ["app", null, 7]) {
    assert.throws(() => sandboxIdOf(wrong), { name: "TypeError", message: /key must be/ });
  }
  assert.throws(() => sandboxIdOf({ sourceType: "app", sourceId: 7, userId: "ana" }), /sourceId must be a string, not number/);
  assert.throws(() => sandboxIdOf({ sourceType: "app", sourceId: "a\0b", userId: "ana" }), /sourceId must not contain NUL/);
  assert.throws(() => argvOf("sh -c x"), /must be a list as \["python3", "a.py"\], or {shell/);
  assert.throws(() => argvOf([]), /has no program/);
  assert.throws(() => argvOf(["sh", 1]), /command\[1\] must be a string or bytes, not number/);
  assert.throws(() => commandFields({ shell: "" }, {}), { name: "RangeError", message: "shell must not be empty" });
  assert.throws(() => commandFields({ shell: undefined }, {}), { name: "TypeError", message: /^shell must be a string/ });
  assert.throws(() => options.data("data", 7), /data must be bytes or a string, not number/);
  assert.throws(() => options.environment({ "A=B": "1" }), /holds "="/);
  assert.throws(() => options.signalNumber("SIGNOTHING"), /signal must be a number or a name/);
  assert.throws(() => options.oneOf("type", "fifo", ["file", "other"]), /type must be "file" or "other", not "fifo"/);
});

test("a name that a call does not know is an error, since what was meant would not happen", () => {
  assert.throws(
    () => options.options("exec", { timeout: 5 }, ["timeoutMs", "signal"]),
    /exec has no option "timeout"; it has timeoutMs, signal/,
  );
});

test("times never become unlimited", () => {
  assert.equal(options.milliseconds("timeoutMs", undefined), 0);
  assert.equal(options.milliseconds("timeoutMs", 1500.7), 1500);
  assert.equal(options.milliseconds("timeoutMs", 0.1), 1);
  assert.equal(options.milliseconds("timeoutMs", Infinity), Infinity);
  for (const wrong of [0, -1, NaN]) assert.throws(() => options.milliseconds("timeoutMs", wrong), RangeError);
  for (const wrong of ["1", true, null]) assert.throws(() => options.milliseconds("timeoutMs", wrong), TypeError);
});

test("kept bytes tell the default from nothing", () => {
  assert.equal(options.keptBytes("headBytes", undefined), 0);
  assert.equal(options.keptBytes("headBytes", 0), Infinity);
  assert.equal(options.keptBytes("headBytes", 5), 5);
  assert.throws(() => options.keptBytes("headBytes", -1), RangeError);
  assert.throws(() => options.keptBytes("headBytes", 1.5), RangeError);
});

test("every option of a command arrives under its name", () => {
  const fields = commandFields({ shell: "ls" }, {
    cwd: "d", env: { A: "1", B: undefined }, stdin: "x", commandTimeoutMs: 1, killGraceMs: 2, maxTotalBytes: 3, headBytes: 4,
    tailBytes: 5, headLines: 6, tailLines: 7, terminal: { rows: 8, columns: 9 }, mergeOutput: true, quietTimeoutMs: 10,
    orphanGraceMs: Infinity, spill: true, keepStdin: true, memoryBytes: 11, cpuSeconds: 12, processLimit: 13, niceness: 14,
  });
  assert.deepEqual(fields, {
    shellLine: "ls", cwd: "d", env: ["A=1"], stdin: Buffer.from("x"), commandTimeoutMs: 1, killGraceMs: 2, maxTotalBytes: 3,
    headBytes: 4, tailBytes: 5, headLines: 6, tailLines: 7, terminalRows: 8, terminalColumns: 9, mergeOutput: true,
    quietTimeoutMs: 10, orphanGraceMs: Infinity, spill: true, keepStdin: true, memoryBytes: 11, cpuSeconds: 12,
    processLimit: 13, niceness: 14,
  });
});

test("a handle of another kind, of the caller's own making, or none, is a TypeError and never a crash", () => {
  const cancel = native.cancelCreate();
  for (const wrong of [cancel, {}, null, undefined, 7, "x", Object.create(cancel), new Proxy({}, {})]) {
    assert.throws(() => native.readFile(wrong, "a", {}), { name: "TypeError", message: /another handle/ });
    assert.throws(() => native.takeOutput(wrong, 1), TypeError);
    assert.throws(() => native.letGo(wrong), TypeError);
  }
  assert.throws(() => native.cancelTrigger({}), TypeError);
  assert.throws(() => native.describeTools("x"), TypeError);
});

test("every code has its name in the library", () => {
  assert.equal(ERROR_CODES.length, 16);
  ERROR_CODES.forEach((code, i) => assert.equal(native.statusName(i + 1), code.toLowerCase()));
});

test("a host's own CoveError has what it is given", () => {
  const cause = new Error("below");
  const error = new CoveError("UNAVAILABLE", "not now", { cause, context: { path: "a" }, retryAfterMs: 50 });
  assert.deepEqual([error.code, error.reason, error.message, error.retryAfterMs, error.cause], ["UNAVAILABLE", "not now", "not now", 50, cause]);
  assert.equal(error.context.path, "a");
});

test("a configuration that is wrong names the key", async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "cove-node-"));
  await fails("INVALID_ARGUMENT", Cove.open({ stateDir: folder, config: { no_such_key: 1 } }), /no_such_key/);
  await fails("INVALID_ARGUMENT", Cove.open({ stateDir: folder, config: { no_such_key: 1 }, log: () => undefined }), /no_such_key/);
  await assert.rejects(Cove.open({ statedir: folder }), /Cove.open has no option "statedir"/);
  fs.rmSync(folder, { recursive: true });
});

test("the state directory is by the rule of the command", () => {
  const before = { ...process.env };
  const uid = process.geteuid;
  const at = (root, environment) => {
    for (const name of ["COVE_HOME", "XDG_STATE_HOME"]) delete process.env[name];
    Object.assign(process.env, { HOME: "/home/ana" }, environment);
    process.geteuid = () => (root ? 0 : 1000);
    return defaultStateDir();
  };
  try {
    assert.equal(at(false, { COVE_HOME: "/x" }), "/x");
    assert.equal(at(true, { XDG_STATE_HOME: "/s" }), "/var/lib/cove");
    assert.equal(at(false, { XDG_STATE_HOME: "/s" }), "/s/cove");
    assert.equal(at(false, { XDG_STATE_HOME: "relative" }), "/home/ana/.local/state/cove");
    assert.equal(at(false, {}), "/home/ana/.local/state/cove");
  } finally {
    process.geteuid = uid;
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
  }
});

test("import and require give the same objects", () => {
  const required = require("cove-workspace");
  const marks = ["__esModule", "default", "module.exports"]; // of how Node shows CommonJS to ESM
  assert.deepEqual(Object.keys(cove).filter((name) => !marks.includes(name)).sort(), Object.keys(required).sort());
  for (const name of Object.keys(required)) assert.equal(cove[name], required[name], name);
});
