// Tools through the binding: what is described, the calls of tests/tools/calls.json, and links.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import test from "node:test";
import { CoveError, describeTools } from "cove-workspace";
import { REPOSITORY, fails, withCove } from "./support.mjs";

const { cove, workspace } = await withCove();
const CALLS = path.join(REPOSITORY, "tests", "tools", "calls.json");

function linksTo(files) {
  return files.map((file) => `https://files.example/${file.info.path}`);
}

/** Members of `wanted` are in `given`, and so on inside; of lists each item. */
function hasMembers(given, wanted) {
  if (Array.isArray(wanted)) {
    return Array.isArray(given) && given.length === wanted.length && wanted.every((item, i) => hasMembers(given[i], item));
  }
  if (typeof wanted !== "object" || wanted === null) return given === wanted;
  if (typeof given !== "object" || given === null) return false;
  return Object.entries(wanted).every(([name, value]) => name in given && hasMembers(given[name], value));
}

/** The call with what earlier answers gave: ${name} of each that a call kept. */
function filled(step, kept) {
  let text = JSON.stringify(step);
  for (const [name, value] of Object.entries(kept)) text = text.replaceAll("${" + name + "}", value);
  return JSON.parse(text);
}

/** Notes what later calls name. */
function keep(kept, step, answer) {
  for (const [name, path] of Object.entries(step.keep ?? {})) {
    kept[name] = path.split(".").reduce((value, part) => value[part], answer.data);
  }
}

/** The answer of a call; of one that waits for a text, the first that has it. */
async function answerOf(used, step) {
  for (let tries = 1; ; ++tries) {
    const answer = await used.callTool(step.tool, step.arguments, { linkMaker: linksTo });
    if (answer.text.includes(step.until ?? "")) return answer;
    assert.ok(tries < 100, `${JSON.stringify(answer)} lacks ${step.until}`);
  }
}

function checkAnswer(answer, expect, about) {
  assert.equal(answer.isError, expect.is_error, about);
  if ("text" in expect) assert.equal(answer.text, expect.text, about);
  assert.ok(answer.text.startsWith(expect.text_starts ?? ""), about);
  for (const part of expect.text_has ?? []) assert.ok(answer.text.includes(part), `${about} lacks ${part}`);
  for (const part of expect.text_lacks ?? []) assert.ok(!answer.text.includes(part), `${about} has ${part}`);
  if ("data" in expect) assert.ok(hasMembers(answer.data, expect.data), about);
}

test("every form describes the same tools", () => {
  const plain = describeTools("plain");
  const names = plain.map((tool) => tool.name);
  assert.ok(names.includes("sandbox_read_file"));
  assert.deepEqual(describeTools().map((tool) => tool.function.name), names);
  assert.deepEqual(describeTools("mcp").map((tool) => tool.name), names);
  assert.deepEqual(describeTools("openai")[0].function.parameters, plain[0].parameters);
  assert.throws(() => describeTools("xml"), /format must be/);
});

test("every call of the file gets its answer", async (t) => {
  let calls = 0;
  const { cases } = JSON.parse(fs.readFileSync(CALLS, "utf8"));
  for (const [number, each] of cases.entries()) {
    const chat = `case${number}`;
    const case_ = JSON.parse(JSON.stringify(each).replaceAll("${session}", chat));
    await t.test(case_.name, async () => {
      const used = await cove.acquire({ sourceType: "app", sourceId: "tools", userId: "ana" }, { chatId: chat });
      for (const [file, content] of Object.entries(case_.files ?? {})) await used.writeFile(file, content);
      if (case_.shell) await used.exec({ shell: case_.shell });
      const kept = {};
      for (const each of case_.calls) {
        const step = filled(each, kept);
        const answer = await answerOf(used, step);
        checkAnswer(answer, step.expect, `${step.tool} ${JSON.stringify(step.arguments)}: ${JSON.stringify(answer)}`);
        keep(kept, step, answer);
        calls += 1;
      }
      for (const [file, content] of Object.entries(case_.then ?? {})) {
        assert.equal((await used.readFile(file)).toString(), content, file);
      }
      await used.close();
    });
  }
  assert.ok(calls >= 150, `${calls} calls`);
});

test("without a link maker the tool says so", async () => {
  await workspace.writeFile("page.html", "<p>");
  const answer = await workspace.callTool("sandbox_get_file_url", { paths: ["page.html"] });
  assert.ok(answer.isError);
  assert.equal(answer.data.error.code, "unsupported");
});

test("a link maker is told of the files, may take its time and use the workspace", async () => {
  await workspace.writeFile("page.html", "<!DOCTYPE html><p>hello");
  const seen = [];
  const linkMaker = async (files) => {
    seen.push(files[0].info.path, files[0].contentType);
    const result = await workspace.exec(["cat", "page.html"]);
    return [`https://x/${result.out.text.slice(-5)}`];
  };
  const answer = await workspace.callTool("sandbox_get_file_url", '{"paths": ["page.html"]}', { linkMaker });
  assert.equal(answer.isError, false, answer.text);
  assert.equal(answer.data.files[0].url, "https://x/hello");
  assert.equal(seen[0], "sessions/c1/page.html");
  assert.match(seen[1], /^text\//);
});

test("what a link maker throws is the answer, or is thrown", async () => {
  const ask = (linkMaker) => workspace.callTool("sandbox_get_file_url", { paths: ["page.html"] }, { linkMaker });
  const answer = await ask(() => {
    throw new CoveError("PERMISSION_DENIED", "files of this chat are private");
  });
  assert.ok(answer.isError);
  assert.equal(answer.data.error.code, "permission_denied");
  assert.match(answer.text, /private/);
  await assert.rejects(ask(() => Promise.reject(new RangeError("in the maker"))), /in the maker/);
  await assert.rejects(ask(() => ["a", "b"]), /2 links for 1 files/);
  await assert.rejects(ask(() => "https://x/"), /must give a list of strings/);
  await assert.rejects(ask("no function"), /linkMaker must be a function/);
});

test("a time limit gives what a command had by then", async () => {
  const answer = await workspace.callTool("sandbox_shell", { command: "echo before; sleep 100" }, { timeoutMs: 1000 });
  assert.match(answer.text, /before/);
});

test("a call that was called off is an error, and a link maker that answers late harms nothing", async () => {
  await fails("CANCELLED", workspace.callTool("sandbox_ls", {}, { signal: AbortSignal.abort() }));
  let answered;
  const late = new Promise((resolve) => (answered = resolve));
  const linkMaker = () => late;
  const options = { linkMaker, timeoutMs: 200 };
  const call = workspace.callTool("sandbox_get_file_url", { paths: ["page.html"] }, options);
  await call.then(
    (answer) => assert.ok(answer.isError),
    (error) => assert.equal(error.code, "TIMEOUT"),
  );
  answered(["https://x/"]);
  await new Promise((resolve) => setImmediate(resolve));
});

test("arguments of a wrong type are named, an unknown tool is the model's matter", async () => {
  await assert.rejects(workspace.callTool("sandbox_ls", null), /arguments must be JSON/);
  const answer = await workspace.callTool("no_such_tool", "{}");
  assert.ok(answer.isError);
  assert.match(answer.text, /sandbox_ls/);
});
