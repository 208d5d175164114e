// What the tests of the binding share: a Cove of its own below a temporary directory.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import * as v8 from "node:v8";
import * as vm from "node:vm";
import { Cove, CoveError } from "cove-workspace";

export const PACKAGE = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
export const REPOSITORY = path.resolve(PACKAGE, "..", "..");
export const KEY = { sourceType: "app", sourceId: "demo", userId: "ana" };

/** A directory with what runs below it; `end` leaves nothing behind. */
export class Home {
  path = fs.mkdtempSync(path.join(os.tmpdir(), "cove-node-"));
  /** Of every Cove that is opened here without another one, also the one that ends all. */
  config = {};

  get state() {
    return path.join(this.path, "state");
  }

  open(options = {}) {
    return Cove.open({ stateDir: this.state, config: this.config, ...options });
  }

  async end() {
    try {
      if (fs.existsSync(this.state)) {
        const cove = await this.open();
        for await (const record of cove.list()) await cove.destroy(record.sandboxId);
        await cove.close();
      }
    } finally {
      fs.rmSync(this.path, { recursive: true, force: true });
    }
  }
}

/** The least root file system that has a shell, and a file by which a command knows it. */
export function makeTree(root) {
  fs.mkdirSync(`${root}/etc`, { recursive: true });
  fs.writeFileSync(`${root}/etc/mark`, "named tree\n");
  for (const top of ["bin", "lib", "lib64"]) {
    fs.mkdirSync(`${root}/usr/${top}`, { recursive: true });
    fs.symlinkSync(`usr/${top}`, `${root}/${top}`);
  }
  const libraries = ["x86_64", "aarch64"].map((machine) => `/usr/lib/${machine}-linux-gnu/libc.so.6`);
  const loaders = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];
  for (const name of ["/bin/sh", "/bin/cat", ...loaders, ...libraries, "/usr/lib64/libc.so.6"]) {
    if (!fs.existsSync(name)) continue;
    const there = root + (name.startsWith("/usr/") ? name : `/usr${name}`);
    fs.mkdirSync(path.dirname(there), { recursive: true });
    fs.copyFileSync(fs.realpathSync(name), there);
  }
}

/** One Cove with the workspace of chat c1, for all tests of a file. */
export async function withCove() {
  const home = new Home();
  const cove = await home.open();
  const workspace = await cove.acquire(KEY, { chatId: "c1" });
  after(async () => {
    await workspace.close();
    await cove.close();
    await home.end();
  });
  return { home, cove, workspace };
}

/** Asserts that work fails with a CoveError of this code, and gives it. */
export async function fails(code, work, message) {
  const error = await Promise.resolve()
    .then(() => (typeof work === "function" ? work() : work))
    .then(
      () => assert.fail(`${code} was expected, and it succeeded`),
      (caught) => caught,
    );
  assert.ok(error instanceof CoveError, `${code} was expected, not ${error?.stack ?? error}`);
  assert.equal(error.code, code, error.message);
  if (message !== undefined) assert.match(error.message, message);
  return error;
}

/** Runs code in a Node of its own, with the binding to be imported. */
export async function runNode(code, { args = [], env = {}, node = process.execPath, flags = [], timeout } = {}) {
  const file = path.join(PACKAGE, "test", `.run-${process.pid}-${Math.random().toString(36).slice(2)}.mjs`);
  fs.writeFileSync(file, code);
  try {
    return await runProgram(node, [...flags, file, ...args], env, PACKAGE, timeout);
  } finally {
    fs.rmSync(file, { force: true });
  }
}

/** Runs a program to its end, at most two minutes, or `timeout` milliseconds. */
export function runProgram(program, args, env = {}, cwd = PACKAGE, timeout = 120_000) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, timeout });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}

v8.setFlagsFromString("--expose-gc");
const gc = vm.runInNewContext("gc");

/** Collects garbage until `isDone`, or fails. */
export async function collected(isDone, what) {
  for (let i = 0; i < 200; ++i) {
    await new Promise((resolve) => setTimeout(resolve, 10)); // what a job looked at lives as long as the job
    gc();
    await new Promise((resolve) => setTimeout(resolve, 10));
    if (await isDone()) return;
  }
  assert.fail(`${what} was not collected`);
}

export { gc };

export function text(chunks, stream) {
  const wanted = chunks.filter((chunk) => stream === undefined || chunk.stream === stream);
  return Buffer.concat(wanted.map((chunk) => chunk.data)).toString();
}
