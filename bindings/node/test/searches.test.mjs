// Searches through the binding: lines and names, as they are found.
import assert from "node:assert/strict";
import test from "node:test";
import { collected, fails, withCove } from "./support.mjs";

const { workspace } = await withCove();
await workspace.writeFile("src/a.py", "import os\n# TODO: one\ndone\n# todo TODO\n");
await workspace.writeFile("src/b.cc", "// TODO two\n");
await workspace.writeFile(Buffer.from("src/\xff.py", "latin1"), "TODO three\n");
await workspace.writeFile("src/.hidden.py", "TODO four\n");
await workspace.writeFile("src/ignored.py", "TODO five\n");
await workspace.writeFile("src/.gitignore", "ignored.py\n");
await workspace.writeFile("src/binary.py", "TODO\0six\n");
await workspace.writeFile("tree/old.txt", "12345");
await workspace.writeFile("tree/deep/new.txt", "");
await workspace.writeFile("tree/deep/new.py", "1");
await workspace.exec({
  shell: "cd tree && ln -s old.txt link && touch -d @1000000000 old.txt && touch -d @1000000001.5 deep/new.py",
});

async function pathsOf(search) {
  return (await search.toArray()).map((found) => found.path);
}

test("lines come in order with where they are", async () => {
  const search = workspace.grep("TODO", "src", { literal: true });
  const lines = await search.toArray();
  const summary = await search.summary;
  assert.deepEqual(
    lines.map((line) => [line.path, line.line, line.column, line.text]),
    [
      ["a.py", 2, 3, "# TODO: one"],
      ["a.py", 4, 8, "# todo TODO"],
      ["b.cc", 1, 4, "// TODO two"],
      ["\ufffd.py", 1, 1, "TODO three"],
    ],
  );
  assert.deepEqual(lines[3].pathBytes, Buffer.from("\xff.py", "latin1"));
  assert.deepEqual(lines[0].spans, [{ offset: 2, length: 4 }]);
  assert.deepEqual([lines[0].isContext, lines[0].cut, lines[0].encoding], [false, false, "bytes"]);
  assert.deepEqual([summary.ended, summary.matches, summary.filesMatched], ["complete", 4, 3]);
  assert.deepEqual([summary.filesBinary, summary.problems], [1, []]);
});

test("every filter of grep arrives", async () => {
  const paths = (pattern, path, options) => pathsOf(workspace.grep(pattern, path, options));
  assert.deepEqual(await paths("todo", "src", { ignoreCase: true, include: ["*.cc"] }), ["b.cc"]);
  assert.deepEqual(await paths("TODO", "src", { include: ["*.py"], exclude: ["a*"], limit: Infinity }), ["\ufffd.py"]);
  assert.ok((await paths("TODO", "src", { hidden: true })).includes(".hidden.py"));
  assert.ok((await paths("TODO", "src", { useIgnoreFiles: false })).includes("ignored.py"));
  assert.deepEqual(await paths("TOD", "src", { wholeWord: true }), []);
  assert.deepEqual(await paths("t[w]o", "src"), ["b.cc"]);
  assert.deepEqual(await paths("t[w]o", "src", { literal: true }), []);
  assert.deepEqual(await paths("TODO", "src/b.cc", { maxFileBytes: 3 }), []);
});

test("context is marked, a limit stops, and a long line is cut", async () => {
  const lines = await workspace.grep("TODO: one", "src/a.py", { context: 1 }).toArray();
  assert.deepEqual(lines.map((line) => [line.line, line.isContext]), [[1, true], [2, false], [3, true]]);
  const limited = workspace.grep("TODO", "src", { limit: 1 });
  assert.equal((await limited.toArray()).length, 1);
  assert.equal((await limited.summary).ended, "limit");
  await workspace.writeFile("long.txt", `${"x".repeat(10_000)}needle${"y".repeat(10_000)}`);
  const [line] = await workspace.grep("needle", "long.txt", { maxLineBytes: 100 }).toArray();
  assert.ok(line.cut && line.text.includes("needle"));
  assert.equal(line.textOffset + line.spans[0].offset, 10_000);
});

test("a wrong pattern says where", async () => {
  await fails("INVALID_ARGUMENT", workspace.grep("TODO(", "src").toArray(), /\(/);
  await fails("NOT_FOUND", workspace.grep("TODO", "no-such-directory").toArray());
});

test("a slow reader loses nothing", async () => {
  // 50,000 lines of 100 bytes through a buffer of 1 MiB: it pauses and resumes many times.
  await workspace.exec({ shell: "yes $(printf '%099d' 0) | head -n 50000 > many.txt" });
  const search = workspace.grep("0", "many.txt", { literal: true, limit: Infinity });
  let count = 0;
  for await (const line of search) assert.equal(line.line, ++count);
  assert.equal(count, 50_000);
  assert.equal((await search.summary).matches, 50_000);
});

test("a cancelled search leaves what it found; leaving early and forgetting end it", async () => {
  await workspace.exec({ shell: "yes | head -n 300000 > yes.txt" });
  const search = workspace.grep("y", "yes.txt", { limit: Infinity });
  await search.next();
  search.cancel();
  assert.ok((await search.toArray()).length < 299_999);
  assert.equal((await search.summary).ended, "cancelled");
  for await (const line of workspace.grep("y", "yes.txt", { limit: Infinity })) {
    assert.equal(line.text, "y");
    break;
  }
  let ended;
  await (async () => {
    const forgotten = workspace.grep("y", "yes.txt", { limit: Infinity });
    await forgotten.next();
    forgotten.summary.then((summary) => (ended = summary.ended));
  })();
  await collected(() => ended !== undefined, "the search");
  assert.equal(ended, "cancelled");
});

test("a time limit and an abort leave what was found by then", async () => {
  const controller = new AbortController();
  const search = workspace.grep("y", "yes.txt", { limit: Infinity, signal: controller.signal });
  await search.next();
  controller.abort();
  await search.toArray();
  assert.equal((await search.summary).ended, "cancelled");
});

test("names come in order with their types", async () => {
  const search = workspace.find("", { path: "tree" });
  const entries = await search.toArray();
  assert.deepEqual(
    entries.map((entry) => [entry.path, entry.type, entry.facts]),
    [
      ["deep", "directory", null],
      ["deep/new.py", "file", null],
      ["deep/new.txt", "file", null],
      ["link", "symlink", null],
      ["old.txt", "file", null],
    ],
  );
  assert.equal((await search.summary).matches, 5);
});

test("every filter of find arrives", async () => {
  const paths = (glob, options) => pathsOf(workspace.find(glob, { path: "tree", ...options }));
  assert.deepEqual(await paths("**/*.{txt,py}"), ["deep/new.py", "deep/new.txt", "old.txt"]);
  assert.deepEqual(await paths("*.txt", { exclude: ["deep"] }), ["old.txt"]);
  assert.deepEqual(await paths("", { type: "symlink" }), ["link"]);
  assert.deepEqual(await paths("", { maxDepth: 1 }), ["deep", "link", "old.txt"]);
  assert.deepEqual(await paths("", { minBytes: 5, type: "file" }), ["old.txt"]);
  assert.deepEqual(await paths("", { maxBytes: 0, type: "file" }), ["deep/new.txt"]);
  assert.deepEqual(await paths("*.*", { modifiedFrom: new Date(1e12), modifiedUntil: 1_000_000_001_000 }), ["old.txt"]);
  assert.deepEqual(await paths("*.py", { modifiedFrom: 1_000_000_001_500 }), ["deep/new.py"]);
  assert.deepEqual(await paths("", { limit: 1 }), ["deep"]);
});

test("newest first, with facts", async () => {
  const options = { path: "tree", type: "file", newestFirst: true, facts: true, limit: 2 };
  const found = await workspace.find("*.*", options).toArray();
  assert.deepEqual(found.map((entry) => entry.path), ["deep/new.txt", "deep/new.py"]);
  assert.deepEqual([found[1].facts.size, found[1].facts.modifiedMs], [1, 1_000_000_001_500]);
  await fails("INVALID_ARGUMENT", workspace.find("", { path: "tree", newestFirst: true, limit: Infinity }).toArray());
});

test("arguments of a wrong type are named", () => {
  assert.throws(() => workspace.grep("x", ".", { include: "*.py" }), /include must be a list/);
  assert.throws(() => workspace.grep("x", ".", { limit: 0 }), /limit must be a whole number from 1/);
  assert.throws(() => workspace.grep("x", ".", { contextBefore: 2000 }), /contextBefore must be a whole number from 0 to 1000/);
  assert.throws(() => workspace.find("", { type: "fifo" }), /type must be "file" or/);
});
