// The cases of tests/tools/behaviour.json: what every API does alike.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, before, test } from "node:test";
import { CoveError } from "cove-workspace";
import { Home, KEY, REPOSITORY } from "./support.mjs";

const { cases } = JSON.parse(fs.readFileSync(path.join(REPOSITORY, "tests", "tools", "behaviour.json"), "utf8"));
const home = new Home();
let cove;
before(async () => {
  cove = await home.open();
});
after(async () => {
  await cove?.close();
  await home.end();
});

function fileOf(info) {
  return { type: info.type, size: info.size, mode: info.mode, link_target: info.linkTarget };
}

/** Options without those that are not there. */
function some(options) {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function commandOf(step) {
  return step.shell === undefined ? step.argv : { shell: step.shell };
}

/** Each does a step with a player: {workspace, key, chatId, running}. */
const DO = {
  async exec({ workspace }, step) {
    const result = await workspace.exec(
      commandOf(step),
      some({
        cwd: step.cwd, env: step.env, stdin: step.stdin, commandTimeoutMs: step.command_timeout_ms, headBytes: step.head_bytes,
        tailBytes: step.tail_bytes, maxTotalBytes: step.max_total_bytes,
      }),
    );
    return {
      outcome: result.outcome, code: result.code, shell_code: result.shellCode, out: result.out.text, err: result.err.text,
      total_bytes: result.out.totalBytes, dropped_bytes: result.out.droppedBytes,
    };
  },
  async start({ workspace, running }, step) {
    const run = workspace.stream({ shell: `echo up; ${step.shell}` });
    await run.next();
    running.push(run.toArray().catch(() => undefined));
  },
  write: async ({ workspace }, step) =>
    fileOf(await workspace.writeFile(step.path, step.text, some({
      append: step.append, ifAbsent: step.if_absent, ifUnchangedSince: step.if_unchanged_since,
      createParents: step.existing_parents === true ? false : undefined,
    }))),
  read: async ({ workspace }, step) => {
    const data = await workspace.readFile(step.path, some({ offset: step.offset, maxBytes: step.length }));
    return { text: data.toString() };
  },
  read_lines: async ({ workspace }, step) => workspace.readLines(step.path, some({ first: step.first, count: step.count })),
  stat: async ({ workspace }, step) => fileOf(await workspace.stat(step.path)),
  list: async ({ workspace }, step) => {
    const depth = step.depth === 0 ? Infinity : step.depth;
    return { names: (await workspace.list(step.path, some({ depth }))).map((entry) => entry.path) };
  },
  mkdir: ({ workspace }, step) => workspace.makeDirectory(step.path),
  remove: ({ workspace }, step) => workspace.remove(step.path, some({ recursive: step.recursive })),
  move: async ({ workspace }, step) => fileOf(await workspace.move(step.from, step.to, some({ overwrite: step.overwrite }))),
  copy: ({ workspace }, step) => workspace.copy(step.from, step.to),
  chmod: async ({ workspace }, step) => fileOf(await workspace.setMode(step.path, step.mode)),
  symlink: async ({ workspace }, step) => fileOf(await workspace.makeSymlink(step.path, step.target)),
  edit: async ({ workspace }, step) => {
    const edits = step.edits.map((edit) => some({ old: edit.old, new: edit.new, replaceAll: edit.all }));
    const result = await workspace.editFile(step.path, edits);
    return { replaced: result.edits.map((outcome) => outcome.replaced) };
  },
  grep: async ({ workspace }, step) => {
    const found = workspace.grep(step.pattern, step.path, some({ literal: step.literal, limit: step.limit }));
    const lines = (await found.toArray()).map((line) => [line.path, line.line, line.text]);
    return { lines, ended: (await found.summary).ended };
  },
  find: async ({ workspace }, step) => {
    const found = await workspace.find(step.glob ?? "", some({ path: step.path, minBytes: step.min_bytes })).toArray();
    return { names: found.map((entry) => entry.path) };
  },
  release: ({ workspace }) => workspace.release(),
  stop: ({ workspace }, step) => cove.stop(workspace.sandboxId, some({ drain: step.drain })),
  archive: ({ workspace }) => cove.archive(workspace.sandboxId),
  destroy: ({ workspace }) => cove.destroy(workspace.sandboxId),
  status: async ({ workspace }) => ({ state: (await cove.status(workspace.sandboxId)).state }),
  async acquire(player) {
    player.workspace = await cove.acquire(player.key, { chatId: player.chatId });
    return { work: player.workspace.work };
  },
};

async function play(player, step) {
  try {
    return (await DO[step.do](player, step)) ?? {};
  } catch (error) {
    if (!(error instanceof CoveError)) throw error;
    return { error: error.code.toLowerCase() };
  }
}

test("there are cases", () => assert.ok(cases.length >= 40));

for (const [index, given] of cases.entries()) {
  test(given.name, async () => {
    const chatId = `case-${index + 1}`;
    const key = { ...KEY, sourceId: "behaviour", userId: given.own === true ? chatId : "all" };
    const player = { key, chatId, running: [], workspace: await cove.acquire(key, { chatId }) };
    for (const step of given.steps) {
      const got = await play(player, step);
      const wanted = Object.fromEntries(Object.keys(step.expect).map((name) => [name, got[name]]));
      assert.deepEqual(wanted, step.expect, JSON.stringify({ step, got }));
      assert.equal("error" in got, "error" in step.expect, JSON.stringify({ step, got }));
    }
    await player.workspace.close();
    await Promise.all(player.running);
  });
}
