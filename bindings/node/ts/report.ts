/** What a preparation did. */

import { codeOfName, type ErrorCode } from "./errors.js";
import { renamed } from "./json.js";

/** The stages of a preparation, in their order; docs/prepare.md says what each does. */
export type PrepareStage =
  | "directories" | "mirrors" | "input_files" | "skills" | "builtin_skills" | "app_init" | "skill_init" | "capabilities";

/** What became of a step. */
export interface StepReport {
  /** "mirrors", "host/fonts", ... */
  step: string;
  stage: PrepareStage;
  policy: "required" | "best_effort";
  outcome: "skipped" | "applied" | "failed";
  durationMs: number;
  /** Why it was skipped, how it failed, or what it did. */
  reason: string;
  /** The last 8 KiB of what its programs wrote, without secrets. */
  output: string;
  /** Of one that failed. */
  error?: { code: ErrorCode; message: string };
  /** Where it is tried again. */
  retryAfterMs?: number;
}

/** What a preparation did. */
export interface PrepareReport {
  /** How much there was to do: nothing was asked, everything was there, or steps ran. */
  path: "remembered" | "unchanged" | "run";
  /** Whether a step failed. */
  failed: boolean;
  durationMs: number;
  /** Of that, for other chats' preparation. */
  waitedMs: number;
  steps: StepReport[];
  /** Where each input file is, below /workspace. */
  inputFiles: string[];
}

/** @internal A step's part, as the library gives it. */
export function stepReport(json: unknown): StepReport {
  const step = renamed(json) as StepReport;
  if (step.error !== undefined) step.error.code = codeOfName(step.error.code);
  return step;
}

/** @internal The report as the library gives it. */
export function prepareReport(json: Buffer): PrepareReport {
  const report = renamed(JSON.parse(json.toString("utf8"))) as PrepareReport;
  report.steps = report.steps.map(stepReport);
  return report;
}
