// Finding the addon and the library, and saying clearly why one was not found.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import test from "node:test";
import { version } from "cove-workspace";
import { runNode } from "./support.mjs";

const IMPORT = 'import("cove-workspace").then((c) => console.log(c.version))';

test("a named library that is not there is said, and no other is taken", async () => {
  const done = await runNode(IMPORT, { env: { COVE_LIBRARY: "/nowhere/libcove.so" } });
  assert.equal(done.code, 1);
  assert.match(done.stderr, /libcove\.so was not found or cannot be loaded/);
  assert.match(done.stderr, /\/nowhere\/libcove\.so \(COVE_LIBRARY\): .*cannot open shared object file/);
});

test("without a name the package and the system are tried", async (t) => {
  const done = await runNode(IMPORT, { env: { COVE_LIBRARY: "" } });
  if (done.code === 0) return t.skip("a libcove.so is installed on this system");
  assert.match(done.stderr, /libcove\.so\.0\.1 \(in this package\)/);
  assert.match(done.stderr, /libcove\.so\.0\.1 \(of the system\)/);
  assert.match(done.stderr, /set COVE_LIBRARY/);
});

test("another library is refused by what it lacks", async () => {
  const done = await runNode(IMPORT, { env: { COVE_LIBRARY: "libc.so.6" } });
  assert.equal(done.code, 1);
  assert.match(done.stderr, /libc\.so\.6 is no libcove\.so of this package's version: it has no cove_/);
});

test("a library of another version is refused", () => {
  const { checkVersion } = createRequire(import.meta.url)("../dist/native.js");
  assert.throws(() => checkVersion("0.2.0", "/x"), /needs libcove\.so 0\.1, but \/x is 0\.2\.0/);
  assert.equal(version, "0.1.0");
});

test("only native.ts loads the addon", async () => {
  const done = await runNode(
    `import * as fs from "node:fs";
     for (const name of fs.readdirSync("dist", { recursive: true })) {
       if (String(name).endsWith(".js") && fs.readFileSync("dist/" + name, "utf8").includes("cove.node")) console.log(String(name));
     }`,
  );
  assert.equal(done.stdout, "native.js\n", done.stderr);
});
