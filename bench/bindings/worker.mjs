// A Node host that does calls as each line of its stdin says, and how many milliseconds one of them took. A line names a
// call, and how many of them follow one another: of several the median counts.
// Usage: node worker.mjs STATE_DIR PROGRAM
import * as fs from "node:fs";
import * as readline from "node:readline";
import { spawn } from "node:child_process";
import { Cove } from "../../bindings/node/dist/index.mjs";

const [state, program] = process.argv.slice(2);
const cove = await Cove.open(state);
const workspace = await cove.acquire({ sourceType: "bench", sourceId: "bindings", userId: "node" });
await workspace.writeFile("/workspace/true", fs.readFileSync(program), { mode: 0o755 });
await workspace.writeFile("page", Buffer.alloc(4096, "x"));

const one = () => workspace.exec(["/workspace/true"]);
const outside = () =>
  new Promise((resolve, reject) => {
    const child = spawn(program, [], { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.resume();
    child.stderr.resume();
    child.on("error", reject);
    child.on("close", resolve);
  });
const many = (call) => Promise.all(Array.from({ length: 200 }, call));
const calls = {
  exec: one,
  read: () => workspace.readFile("page"),
  "exec-200": () => many(one),
  "spawn-200": () => many(outside),
};

/// The most memory that this process held at once since it was last asked, in KiB.
function peak() {
  const found = /VmHWM:\s+(\d+)/.exec(fs.readFileSync("/proc/self/status", "utf8"));
  fs.writeFileSync("/proc/self/clear_refs", "5");
  return Number(found[1]);
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  if (line === "peak") {
    console.log(peak());
    continue;
  }
  const [name, times] = line.split(" ");
  const figures = [];
  for (let i = 0; i < Number(times); ++i) {
    const began = process.hrtime.bigint();
    await calls[name]();
    figures.push(Number(process.hrtime.bigint() - began) / 1e6);
  }
  console.log(figures.sort((a, b) => a - b)[figures.length >> 1]);
}
await workspace.release();
await cove.destroy(workspace.sandboxId);
await cove.close();
