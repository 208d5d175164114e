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
const done = spawnSync(process.execPath, ["--test", ...chosen], { cwd: PACKAGE, stdio: "inherit", env: environment });
process.exitCode = done.status ?? 1;
