/** Skills: what acquires place, what a workspace has, and the shelf of published ones. */

import { call } from "./calls.js";
import { report } from "./json.js";
import { native, type CoveHandle, type PrepareHandle, type WorkspaceHandle } from "./native.js";
import * as options from "./options.js";
import type { CallOptions, Data, PathLike } from "./options.js";
import { Tools } from "./tools.js";

/** A package file or a directory of this machine, read when it is needed; no link at the path's end is followed. */
export interface HostPackage {
  path: PathLike;
}

/** A published skill that an acquire places in /workspace/skills/<versionId>. */
export interface Skill {
  /** [A-Za-z0-9_][A-Za-z0-9._-]{0,63}, and never another content later. */
  versionId: string;
  /** zip, tar, tar.gz or tar.zst, or where it lies; without one, what `Cove.addSkill` keeps under the version id. */
  content?: Data | HostPackage;
  /** 64 hex of the package's bytes, which are then checked. */
  sha256?: string;
}

/** A skill of a workspace, placed and verified. */
export interface SkillInfo {
  name: string;
  description: string;
  /** Of its SKILL.md, for sandbox_read_file. */
  location: string;
  /** Of the package that it came in; "" of a builtin one. */
  versionId: string;
}

/** What a workspace has of skills: published ones in the order of the acquire, then builtin ones. */
export interface Skills {
  skills: SkillInfo[];
  /** About packages that are left out, since what lies there is not what was published. */
  problems: string[];
  /** The block for a model's prompt, XML-escaped, whole skills only; "" where there is none. */
  prompt: string;
}

/** What is known of a package that was read and checked. */
export interface SkillPackage {
  versionId: string;
  /** 64 hex of its bytes. */
  sha256: string;
  /** 64 hex of what it holds, the same whatever archive it came in. */
  contentHash: string;
  packedBytes: number;
  contentBytes: number;
  files: number;
  /** `path` of each SKILL.md below the package. */
  skills: { name: string; description: string; path: string }[];
}

export interface SkillsOptions extends CallOptions {
  /** Of the prompt, in Unicode characters: 16,000. */
  maxCharacters?: number;
}

/** Reads a package as `Cove.addSkill` does, and says what it holds. Needs no open Cove, and blocks for as long. */
export function inspectSkill(versionId: string, content: Data): SkillPackage {
  return report(native.inspectSkill(options.text("versionId", versionId), options.data("content", content)));
}

/** The published skills of a Cove, in its object store. */
export abstract class SkillShelf {
  /** @internal The handle of an open Cove. */
  protected abstract use(): CoveHandle;

  /**
   * Checks a package and keeps it under a version id that it has for ever. The same bytes again are a success, others
   * ALREADY_EXISTS, also after the version was removed.
   */
  async addSkill(versionId: string, content: Data, given?: CallOptions): Promise<SkillPackage> {
    const checked = options.options("addSkill", given, options.CALL);
    const [id, data] = [options.text("versionId", versionId), options.data("content", content)];
    return report(await call(checked, (limits) => native.addSkill(this.use(), id, data, limits)));
  }

  /** Those that were added, by version id. */
  async listSkills(given?: CallOptions): Promise<SkillPackage[]> {
    const checked = options.options("listSkills", given, options.CALL);
    const json: Buffer = await call(checked, (limits) => native.listSkills(this.use(), limits));
    return report<{ packages: SkillPackage[] }>(json).packages;
  }

  /** Takes a package out of the object store; workspaces keep what they have. */
  async removeSkill(versionId: string, given?: CallOptions): Promise<void> {
    const checked = options.options("removeSkill", given, options.CALL);
    const id = options.text("versionId", versionId);
    await call(checked, (limits) => native.removeSkill(this.use(), id, limits));
  }
}

/** @internal The skills of a Workspace. */
export abstract class WorkspaceSkills extends Tools {
  /**
   * The skills of the acquire that lie in the workspace as they were published. Asks the sandbox once for each start
   * of it.
   */
  async skills(given?: SkillsOptions): Promise<Skills> {
    const checked = options.options("skills", given, ["maxCharacters", ...options.CALL]);
    const maxCharacters = options.optionalCount("maxCharacters", checked.maxCharacters);
    const handle: WorkspaceHandle = this.use();
    return report(await call(checked, (limits) => native.workspaceSkills(handle, { maxCharacters, ...limits })));
  }
}

function hostPath(name: string, source: unknown): string | Buffer | undefined {
  const file = source as Partial<HostPackage> | null;
  if (typeof source !== "object" || file === null || !("path" in file)) return undefined;
  return options.path(`${name}.path`, file.path);
}

function addSkill(prepare: PrepareHandle, given: unknown): void {
  const skill = options.options<Skill>("a skill", typeof given === "string" ? { versionId: given } : (given as Skill), [
    "versionId", "content", "sha256",
  ]);
  const id = options.text("versionId", skill.versionId);
  const sha256 = options.optionalText("sha256", skill.sha256) ?? "";
  const path = hostPath("content", skill.content);
  if (skill.content === undefined) native.prepareStoredSkill(prepare, id);
  else if (path !== undefined) native.prepareHostSkill(prepare, id, path, sha256);
  else native.prepareSkill(prepare, id, options.data("content", skill.content), sha256);
}

/** @internal What a preparation is to place. `initTimeoutMs`: 0 = no init script of a skill is run. */
export function addSkills(prepare: PrepareHandle, skills: unknown, builtin: unknown, initTimeoutMs: unknown): void {
  for (const skill of options.list("skills", skills ?? [])) addSkill(prepare, skill);
  if (builtin !== undefined && (typeof builtin !== "object" || builtin === null)) {
    throw new TypeError("builtinSkills must be an object of packages by their names");
  }
  for (const [name, source] of Object.entries(builtin ?? {})) {
    const label = options.text("a name in builtinSkills", name);
    const path = hostPath(`builtinSkills.${name}`, source);
    if (path !== undefined) native.prepareHostBuiltinSkill(prepare, label, path);
    else native.prepareBuiltinSkill(prepare, label, options.data(`builtinSkills.${name}`, source));
  }
  if (initTimeoutMs === undefined) return;
  const limit = initTimeoutMs === 0 ? 0 : options.milliseconds("skillInitTimeoutMs", initTimeoutMs);
  native.prepareSkillInitTimeout(prepare, limit);
}
