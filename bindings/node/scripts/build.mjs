// Builds the addon and the TypeScript in a checkout; what is newer than its sources is not built again.
// It needs a C++17 compiler (CXX, else c++) and nothing else: Node's headers come as an npm package.
// Usage: node scripts/build.mjs [--addon | --typescript]
import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { createRequire } from "node:module";
import * as os from "node:os";
import * as path from "node:path";
import { PACKAGE, REPOSITORY, prebuildFolder } from "./places.mjs";

const SOURCES = path.join(PACKAGE, "src");
const OBJECTS = path.join(PACKAGE, "build");
const require = createRequire(import.meta.url);

const FLAGS = [
  "-std=c++17", "-O2", "-g1", "-fPIC", "-fvisibility=hidden", "-fno-exceptions", "-fno-rtti", "-pthread",
  "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror",
  "-fstack-protector-strong", "-DNAPI_VERSION=8",
];
// nodelete: threads of Cove may still be on their way when a worker, and with it the addon, ends.
const LINK = [
  "-shared", "-pthread", "-static-libgcc", "-static-libstdc++", "-Wl,--exclude-libs,ALL", "-Wl,-z,nodelete",
  "-Wl,-z,relro,-z,now", "-Wl,--gc-sections", `-Wl,--version-script=${path.join(SOURCES, "addon.map")}`,
];

function newest(files) {
  return Math.max(...files.map((file) => fs.statSync(file).mtimeMs));
}

function run(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: "inherit" });
    child.on("error", reject);
    child.on("exit", (code) =>
      code === 0 ? resolve() : reject(new Error(`${command} ended with ${code}: ${args.join(" ")}`)),
    );
  });
}

async function buildAddon() {
  const compiler = (process.env.CXX ?? "c++").split(" ");
  if (spawnSync("ccache", ["--version"], { stdio: "ignore" }).status === 0) compiler.unshift("ccache");
  const headers = path.join(path.dirname(require.resolve("node-api-headers/package.json")), "include");
  const includes = [`-I${SOURCES}`, `-I${path.join(REPOSITORY, "capi", "include")}`, `-isystem${headers}`];
  const names = fs.readdirSync(SOURCES);
  const shared = names.filter((name) => !name.endsWith(".cpp")).map((name) => path.join(SOURCES, name));
  shared.push(path.join(REPOSITORY, "capi", "include", "cove.h"), new URL(import.meta.url).pathname);
  const since = newest(shared);
  fs.mkdirSync(OBJECTS, { recursive: true });

  const waiting = [];
  const objects = [];
  for (const name of names.filter((each) => each.endsWith(".cpp"))) {
    const [source, object] = [path.join(SOURCES, name), path.join(OBJECTS, name.replace(/cpp$/, "o"))];
    objects.push(object);
    const isCurrent = fs.existsSync(object) && fs.statSync(object).mtimeMs > Math.max(since, newest([source]));
    if (!isCurrent) waiting.push([...compiler.slice(1), ...FLAGS, ...includes, "-c", source, "-o", object]);
  }
  const worker = async () => {
    for (let args = waiting.shift(); args !== undefined; args = waiting.shift()) await run(compiler[0], args);
  };
  const jobs = Number(process.env.COVE_JOBS ?? os.cpus().length);
  await Promise.all(Array.from({ length: jobs }, worker));

  const addon = path.join(prebuildFolder(), "cove.node");
  if (fs.existsSync(addon) && fs.statSync(addon).mtimeMs > newest(objects)) return;
  fs.mkdirSync(path.dirname(addon), { recursive: true });
  // Under another name first: a running Node may have the old one mapped.
  await run(compiler[0], [...compiler.slice(1), ...objects, ...LINK, "-o", `${addon}.new`]);
  fs.renameSync(`${addon}.new`, addon);
}

async function buildTypeScript() {
  const compiler = path.join(path.dirname(require.resolve("typescript/package.json")), "bin", "tsc");
  await run(process.execPath, [compiler, "-p", PACKAGE]);
}

try {
  const only = process.argv[2];
  if (only !== "--typescript") await buildAddon();
  if (only !== "--addon") await buildTypeScript();
} catch (error) {
  console.error(`cove: ${error.message}`);
  process.exitCode = 1;
}
