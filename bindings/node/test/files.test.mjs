// Files through the binding.
import assert from "node:assert/strict";
import test from "node:test";
import { CoveError } from "cove-workspace";
import { fails, withCove } from "./support.mjs";

const { workspace } = await withCove();

test("a file comes back as it was written", async () => {
  const content = Buffer.concat(Array.from({ length: 100 }, () => Buffer.from(Array.from({ length: 256 }, (_, i) => i))));
  const info = await workspace.writeFile("data/all.bin", content, { mode: 0o600, durable: true });
  assert.deepEqual([info.type, info.size, info.mode], ["file", content.length, 0o600]);
  assert.deepEqual(await workspace.readFile("data/all.bin"), content);
  assert.deepEqual(await workspace.readFile("data/all.bin", { offset: 10, maxBytes: 3 }), Buffer.from([10, 11, 12]));
  assert.equal((await workspace.readFile("data/all.bin", { offset: 10 ** 9 })).length, 0);
  const view = new Uint8Array(content.buffer, content.byteOffset + 1, 2);
  await workspace.writeFile("data/view.bin", view);
  assert.deepEqual(await workspace.readFile("data/view.bin"), Buffer.from([1, 2]));
});

test("names that are no UTF-8 go in and come back", async () => {
  await workspace.makeDirectory("odd");
  await workspace.writeFile(Buffer.from("odd/\xff\xfe", "latin1"), "x");
  await workspace.writeFile("odd/数据", "y");
  const [named, odd] = await workspace.list("odd");
  assert.deepEqual([named.path, named.pathBytes], ["数据", undefined]);
  assert.deepEqual([odd.path, odd.pathBytes], ["\ufffd\ufffd", Buffer.from([0xff, 0xfe])]);
  const read = await workspace.readFile(Buffer.concat([Buffer.from("odd/"), odd.pathBytes]));
  assert.equal(read.toString(), "x");
});

test("list, stat and remove", async () => {
  await workspace.makeDirectory("tree/sub");
  await workspace.writeFile("tree/b", "12");
  await workspace.exec(["ln", "-s", "b", "tree/link"]);
  const entries = (await workspace.list("tree")).map((entry) => [entry.path, entry.type, entry.linkTarget]);
  assert.deepEqual(entries, [["b", "file", ""], ["link", "symlink", "b"], ["sub", "directory", ""]]);
  assert.equal((await workspace.stat("tree/link")).type, "symlink");
  assert.ok(Math.abs((await workspace.stat("tree/b")).modifiedMs - Date.now()) < 60_000);
  await fails("FAILED_PRECONDITION", workspace.remove("tree"));
  await workspace.remove("tree", { recursive: true });
  await fails("NOT_FOUND", workspace.stat("tree"));
});

test("a path out of the workspace is refused and nothing read", async () => {
  for (const path of ["../../../etc/passwd", "/etc/passwd"]) await fails("PATH_ESCAPE", workspace.readFile(path));
});

test("more entries than a page, as deep as it is told", async () => {
  await workspace.exec({ shell: "mkdir many && cd many && seq 2500 | xargs touch" });
  const paths = (await workspace.list("many")).map((entry) => entry.path);
  assert.equal(paths.length, 2500);
  assert.deepEqual(paths, [...paths].sort());
  await workspace.writeFile("deep/a/b/c.txt", "x");
  const at = async (depth) => (await workspace.list("deep", { depth })).map((entry) => entry.path);
  assert.deepEqual(await at(undefined), ["a"]);
  assert.deepEqual(await at(2), ["a", "a/b"]);
  assert.deepEqual(await at(Infinity), ["a", "a/b", "a/b/c.txt"]);
  for await (const entry of workspace.iterList("many")) {
    assert.equal(entry.path, "1");
    break;
  }
});

test("a read says what the file is", async () => {
  await workspace.writeFile("a.txt", "hello");
  const content = await workspace.read("a.txt", { offset: 1, maxBytes: 3 });
  assert.deepEqual([content.data.toString(), content.info.size], ["ell", 5]);
  assert.match(content.contentType, /^text\/plain/);
  assert.equal(content.info.etag, (await workspace.stat("a.txt")).etag);
});

test("lines are read in parts to the end", async () => {
  const lines = Array.from({ length: 100 }, (_, i) => `line ${i + 1}\n`).join("");
  await workspace.writeFile("lines.txt", `${lines}end`);
  const part = await workspace.readLines("lines.txt", { first: 99, count: 2 });
  assert.deepEqual([part.text, part.first, part.count, part.next], ["line 99\nline 100\n", 99, 2, 101]);
  const last = await workspace.readLines("lines.txt", { first: part.next });
  assert.deepEqual([last.text, last.next, last.cut], ["end", null, false]);
  assert.equal(last.offset + last.content.length, (await workspace.stat("lines.txt")).size);
  await workspace.writeFile("long.txt", "x".repeat(100));
  assert.equal((await workspace.readLines("long.txt", { maxBytes: 10 })).cut, true);
});

test("a conditional write loses nobody's work", async () => {
  const first = await workspace.writeFile("shared.txt", "one");
  const second = await workspace.writeFile("shared.txt", "two", { ifUnchangedSince: first.etag });
  assert.notEqual(first.etag, second.etag);
  await fails("CONFLICT", workspace.writeFile("shared.txt", "three", { ifUnchangedSince: first.etag }));
  await fails("ALREADY_EXISTS", workspace.writeFile("shared.txt", "three", { ifAbsent: true }));
  await workspace.writeFile("shared.txt", " more", { append: true });
  assert.equal((await workspace.readFile("shared.txt")).toString(), "two more");
  await fails("NOT_FOUND", workspace.writeFile("nowhere/a", "x", { createParents: false }));
});

test("edits are made in order, all or none", async () => {
  await workspace.writeFile("a.py", "x = 1\r\ny = 1\r\n");
  const result = await workspace.editFile("a.py", [{ old: "x = 1\ny", new: "x = 2\ny" }, { old: "1", new: Buffer.from("3") }]);
  assert.equal((await workspace.readFile("a.py")).toString(), "x = 2\r\ny = 3\r\n");
  assert.deepEqual(result.edits, [{ replaced: 1, firstLine: 1 }, { replaced: 1, firstLine: 2 }]);
  assert.equal(result.info.etag, (await workspace.stat("a.py")).etag);
  const edits = [{ old: "x = 2", new: "x = 9" }, { old: "no such text", new: "" }];
  const error = await fails("FAILED_PRECONDITION", workspace.editFile("a.py", edits));
  assert.equal(error.context.edit, "2");
  await fails("INVALID_ARGUMENT", workspace.editFile("a.py", [{ old: " = ", new: "=" }]));
  const both = await workspace.editFile("a.py", [{ old: " = ", new: "=", replaceAll: true }]);
  assert.equal(both.edits[0].replaced, 2);
});

test("several files each have their result or error", async () => {
  await workspace.writeFile("b.txt", "one");
  await workspace.writeFile("c.txt", "one");
  const edits = [{ old: "one", new: "two" }];
  const done = await workspace.editFiles([
    { path: "b.txt", edits },
    { path: "missing.txt", edits },
    { path: "c.txt", edits, ifUnchangedSince: "another" },
  ]);
  assert.deepEqual(done[0].edits, [{ replaced: 1, firstLine: 1 }]);
  assert.ok(done[1] instanceof CoveError && done[2] instanceof CoveError);
  assert.deepEqual([done[1].code, done[2].code], ["NOT_FOUND", "CONFLICT"]);
  assert.equal((await workspace.readFile("c.txt")).toString(), "one");
});

test("wrong edits are named", async () => {
  for (const wrong of ["x", { old: "a", new: "b" }, undefined]) {
    await assert.rejects(workspace.editFile("a.py", wrong), /edits must be a list/);
  }
  await assert.rejects(workspace.editFile("a.py", [{ old: 1, new: "b" }]), /edits\[0\]\.old must be bytes or a string/);
  await assert.rejects(workspace.editFiles(["a.py"]), /files\[0\] must be {path, edits}/);
});

test("move, copy, mode and symlink", async () => {
  await workspace.writeFile("from/a.txt", "12345");
  await workspace.writeFile("from/b.txt", "6");
  assert.deepEqual(await workspace.copy("from", "copies/one"), { entries: 3, bytes: 6, skipped: 0 });
  await fails("ALREADY_EXISTS", workspace.copy("from/a.txt", "from/b.txt"));
  const moved = await workspace.move("from/a.txt", "from/b.txt", { overwrite: true });
  assert.equal(moved.size, 5);
  assert.equal((await workspace.readFile("from/b.txt")).toString(), "12345");
  await fails("NOT_FOUND", workspace.move("from/b.txt", "nowhere/b.txt", { createParents: false }));
  assert.equal((await workspace.setMode("from/b.txt", 0o750)).mode, 0o750);
  const link = await workspace.makeSymlink("link", "from/b.txt");
  assert.deepEqual([link.type, link.linkTarget], ["symlink", "from/b.txt"]);
  assert.equal((await workspace.readFile("link")).toString(), "12345");
});
