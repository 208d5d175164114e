/** What an acquire makes ready before it returns: inputs, and steps of the application's own. */

import { CoveError } from "./errors.js";
import { native, type PrepareHandle } from "./native.js";
import * as options from "./options.js";
import type { Data, PathLike } from "./options.js";
import { stepReport, type PrepareStage, type StepReport } from "./report.js";
import { addSkills, type HostPackage, type Skill } from "./skills.js";
import { runStep, type StepResult, type StepRun } from "./steps.js";

/** A file of this machine, which is read when it is needed; no link at the path's end is followed. */
export interface HostFile {
  path: PathLike;
}

/** Which package managers a mirror is for: "npm" is also yarn's, pnpm's and bun's, "pypi" also uv's. */
export type MirrorName = "npm" | "pypi" | "apt" | "go" | "cargo" | "maven" | "rubygems";

/** A step of the application's own. */
export interface PrepareStep {
  /** [A-Za-z0-9_][A-Za-z0-9._-]{0,63}, and no other step's; the report has it as "host/<name>". */
  name: string;
  /**
   * Applies it, and may take its time; it may be repeated after a crash. A CoveError that it throws is the step's
   * failure with that code (and `context.output` its output), anything else one with INTERNAL. Also called again where
   * the workspace wakes on another instance.
   */
  apply: (run: StepRun) => StepResult | void | Promise<StepResult | void>;
  /** What its result depends on: it is applied where the sandbox knows another one. "" = at every acquire: "". */
  fingerprint?: string;
  /** Its failure is the acquire's; else it is reported, and tried again later: true. */
  required?: boolean;
  /** Behind which stage it stands: "builtin_skills". */
  after?: PrepareStage;
  /** 1,000 to 600,000: 30,000. */
  timeoutMs?: number;
}

/** What happens while a workspace is prepared. */
export type PrepareEvent =
  /** Another chat's preparation goes first. */
  | { event: "waiting" }
  | { event: "started"; step: string }
  /** `text` = how far the step is. */
  | { event: "progress"; step: string; text: string }
  | { event: "finished"; step: string; report: StepReport };

/** What acquires prepare; see docs/prepare.md. */
export interface Prepare {
  /** For every command of the workspace, over the sandbox's own; a command's own `env` goes over them. */
  variables?: Readonly<Record<string, string>>;
  /** The same, never written to a disk, a log, an error or a report. Empty, or at least 4 bytes. */
  secrets?: Readonly<Record<string, string>>;
  /** As "Europe/Berlin"; the sandbox's own by default. */
  timeZone?: string;
  /** As "de_DE.UTF-8"; the sandbox's own by default. */
  locale?: string;
  /** http(s) URLs where package managers get their packages. */
  mirrors?: Readonly<Partial<Record<MirrorName, string>>>;
  /**
   * Files for `user_files` of the session, under safe names: by the names that the user's machine has for them, their
   * content (a string is written as UTF-8) or a file of this machine. A list may have a name twice.
   */
  files?: Readonly<Record<string, Data | HostFile>> | readonly (readonly [name: PathLike, source: Data | HostFile])[];
  /** At most 96 KiB for bash, run once for each text, version and HOME. Its failure is in the report only. */
  initScript?: string;
  /** Another one, and the same script runs again: "". */
  initVersion?: string;
  /** Where the script runs, absolute or relative to /workspace: "/workspace". */
  initCwd?: string;
  /** 1,000 to 600,000: 30,000. */
  initTimeoutMs?: number;
  /** Published skills: version ids of `Cove.addSkill`, or where they come from. */
  skills?: readonly (string | Skill)[];
  /** Skills that the platform brings, kept up to date outside of the workspace: packages by their names. */
  builtinSkills?: Readonly<Record<string, Data | HostPackage>>;
  /** Of each skill's own init script, 1,000 to 600,000; 0 = none is run: 30,000. */
  skillInitTimeoutMs?: number;
  /** Applied in this order. */
  steps?: readonly PrepareStep[];
  /** Hears of progress. */
  onEvent?: (event: PrepareEvent) => unknown;
}

const MIRRORS: Readonly<Record<MirrorName, number>> = {
  npm: 1, pypi: 2, apt: 3, go: 4, cargo: 5, maven: 6, rubygems: 7,
};
const STAGES: Readonly<Record<PrepareStage, number>> = {
  directories: 1, mirrors: 2, input_files: 3, skills: 4, builtin_skills: 5, app_init: 6, skill_init: 7, capabilities: 8,
};
const EVENTS = ["", "waiting", "started", "progress", "finished"] as const;
const INPUTS: readonly string[] = [
  "variables", "secrets", "timeZone", "locale", "mirrors", "files", "initScript", "initVersion", "initCwd",
  "initTimeoutMs", "skills", "builtinSkills", "skillInitTimeoutMs", "steps", "onEvent",
];
const STEP: readonly string[] = ["name", "apply", "fingerprint", "required", "after", "timeoutMs"];

/** An input that is an object of texts; what is undefined is not there. */
function texts(name: string, value: unknown): [string, string][] {
  if (value === undefined) return [];
  if (typeof value !== "object" || value === null) throw new TypeError(`${name} must be an object as {NAME: "value"}`);
  return Object.entries(value)
    .filter(([, text]) => text !== undefined)
    .map(([key, text]) => [options.text(`a name in ${name}`, key), options.text(`${name}.${key}`, text)]);
}

function addFile(prepare: PrepareHandle, name: unknown, source: unknown): void {
  const label = options.path("a name in files", name);
  const file = source as Partial<HostFile> | null;
  if (typeof source === "object" && file !== null && "path" in file) {
    native.prepareHostFile(prepare, label, options.path(`files[${JSON.stringify(String(label))}].path`, file.path));
  } else {
    native.prepareFile(prepare, label, options.data(`files[${JSON.stringify(String(label))}]`, source));
  }
}

function addFiles(prepare: PrepareHandle, files: unknown): void {
  if (files === undefined) return;
  if (typeof files !== "object" || files === null) throw new TypeError("files must be an object or a list of pairs");
  for (const pair of Array.isArray(files) ? (files as unknown[]) : Object.entries(files)) {
    const [name, source] = options.list("a pair in files", pair);
    addFile(prepare, name, source);
  }
}

function setInit(prepare: PrepareHandle, given: Partial<Prepare>): void {
  const fields = {
    version: options.optionalText("initVersion", given.initVersion),
    cwd: options.optionalText("initCwd", given.initCwd),
    scriptTimeoutMs: options.milliseconds("initTimeoutMs", given.initTimeoutMs),
  };
  if (given.initScript === undefined) return;
  native.prepareInit(prepare, options.text("initScript", given.initScript), fields);
}

/** What steps of the host threw that is no CoveError, by their names in errors. */
type Thrown = Map<string, unknown>;

function addStep(prepare: PrepareHandle, given: PrepareStep, thrown: Thrown): void {
  const step = options.options("a step", given, STEP);
  const name = options.text("the name of a step", step.name);
  const apply: unknown = step.apply;
  if (typeof apply !== "function") throw new TypeError(`apply of the step "${name}" must be a function`);
  const fields = {
    fingerprint: options.optionalText("fingerprint", step.fingerprint),
    required: options.truthUnlessSaid("required", step.required),
    after: step.after === undefined ? 0 : STAGES[options.oneOf("after", step.after, Object.keys(STAGES) as PrepareStage[])],
    stepTimeoutMs: options.milliseconds("timeoutMs", step.timeoutMs),
  };
  native.prepareStep(prepare, name, fields, (run, workspace, note) => {
    thrown.delete(`host/${name}`);
    void runStep(apply as PrepareStep["apply"], { run, workspace, note }, (error) => thrown.set(`host/${name}`, error));
  });
}

function setObserver(prepare: PrepareHandle, onEvent: unknown): void {
  if (onEvent === undefined) return;
  if (typeof onEvent !== "function") throw new TypeError("onEvent must be a function");
  const hear = onEvent as NonNullable<Prepare["onEvent"]>;
  native.prepareObserver(prepare, (number, step, text) => {
    const event = EVENTS[number];
    if (event === "waiting") hear({ event });
    else if (event === "started") hear({ event, step });
    else if (event === "progress") hear({ event, step, text });
    else if (event === "finished") hear({ event, step, report: stepReport(JSON.parse(text)) });
  });
}

/** @internal Inputs as C takes them, for one acquire. */
export class Prepared {
  readonly handle: PrepareHandle = native.prepareCreate();
  readonly #thrown: Thrown = new Map();

  constructor(prepare: Prepare) {
    const given = options.options("prepare", prepare, INPUTS);
    const handle = this.handle;
    for (const [name, value] of texts("variables", given.variables)) native.prepareVariable(handle, name, value);
    for (const [name, value] of texts("secrets", given.secrets)) native.prepareSecret(handle, name, value);
    const timeZone = options.optionalText("timeZone", given.timeZone) ?? "";
    native.prepareLocale(handle, timeZone, options.optionalText("locale", given.locale) ?? "");
    for (const [name, url] of texts("mirrors", given.mirrors)) {
      const known = options.oneOf("a name in mirrors", name, Object.keys(MIRRORS) as MirrorName[]);
      native.prepareMirror(handle, MIRRORS[known], url);
    }
    addFiles(handle, given.files);
    setInit(handle, given);
    addSkills(handle, given.skills, given.builtinSkills, given.skillInitTimeoutMs);
    for (const step of options.list("steps", given.steps ?? [])) addStep(handle, step as PrepareStep, this.#thrown);
    setObserver(handle, given.onEvent);
  }

  /** Lets go of the inputs; acquires that were started have what they need. */
  letGo(): void {
    native.letGo(this.handle);
  }

  /** An acquire's error; where a step threw what is no CoveError, that is its cause. */
  explained(error: unknown): unknown {
    const step = error instanceof CoveError ? error.context["step"] : undefined;
    if (step !== undefined && this.#thrown.has(step)) {
      Object.defineProperty(error, "cause", { value: this.#thrown.get(step), configurable: true, writable: true });
    }
    return error;
  }
}
