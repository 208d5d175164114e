// Where things are in a checkout.
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";

export const PACKAGE = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
export const REPOSITORY = path.resolve(PACKAGE, "..", "..");
export const SONAME = "libcove.so.0.1";

/** prebuilds/<platform>-<machine>-<C library>, of the Node that runs this. */
export function prebuildFolder() {
  const libc = process.report.getReport().header.glibcVersionRuntime ? "glibc" : "musl";
  return path.join(PACKAGE, "prebuilds", `${process.platform}-${process.arch}-${libc}`);
}

/** The libcove.so to use: COVE_LIBRARY, else the release's or the development build's of this checkout. */
export function findLibrary() {
  const named = process.env.COVE_LIBRARY;
  if (named) {
    if (fs.existsSync(named)) return path.resolve(named);
    throw new Error(`COVE_LIBRARY names ${named}, which is not there`);
  }
  const tried = ["release", "dev"].map((preset) => path.join(REPOSITORY, "build", preset, "lib", SONAME));
  const found = tried.find((file) => fs.existsSync(file));
  if (found !== undefined) return found;
  throw new Error(
    `there is no libcove.so. Build it (cmake --preset release && cmake --build --preset release), or set ` +
      `COVE_LIBRARY to its path. Tried:\n  ${tried.join("\n  ")}`,
  );
}
