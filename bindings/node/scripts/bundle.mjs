// Puts libcove.so (without its debug information) and its licences into the package, for `npm pack`.
// Usage: node scripts/bundle.mjs [--undo]
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { PACKAGE, REPOSITORY, SONAME, findLibrary, prebuildFolder } from "./places.mjs";

const library = path.join(prebuildFolder(), SONAME);
const legal = ["LICENSE", "NOTICE"];

if (process.argv[2] === "--undo") {
  fs.rmSync(library, { force: true });
  for (const name of legal) fs.rmSync(path.join(PACKAGE, name), { force: true });
} else {
  const source = fs.realpathSync(findLibrary());
  const stripped = spawnSync("strip", ["--strip-unneeded", "-o", library, source], { stdio: "inherit" });
  if (stripped.status !== 0) fs.copyFileSync(source, library);
  for (const name of legal) fs.copyFileSync(path.join(REPOSITORY, name), path.join(PACKAGE, name));
}
