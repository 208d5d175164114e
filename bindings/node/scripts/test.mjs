// Runs the tests with the library of this checkout.
// Usage: node scripts/test.mjs [--slow] [FILE...]     without files: all of test/*.test.mjs
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { PACKAGE, findLibrary } from "./places.mjs";

const given = process.argv.slice(2);
const files = given.filter((argument) => argument !== "--slow");
const all = fs.readdirSync(path.join(PACKAGE, "test")).filter((name) => name.endsWith(".test.mjs"));
const chosen = files.length > 0 ? files : all.map((name) => path.join("test", name));
const environment = { ...process.env, COVE_LIBRARY: findLibrary() };
if (given.includes("--slow")) environment.COVE_SLOW = "1";
// The test of the package puts the library where the loader's must not find it: after the others.
const isPackage = (file) => path.basename(file) === "package.test.mjs";
for (const group of [chosen.filter((file) => !isPackage(file)), chosen.filter(isPackage)]) {
  if (group.length === 0) continue;
  const options = { cwd: PACKAGE, stdio: "inherit", env: environment };
  const done = spawnSync(process.execPath, ["--test", ...group], options);
  if (done.status !== 0) process.exitCode = 1;
}
