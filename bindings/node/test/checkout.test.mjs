// What a newcomer does: a clone, a release's build, `npm install && npm test`, and nothing else.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { after, test } from "node:test";
import { SONAME, findLibrary } from "../scripts/places.mjs";
import { PACKAGE, REPOSITORY, runProgram } from "./support.mjs";

const clone = fs.mkdtempSync(path.join(os.tmpdir(), "cove-clone-"));
after(() => fs.rmSync(clone, { recursive: true, force: true }));

/** What was made here is not in a clone. */
const MADE = new Set(["node_modules", "build", "dist", "prebuilds"]);

test("a checkout is installed and tested by npm alone", { timeout: 600_000 }, async () => {
  const copy = path.join(clone, "bindings", "node");
  fs.cpSync(PACKAGE, copy, {
    recursive: true,
    filter: (source) => path.dirname(source) !== PACKAGE || !MADE.has(path.basename(source)),
  });
  fs.cpSync(path.join(REPOSITORY, "capi", "include"), path.join(clone, "capi", "include"), { recursive: true });
  const built = path.join(clone, "build", "release", "lib");
  fs.mkdirSync(built, { recursive: true });
  fs.symlinkSync(fs.realpathSync(findLibrary()), path.join(built, SONAME));
  const own = {
    COVE_LIBRARY: undefined, // it is found where the release's build puts it
    NODE_TEST_CONTEXT: undefined, // else it thinks that it is a part of this test
  };

  const installed = await runProgram("npm", ["install", "--no-audit", "--no-fund"], own, copy, 400_000);
  assert.equal(installed.code, 0, installed.stderr);
  const before = fs.readFileSync(path.join(PACKAGE, "package-lock.json"), "utf8");
  assert.equal(fs.readFileSync(path.join(copy, "package-lock.json"), "utf8"), before);
  const some = ["test", "--", "test/arguments.test.mjs", "test/commands.test.mjs"];
  const tested = await runProgram("npm", some, own, copy);
  assert.equal(tested.code, 0, tested.stdout + tested.stderr);
  assert.match(tested.stdout, /# pass [1-9]/);
});
