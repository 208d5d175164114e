// The packed package: its files, and that it works in an empty project with nothing else.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, test } from "node:test";
import { Home, PACKAGE, REPOSITORY, runProgram } from "./support.mjs";

const home = new Home();
after(() => home.end());

test("the packed package works in an empty project, by import and by require", async () => {
  const packed = await runProgram("npm", ["pack", "--ignore-scripts=false", "--pack-destination", home.path, "--json"]);
  assert.equal(packed.code, 0, packed.stderr);
  const [name] = fs.readdirSync(home.path).filter((file) => file.endsWith(".tgz"));
  assert.match(name, /^cove-workspace-0\.1\.0\.tgz$/);
  const listed = await runProgram("tar", ["tzf", path.join(home.path, name)]);
  const files = listed.stdout.trim().split("\n").map((file) => file.replace(/^package\//, ""));
  const folders = new Set(files.map((file) => file.split("/")[0]));
  assert.deepEqual([...folders].sort(), ["LICENSE", "NOTICE", "README.md", "dist", "package.json", "prebuilds"]);
  const folder = files.find((file) => file.endsWith("/cove.node")).replace(/\/cove\.node$/, "");
  assert.match(folder, /^prebuilds\/linux-(x64|arm64)-(glibc|musl)$/);
  assert.ok(files.includes(`${folder}/libcove.so.0.1`));
  assert.ok(files.includes("dist/index.d.mts") && files.includes("dist/fastgpt/index.d.ts"));

  const project = path.join(home.path, "project");
  fs.mkdirSync(project);
  fs.writeFileSync(path.join(project, "package.json"), '{"name": "empty", "private": true}');
  const offline = ["install", "--offline", "--no-audit", "--no-fund", path.join(home.path, name)];
  const installed = await runProgram("npm", offline, {}, project);
  assert.equal(installed.code, 0, installed.stderr);
  fs.writeFileSync(
    path.join(project, "import.mjs"),
    `import { Cove } from "cove-workspace";
     import { CoveSandbox } from "cove-workspace/fastgpt";
     const cove = await Cove.open(process.argv[2]);
     const sandbox = new CoveSandbox({ cove, sourceType: "app", sourceId: "p", userId: "u" });
     console.log((await sandbox.execute("echo works")).stdout.trim());
     await sandbox.delete();
     await cove.close();`,
  );
  fs.writeFileSync(path.join(project, "require.cjs"), 'console.log(require("cove-workspace").version);');
  const own = { COVE_LIBRARY: "" };
  const imported = await runProgram(process.execPath, ["import.mjs", path.join(home.path, "state")], own, project);
  assert.deepEqual([imported.code, imported.stdout], [0, "works\n"], imported.stderr);
  const required = await runProgram(process.execPath, ["require.cjs"], own, project);
  assert.deepEqual([required.code, required.stdout], [0, "0.1.0\n"], required.stderr);
});

test("what is committed names no place that packages come from", () => {
  for (const file of ["package.json", "package-lock.json", ".npmrc"]) {
    assert.doesNotMatch(fs.readFileSync(path.join(PACKAGE, file), "utf8"), /https?:\/\/(?!opencollective|github)[^"\s]*\.tgz|"resolved"/, file);
  }
  for (const name of ["LICENSE", "NOTICE"]) assert.ok(fs.existsSync(path.join(REPOSITORY, name)));
});
