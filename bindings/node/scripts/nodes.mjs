// Runs the tests in the official binaries of every Node that is supported, which npm has as packages.
// Usage: node scripts/nodes.mjs [FILE...]     without files: what depends on Node most
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { PACKAGE } from "./places.mjs";

const VERSIONS = ["18", "20", "22"];
const FILES = ["arguments", "loader", "commands", "transfers", "lifecycle", "prepare", "guest"].map((name) => `test/${name}.test.mjs`);

/** The binary of a version, fetched once. */
function binaryOf(version) {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = path.join(PACKAGE, "build", "nodes", version);
  const binary = path.join(folder, "node_modules", name, "bin", "node");
  if (fs.existsSync(binary)) return binary;
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, "package.json"), '{"private": true}');
  const options = { cwd: folder, stdio: "inherit" };
  const done = spawnSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", `${name}@${version}`], options);
  if (done.status !== 0) throw new Error(`npm has no ${name}@${version}`);
  return binary;
}

const files = process.argv.length > 2 ? process.argv.slice(2) : FILES;
for (const version of VERSIONS) {
  const binary = binaryOf(version);
  console.log(`=== ${spawnSync(binary, ["--version"], { encoding: "utf8" }).stdout.trim()}`);
  const done = spawnSync(binary, ["scripts/test.mjs", ...files], { cwd: PACKAGE, stdio: "inherit" });
  if (done.status !== 0) process.exitCode = 1;
}
