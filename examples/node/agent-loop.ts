/**
 * An agent loop of a chat application: two chats of one user work in one workspace at once, with the tools of Cove; then the
 * workspace goes idle, is stopped, and wakes with everything in it.
 *
 * The model is a script here; where a real one is asked, its client goes into `ask`.
 *
 *     node agent-loop.ts STATE_DIR      (Node 22.18 or newer; for an older one compile it with tsc)
 */

import { Cove, CoveError, FakeClock, describeTools, type OpenAiTool, type Workspace } from "cove-workspace";

// What a chat application has: messages, and a model that answers with text or with calls of tools.
interface ToolCall {
  name: string;
  arguments: string;
}
interface Message {
  role: "user" | "assistant" | "tool";
  content: string;
  calls?: ToolCall[];
}
type Model = (messages: Message[], tools: OpenAiTool[]) => Promise<Message>;

const ANA = { sourceType: "app", sourceId: "shop", userId: "ana" };

/** One line of the console for each thing that happens, with the chat that it happens in. */
function show(chat: string, line: string): void {
  console.log(`${chat.padEnd(4)}│ ${line}`);
}

/** A model that plays a script: each turn is what it does next. */
function scripted(turns: (string | ToolCall[])[]): Model {
  return async () => {
    const turn = turns.shift() ?? "I have nothing to add.";
    return typeof turn === "string"
      ? { role: "assistant", content: turn }
      : { role: "assistant", content: "", calls: turn };
  };
}

/** Runs a call and shows how long it takes; what goes wrong is told to the model as it can use it. */
async function runTool(chat: string, workspace: Workspace, call: ToolCall, signal: AbortSignal): Promise<Message> {
  const began = Date.now();
  const progress = setInterval(() => show(chat, `… ${call.name} (${Date.now() - began} ms)`), 1000);
  try {
    const answer = await workspace.callTool(call.name, call.arguments, {
      signal,
      timeoutMs: 120_000,
      linkMaker: async (files) => files.map((file) => `https://files.example/${file.info.path}`),
    });
    show(chat, `${answer.isError ? "✗" : "✓"} ${call.name}`);
    return { role: "tool", content: answer.text };
  } catch (error) {
    if (!(error instanceof CoveError) || error.code === "CANCELLED") throw error;
    show(chat, `✗ ${call.name}: ${error.code}`);
    return { role: "tool", content: `The sandbox is not available: ${error.reason}` };
  } finally {
    clearInterval(progress);
  }
}

/** The loop: ask the model, run what it calls, tell it, until it answers in words. */
async function chat(cove: Cove, id: string, question: string, ask: Model, signal: AbortSignal): Promise<void> {
  const workspace = await cove.acquire(ANA, { chatId: id, signal });
  const tools = describeTools("openai");
  const messages: Message[] = [{ role: "user", content: question }];
  try {
    for (let turn = 0; turn < 20; ++turn) {
      const answer = await ask(messages, tools);
      messages.push(answer);
      if (answer.calls === undefined) return show(id, answer.content.replace("%last%", lastLine(messages)));
      // Calls of one turn run at once, as the models expect.
      messages.push(...(await Promise.all(answer.calls.map((call) => runTool(id, workspace, call, signal)))));
    }
    show(id, "gave up after 20 turns");
  } finally {
    await workspace.close();
  }
}

function lastLine(messages: Message[]): string {
  const told = messages.filter((message) => message.role === "tool").at(-1);
  return told?.content.trim().split("\n").at(-1) ?? "";
}

const PENGUINS = `species,count
Adelie,152
Gentoo,124
Chinstrap,68
`;

const COUNT = `
import csv
rows = list(csv.DictReader(open("/workspace/penguins.csv")))
print(", ".join(f"{row['species']}: {row['count']}" for row in rows))
`;

function writer(): Model {
  return scripted([
    [
      { name: "sandbox_write_file", arguments: JSON.stringify({ path: "/workspace/penguins.csv", content: PENGUINS }) },
      { name: "sandbox_write_file", arguments: JSON.stringify({ path: "report.md", content: "# Penguins\n" }) },
    ],
    [{ name: "sandbox_ls", arguments: '{"path": "/workspace"}' }],
    "I wrote penguins.csv for all chats, and report.md.",
  ]);
}

function analyst(): Model {
  return scripted([
    [{ name: "sandbox_write_file", arguments: JSON.stringify({ path: "count.py", content: COUNT }) }],
    // The other chat may not have written it yet: the command waits for it.
    [
      {
        name: "sandbox_shell",
        arguments: JSON.stringify({ command: "until [ -s /workspace/penguins.csv ]; do sleep 0.1; done; python3 count.py" }),
      },
    ],
    "%last%",
  ]);
}

/** An hour later by a clock that is set ahead. A host sweeps every few minutes, or lets Cove (`sweep_every_s`). */
async function anHourLater(cove: Cove, clock: FakeClock): Promise<void> {
  clock.advance(61 * 60_000);
  const { stopped } = await cove.sweep();
  show("", `an hour later: stopped ${stopped} idle sandbox`);
}

async function main(stateDir: string): Promise<void> {
  const clock = new FakeClock();
  const cove = await Cove.open({ stateDir, clock, config: { lifecycle: { stop_after_s: 3600 } } });
  const leaving = new AbortController();
  process.once("SIGINT", () => leaving.abort());
  try {
    await Promise.all([
      chat(cove, "c1", "Write down how many penguins there are.", writer(), leaving.signal),
      chat(cove, "c2", "How many penguins are there?", analyst(), leaving.signal),
    ]);
    await anHourLater(cove, clock);

    const workspace = await cove.acquire(ANA, { chatId: "c1" });
    show("c1", `woke (${workspace.work})`);
    const found = await workspace.find("report.md").toArray();
    show("c1", `${found[0]?.path ?? "nothing"} is still there`);
    await workspace.close();
    await cove.destroy(workspace.sandboxId);
  } finally {
    await cove.close();
  }
}

const stateDir = process.argv[2];
if (stateDir === undefined) {
  console.error("usage: agent-loop STATE_DIR");
  process.exitCode = 2;
} else {
  await main(stateDir);
}
