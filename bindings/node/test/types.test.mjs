// The types say what the code does: test/types.ts compiles, and its wrong lines do not.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import test from "node:test";
import { PACKAGE, runProgram } from "./support.mjs";

const TSC = path.join(PACKAGE, "node_modules", "typescript", "bin", "tsc");
const FLAGS = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2023,esnext.disposable", "--types", "node", "--skipLibCheck", "false"];

for (const [module, file] of [["node16", "types.mts"], ["node16", "types.cts"]]) {
  test(`types are right for ${file}`, async () => {
    const flags = [...FLAGS, "--module", module, "--moduleResolution", module];
    const done = await runProgram(process.execPath, [TSC, ...flags, path.join("test", file)]);
    assert.equal(done.code, 0, done.stdout);
  });
}

test("no type is any by accident", () => {
  const declared = fs.readdirSync(path.join(PACKAGE, "dist"), { recursive: true }).filter((name) => String(name).endsWith(".d.ts"));
  assert.ok(declared.length > 10);
  for (const name of declared) {
    const text = fs.readFileSync(path.join(PACKAGE, "dist", String(name)), "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
    assert.doesNotMatch(text, /: any\b|<any>/, String(name));
  }
});
