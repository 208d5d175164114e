// What ctest builds the binding by: `npm ci` where the packages of the lock file are not there yet, then the build.
// Usage: node scripts/install.mjs
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { PACKAGE } from "./places.mjs";

const LOCK = path.join(PACKAGE, "package-lock.json");
const INSTALLED = path.join(PACKAGE, "node_modules", ".package-lock.json");

/** What is installed, by folder and version, as a lock file has it. */
function packagesOf(file) {
  if (!fs.existsSync(file)) return "";
  const { packages } = JSON.parse(fs.readFileSync(file, "utf8"));
  return Object.entries(packages)
    .filter(([folder]) => folder !== "")
    .map(([folder, { version }]) => `${folder}@${version}`)
    .sort()
    .join("\n");
}

function run(command, args) {
  const done = spawnSync(command, args, { cwd: PACKAGE, stdio: "inherit" });
  if (done.status !== 0) process.exit(done.status ?? 1);
}

if (packagesOf(LOCK) !== packagesOf(INSTALLED)) run("npm", ["ci", "--ignore-scripts"]);
run(process.execPath, ["scripts/build.mjs"]);
