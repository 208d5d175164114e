/** Tools: what a language model calls to work in a workspace. */

import { call } from "./calls.js";
import { CoveError, numberOf } from "./errors.js";
import type { FileInfo } from "./files.js";
import { native, type LinkRequest } from "./native.js";
import * as options from "./options.js";
import type { CallOptions } from "./options.js";
import { Searches } from "./searches.js";

/** A tool as function calling of OpenAI's form takes it. */
export interface OpenAiTool {
  type: "function";
  function: { name: string; description: string; parameters: Record<string, unknown> };
}

/** A tool as `tools/list` of MCP gives it. */
export interface McpTool {
  name: string;
  title?: string;
  description: string;
  inputSchema: Record<string, unknown>;
  annotations?: Record<string, unknown>;
}

/** A tool, in no vendor's form. */
export interface PlainTool {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
}

/** What a tool answered. */
export interface ToolResult {
  /** For the model; at most 2,000 lines or 50 KiB of content, notices in square brackets too. */
  text: string;
  /**
   * For the host, of the tool's own form (docs/tools.md): "error" where there is one, "notes" where arguments were not
   * taken as they stood.
   */
  data: Record<string, unknown>;
  /** The tool could not do what was asked; the text tells the model. */
  isError: boolean;
}

/** A file that a link is wanted for; `info.path` is below /workspace. */
export interface FileToLink {
  info: FileInfo;
  /** Told from its first bytes: "image/png", "text/plain; charset=utf-8", ... */
  contentType: string;
}

/** Gives a link for each file, in their order. */
export type LinkMaker = (files: FileToLink[]) => readonly string[] | Promise<readonly string[]>;

export interface ToolOptions extends CallOptions {
  /**
   * Gives `sandbox_get_file_url` its links; it may take its time. A CoveError that it throws is the tool's answer; any
   * other error is thrown by `callTool`.
   */
  linkMaker?: LinkMaker;
}

const FORMATS = { openai: 1, mcp: 2, plain: 3 } as const;

/**
 * The tools for a model: "openai" (function calling), "mcp" (`tools/list`) or "plain". Arguments are checked against
 * the very schemas in it. Needs no open Cove.
 */
export function describeTools(format?: "openai"): OpenAiTool[];
export function describeTools(format: "mcp"): McpTool[];
export function describeTools(format: "plain"): PlainTool[];
export function describeTools(format: "openai" | "mcp" | "plain" = "openai"): unknown[] {
  const name = options.oneOf("format", format, ["openai", "mcp", "plain"]);
  return JSON.parse(native.describeTools(FORMATS[name])) as unknown[];
}

function checkLinks(links: unknown, wanted: number): string[] {
  if (!Array.isArray(links)) throw new TypeError("linkMaker must give a list of strings");
  if (links.length !== wanted) throw new RangeError(`linkMaker gave ${links.length} links for ${wanted} files`);
  return links.map((link, i) => options.text(`link ${i}`, link));
}

function refuse(request: LinkRequest, error: CoveError): void {
  native.refuseLinks(request, numberOf(error.code), error.reason.replaceAll("\0", " "));
}

/** JSON as the model gave it, or an object. */
function argumentsOf(value: unknown): string {
  if (typeof value === "string") return options.text("arguments", value);
  if (typeof value === "object" && value !== null) return options.text("arguments", JSON.stringify(value));
  throw new TypeError("arguments must be JSON as a string, or an object");
}

/** @internal The tools of a Workspace. */
export abstract class Tools extends Searches {
  /**
   * Calls a tool with what the model gave: JSON as it stands, or an object. What the model can do something about is a
   * result with `isError`, also an unknown name or wrong arguments. After `timeoutMs` a command or a search gives what
   * it had.
   */
  async callTool(name: string, args: string | object, given?: ToolOptions): Promise<ToolResult> {
    const checked = options.options("callTool", given, ["linkMaker", ...options.CALL]);
    const [tool, json] = [options.text("name", name), argumentsOf(args)];
    const linkMaker: unknown = checked.linkMaker;
    if (linkMaker !== undefined && typeof linkMaker !== "function") throw new TypeError("linkMaker must be a function");
    let failed: { error: unknown } | undefined;

    const answer = async (request: LinkRequest, files: FileToLink[]): Promise<void> => {
      try {
        const links = checkLinks(await (linkMaker as LinkMaker)(files), files.length);
        if (!native.areLinksOver(request)) native.answerLinks(request, links);
      } catch (error) {
        if (!(error instanceof CoveError)) failed ??= { error };
        const said = error instanceof CoveError ? error : new CoveError("INTERNAL", "the application's link maker failed");
        if (!native.areLinksOver(request)) refuse(request, said);
      }
    };
    const ask = (request: LinkRequest, files: unknown[]): void => void answer(request, files as FileToLink[]);

    const result: Awaited<ReturnType<typeof native.callTool>> = await call(checked, (limits) =>
      native.callTool(this.use(), tool, json, limits, linkMaker === undefined ? undefined : ask),
    );
    if (failed !== undefined) throw failed.error;
    return { text: result.text, data: JSON.parse(result.dataJson) as Record<string, unknown>, isError: result.isError };
  }
}
