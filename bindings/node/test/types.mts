// Compiled only: what the types promise, and (after @ts-expect-error) what they refuse.
import type { Readable } from "node:stream";
import {
  Cove, CoveError, describeTools, sandboxIdOf,
  type EditResult, type ErrorCode, type ExecResult, type FileInfo, type GrepLine, type OutputChunk, type Prepare, type PrepareReport,
  type SearchSummary, type StepRun, type Workspace,
} from "cove-workspace";
import { CoveSandbox, type ISandbox } from "cove-workspace/fastgpt";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(_: Same<A, B>): void {}

export async function promises(cove: Cove, workspace: Workspace): Promise<void> {
  const key = { sourceType: "app", sourceId: "shop", userId: "ana" };
  await using held = await cove.acquire(key, { chatId: "c1", signal: AbortSignal.timeout(1000) });
  same<typeof held, Workspace>(true);
  const result = await workspace.exec(["ls", Buffer.from("a")], { env: { A: "1" }, onOutput: (stream, data) => stream.length + data.length });
  same<typeof result, ExecResult>(true);
  if (result.outcome === "timed_out") same<typeof result.out.text, string>(true);
  await workspace.exec({ shell: "ls" });
  for await (const chunk of workspace.stream(["ls"], { keepStdin: true })) same<typeof chunk, OutputChunk>(true);
  for await (const line of workspace.grep("TODO")) same<typeof line, GrepLine>(true);
  same<SearchSummary, Awaited<ReturnType<typeof workspace.find>["summary"]>>(true);
  const readable: Readable = workspace.download("a").readable();
  await workspace.upload("a", readable);
  await workspace.upload("a", new Blob(["x"]).stream());
  const info: FileInfo = await workspace.writeFile("a", "text", { mode: 0o600 });
  const edited: (EditResult | CoveError)[] = await workspace.editFiles([{ path: info.path, edits: [{ old: "a", new: "b" }] }]);
  for (const each of edited) if (!(each instanceof CoveError)) each.edits[0]?.replaced.toFixed();
  const tool = await workspace.callTool("sandbox_ls", "{}", { linkMaker: async (files) => files.map((file) => file.info.path) });
  tool.text.trim();
  describeTools("mcp")[0]?.inputSchema;
  describeTools()[0]?.function.parameters;
  const id: string = sandboxIdOf(key);
  for await (const record of cove.list({ source: "app/shop" })) record.state === "running" && record.operation?.kind;
  await cove.stop(id, { drain: "cancel" });
  const sandbox: ISandbox = new CoveSandbox({ cove, ...key });
  await sandbox.execute("ls");
}

export async function preparing(cove: Cove): Promise<void> {
  const prepare: Prepare = {
    files: { "a.txt": "text", "b.txt": { path: "/srv/b.txt" } },
    mirrors: { npm: "https://npm.example/" },
    steps: [
      {
        name: "fonts",
        after: "input_files",
        apply: async ({ workspace, signal, note, tell }) => {
          tell("unpacking");
          const done = await workspace.exec(["ls"], { signal });
          return { output: done.out.text, note: `${note}1` };
        },
      },
      { name: "nothing", apply: (run) => same<typeof run, StepRun>(true) },
    ],
    onEvent: (event) => {
      if (event.event === "finished") event.report.outcome === "applied" && event.report.error?.code === "NOT_FOUND";
      // @ts-expect-error only progress has a text
      if (event.event === "started") event.text.trim();
    },
  };
  const workspace = await cove.acquire({ sourceType: "app", sourceId: "shop", userId: "ana" }, { prepare });
  same<ReturnType<typeof workspace.prepareReport>, PrepareReport>(true);
  same<Awaited<ReturnType<typeof cove.destroySource>>, number>(true);
  (await cove.recover()).kept.toFixed();
  (await cove.metrics()).trim();
  await cove.archive(workspace.sandboxId, { waitMs: 1000 });
  await cove.relocate(workspace.sandboxId, { provider: "tree", signal: AbortSignal.timeout(1000), drain: "cancel" });
  for (const volume of (await cove.orphans()).foreignVolumes) same<typeof volume.provider, string>(true);
  // @ts-expect-error a relocate needs a provider
  await cove.relocate(workspace.sandboxId, { timeoutMs: 1000 });
  // @ts-expect-error a result has no such member
  await cove.acquire({ sourceType: "app", sourceId: "shop", userId: "ana" }, { prepare: { steps: [{ name: "x", apply: () => ({ text: "x" }) }] } });
  // @ts-expect-error no such package manager
  await cove.acquire({ sourceType: "app", sourceId: "shop", userId: "ana" }, { prepare: { mirrors: { nuget: "https://x" } } });
}

export function codes(error: unknown): number | null {
  if (!(error instanceof CoveError)) return null;
  const code: ErrorCode = error.code;
  if (code === "UNAVAILABLE") return error.retryAfterMs;
  // @ts-expect-error there is no such code
  if (code === "NOPE") return 1;
  return null;
}

export async function refusals(cove: Cove, workspace: Workspace): Promise<void> {
  // @ts-expect-error a line for the shell is {shell}
  await workspace.exec("ls -l");
  // @ts-expect-error no such option
  await workspace.exec(["ls"], { timeout: 5 });
  // @ts-expect-error a key has three members
  await cove.acquire({ sourceType: "app" });
  // @ts-expect-error content is bytes or a string
  await workspace.writeFile("a", 7);
  // @ts-expect-error made by Cove.open only
  new Cove();
  // @ts-expect-error no such form
  describeTools("xml");
}
