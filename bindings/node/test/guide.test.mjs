// Every code block of docs/node.md and of the README compiles and runs, in order; and the example does.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, before, test } from "node:test";
import { Home, PACKAGE, REPOSITORY, runProgram } from "./support.mjs";

const home = new Home();
const folder = path.join(home.path, "project"); // with the package as npm would link it
fs.mkdirSync(path.join(folder, "node_modules"), { recursive: true });
fs.symlinkSync(PACKAGE, path.join(folder, "node_modules", "cove-workspace"));
fs.writeFileSync(path.join(folder, "package.json"), '{"private": true}');
const skill = path.join(home.path, "skill");
fs.mkdirSync(skill);
fs.writeFileSync(path.join(skill, "SKILL.md"), "---\nname: pdf\ndescription: reads PDF files\n---\n# PDF\n");
after(() => home.end());

const TSC = path.join(PACKAGE, "node_modules", "typescript", "bin", "tsc");
const FLAGS = [
  "--strict", "--target", "es2022", "--lib", "es2023,esnext.disposable", "--types", "node", "--skipLibCheck",
  "--typeRoots", path.join(PACKAGE, "node_modules", "@types"),
  "--module", "node16", "--moduleResolution", "node16", "--rootDir", folder, "--outDir", folder,
];

const AROUND = `
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Cove, CoveError, FakeClock, describeTools, selectDocuments, type Workspace } from "cove-workspace";
import type { DocumentId, MetadataStore, StoreDocument, VersionedDocument } from "cove-workspace";
import { CoveSandbox } from "cove-workspace/fastgpt";
const digest = createHash("sha256");
const logo = process.argv[1] as string;
const skillPackage = execFileSync("tar", ["-C", process.argv[3] as string, "-c", "SKILL.md"]);
const host = { giveModel: (_: unknown) => undefined };
void [createReadStream, createWriteStream, Readable, pipeline, CoveError, FakeClock, describeTools, selectDocuments, CoveSandbox, digest, host, logo, skillPackage];
const cove = await Cove.open(process.argv[2] as string);
const workspace: Workspace = await cove.acquire({ sourceType: "app", sourceId: "shop", userId: "ana" }, { chatId: "c1" });
`;

function blocksOf(document) {
  return [...fs.readFileSync(document, "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match) => match[1]);
}

const GUIDE = path.join(REPOSITORY, "docs", "node.md");
const [first, ...blocks] = blocksOf(GUIDE);
const [firstOfReadme] = blocksOf(path.join(PACKAGE, "README.md"));

const parts = blocks.map((block, i) => {
  // A watch waits for a change: somebody writes meanwhile.
  const needsWrites = block.includes("workspace.watch(");
  const knock = 'const knocking = setInterval(() => void workspace.writeFile("knock", "x").catch(() => undefined), 50);\n';
  const around = needsWrites ? [knock, "clearInterval(knocking);\n"] : ["", ""];
  return `console.log("block ${i}");\n{\n${around[0]}${block}${around[1]}}\n`;
});
const END = `
for await (const record of cove.list()) await cove.destroy(record.sandboxId);
await workspace.close();
await cove.close();
console.log("the end");
`;

const PROGRAMS = {
  first: first.replace("/var/lib/app/cove", home.state),
  readme: firstOfReadme.replace("/var/lib/app/cove", home.state),
  blocks: AROUND + parts.join("") + END,
  "agent-loop": fs.readFileSync(path.join(REPOSITORY, "examples", "node", "agent-loop.ts"), "utf8"),
};

function run(name) {
  const args = [path.join(folder, `${name}.mjs`), path.join(home.path, name), skill];
  return runProgram(process.execPath, args, {}, folder);
}

before(async () => {
  const files = Object.entries(PROGRAMS).map(([name, code]) => {
    const file = path.join(folder, `${name}.mts`);
    fs.writeFileSync(file, code);
    return file;
  });
  const compiled = await runProgram(process.execPath, [TSC, ...FLAGS, ...files]);
  assert.equal(compiled.code, 0, compiled.stdout);
});

test("the first program of the guide, and that of the README, say 42", async () => {
  for (const [name, code] of [["first", first], ["readme", firstOfReadme]]) {
    assert.ok(code.trimEnd().split("\n").length <= 15, "a first program has at most 15 lines");
    const done = await run(name);
    assert.deepEqual([done.code, done.stdout], [0, "42\n\n"], done.stderr);
  }
});

test("every other block runs after the ones before it", async () => {
  assert.ok(blocks.length >= 10);
  const done = await run("blocks");
  assert.equal(done.code, 0, `${done.stdout}\n${done.stderr}`);
  assert.match(done.stdout, /the end\n$/);
});

test("the agent loop of examples/node tells its story", async () => {
  const done = await run("agent-loop");
  assert.deepEqual([done.code, done.signal], [0, null], done.stderr);
  const told = done.stdout;
  assert.match(told, /c1 +│ .*sandbox_write_file/);
  assert.match(told, /c2 +│ .*sandbox_shell/);
  assert.match(told, /Adelie: 152, Gentoo: 124, Chinstrap: 68/);
  assert.match(told, /an hour later: stopped 1 idle sandbox/);
  assert.match(told, /woke \(resumed\)/);
  assert.match(told, /report\.md is still there/);
});
