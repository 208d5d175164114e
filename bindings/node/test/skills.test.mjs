// Skills: published ones from bytes, a directory and the shelf, builtin ones, and what a workspace has.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, before, test } from "node:test";
import { inspectSkill } from "cove-workspace";
import { Home, KEY, fails } from "./support.mjs";

const home = new Home();
let cove;
before(async () => {
  cove = await home.open();
});
after(async () => {
  await cove?.close();
  await home.end();
});

function folderOf(name) {
  const folder = path.join(home.path, `skill-${name}`);
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, "SKILL.md"), `---\nname: ${name}\ndescription: makes <${name}>\n---\n# ${name}\n`);
  return folder;
}

function packageOf(name) {
  return execFileSync("tar", ["-C", folderOf(name), "--sort=name", "--mtime=@0", "-c", "SKILL.md"]);
}

test("packages are added, listed and removed, and keep their ids", async () => {
  const data = packageOf("pdf");
  const added = await cove.addSkill("pdf-1", data);
  assert.deepEqual(inspectSkill("pdf-1", data), added);
  assert.deepEqual(added.skills, [{ name: "pdf", description: "makes <pdf>", path: "SKILL.md" }]);
  assert.deepEqual([added.versionId, added.packedBytes, added.files], ["pdf-1", data.length, 1]);
  assert.deepEqual(await cove.addSkill("pdf-1", data), added);
  await fails("ALREADY_EXISTS", cove.addSkill("pdf-1", packageOf("other")));
  assert.deepEqual(await cove.listSkills(), [added]);
  await cove.removeSkill("pdf-1");
  assert.deepEqual(await cove.listSkills(), []);
  await fails("NOT_FOUND", cove.removeSkill("pdf-1"));
  await fails("ALREADY_EXISTS", cove.addSkill("pdf-1", packageOf("other")), /was removed and had another content/);
  assert.throws(() => inspectSkill("bad-1", "no package"), { code: "INVALID_ARGUMENT" });
  await assert.rejects(cove.addSkill(7, data), /versionId must be a string/);
  await fails("CANCELLED", cove.listSkills({ signal: AbortSignal.abort() }));
});

test("skills of every origin are placed, and told to the model", async () => {
  await cove.addSkill("stored-1", packageOf("stored"));
  const workspace = await cove.acquire(KEY, {
    chatId: "skills",
    prepare: {
      skills: ["stored-1", { versionId: "bytes-1", content: packageOf("bytes") }, { versionId: "local-1", content: { path: folderOf("local") } }],
      builtinSkills: { charts: packageOf("charts"), maps: { path: folderOf("maps") } },
      skillInitTimeoutMs: 0,
    },
  });
  const found = await workspace.skills();
  assert.deepEqual(found.skills.map((skill) => skill.name), ["stored", "bytes", "local", "charts", "maps"]);
  assert.equal(found.skills[0].location, "/workspace/skills/stored-1/SKILL.md");
  assert.deepEqual([found.skills[0].versionId, found.skills[3].versionId], ["stored-1", ""]);
  assert.deepEqual(found.problems, []);
  assert.match(found.prompt, /makes &lt;stored&gt;/);
  assert.ok((await workspace.skills({ maxCharacters: 200 })).prompt.length <= 200);
  assert.match((await workspace.readFile(found.skills[2].location)).toString(), /# local/);
  await assert.rejects(workspace.skills({ maxCharacters: 0 }), RangeError);
  await workspace.close();
});

test("what is wrong is said", async () => {
  const prepared = (prepare) => cove.acquire(KEY, { prepare });
  await fails("NOT_FOUND", prepared({ skills: ["never-added"] }));
  await fails("INVALID_ARGUMENT", prepared({ skills: [{ versionId: "bad/id", content: "x" }] }));
  await fails("INTEGRITY", prepared({ skills: [{ versionId: "sum-1", content: packageOf("x"), sha256: "0".repeat(64) }] }));
  await assert.rejects(prepared({ skills: 7 }), /skills must be a list/);
  await assert.rejects(prepared({ skills: [{ version: "v" }] }), /no option "version"/);
  await assert.rejects(prepared({ builtinSkills: 7 }), /builtinSkills must be an object/);
});
