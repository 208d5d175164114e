// Every code block of docs/node.md and of the README compiles and runs, in order; and the example does.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, test } from "node:test";
import { Home, PACKAGE, REPOSITORY, runProgram } from "./support.mjs";

const home = new Home();
const folder = path.join(PACKAGE, "build", `guide-${process.pid}`); // below the package, whose name it imports
fs.mkdirSync(folder, { recursive: true });
after(async () => {
  fs.rmSync(folder, { recursive: true, force: true });
  await home.end();
});

const TSC = path.join(PACKAGE, "node_modules", "typescript", "bin", "tsc");
const FLAGS = ["--strict", "--target", "es2022", "--lib", "es2023,esnext.disposable", "--types", "node", "--skipLibCheck",
  "--module", "node16", "--moduleResolution", "node16", "--outDir", folder];

const AROUND = `
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Cove, CoveError, describeTools, type Workspace } from "cove-workspace";
import { CoveSandbox } from "cove-workspace/fastgpt";
const digest = createHash("sha256");
const host = { giveModel: (_: unknown) => undefined };
void [createReadStream, createWriteStream, Readable, pipeline, CoveError, describeTools, CoveSandbox, digest, host];
const cove = await Cove.open(process.argv[2] as string);
const workspace: Workspace = await cove.acquire({ sourceType: "app", sourceId: "shop", userId: "ana" }, { chatId: "c1" });
`;

function blocksOf(document) {
  return [...fs.readFileSync(document, "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match) => match[1]);
}

async function compileAndRun(name, code, args = []) {
  const source = path.join(folder, `${name}.mts`);
  fs.writeFileSync(source, code);
  const compiled = await runProgram(process.execPath, [TSC, ...FLAGS, "--typeRoots", path.join(PACKAGE, "node_modules", "@types"), source]);
  assert.equal(compiled.code, 0, compiled.stdout);
  return runProgram(process.execPath, [path.join(folder, `${name}.mjs`), ...args]);
}

test("the first program of the guide, and that of the README, say 42", async () => {
  for (const document of [path.join(REPOSITORY, "docs", "node.md"), path.join(PACKAGE, "README.md")]) {
    const [first] = blocksOf(document);
    assert.ok(first.trimEnd().split("\n").length <= 15, "a first program has at most 15 lines");
    const done = await compileAndRun("first", first.replace("/var/lib/app/cove", home.state));
    assert.deepEqual([done.code, done.stdout], [0, "42\n\n"], done.stderr);
  }
});

test("every other block runs after the ones before it", async () => {
  const blocks = blocksOf(path.join(REPOSITORY, "docs", "node.md")).slice(1);
  assert.ok(blocks.length >= 10);
  const parts = blocks.map((block, i) => {
    // A watch waits for a change: somebody writes meanwhile.
    const needsWrites = block.includes("workspace.watch(");
    const knock = needsWrites ? `const knocking = setInterval(() => void workspace.writeFile("knock", "x").catch(() => undefined), 50);\n` : "";
    return `console.log("block ${i}");\n{\n${knock}${block}${needsWrites ? "clearInterval(knocking);\n" : ""}}\n`;
  });
  const end = 'await workspace.close();\nawait cove.close();\nconsole.log("the end");\n';
  const done = await compileAndRun("blocks", AROUND + parts.join("") + end, [path.join(home.path, "blocks")]);
  const cleanup = await compileAndRun("cleanup", `${AROUND}await workspace.close();\nfor await (const record of cove.list()) await cove.destroy(record.sandboxId);\nawait cove.close();\n`, [path.join(home.path, "blocks")]);
  assert.equal(done.code, 0, `${done.stdout}\n${done.stderr}`);
  assert.match(done.stdout, /the end\n$/);
  assert.equal(cleanup.code, 0, cleanup.stderr);
});

test("the agent loop of examples/node tells its story", async () => {
  const code = fs.readFileSync(path.join(REPOSITORY, "examples", "node", "agent-loop.ts"), "utf8");
  const done = await compileAndRun("agent-loop", code, [path.join(home.path, "agent")]);
  assert.deepEqual([done.code, done.signal], [0, null], done.stderr);
  const told = done.stdout;
  assert.match(told, /c1 +│ .*sandbox_write_file/);
  assert.match(told, /c2 +│ .*sandbox_shell/);
  assert.match(told, /Adelie: 152, Gentoo: 124, Chinstrap: 68/);
  assert.match(told, /idle: stopped 1 sandbox/);
  assert.match(told, /woke \(resumed\)/);
  assert.match(told, /report\.md is still there/);
});
