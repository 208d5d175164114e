/**
 * FastGPT's sandbox adapter over Cove: a host that has it changes the import and how a sandbox is made.
 *
 *     import { Cove } from "cove-workspace";
 *     import { CoveSandbox } from "cove-workspace/fastgpt";
 *
 *     const sandbox = new CoveSandbox({ cove, sourceType: "app", sourceId, userId, chatId });
 *     await sandbox.ensureRunning();
 *     console.log((await sandbox.execute("python3 -c 'print(6 * 7)'")).stdout);
 */

export {
  CommandExecutionError, ConnectionError, FeatureNotSupportedError, FileOperationError, ReadyTimeoutError,
  SandboxException, SandboxNotFoundError, SandboxStateError, TimeoutError,
} from "./errors.js";
export type { FileErrorCode } from "./errors.js";
export { fastgptSandboxId } from "./identity.js";
export type { SandboxIdentity } from "./identity.js";
export type { CoveSandboxOptions } from "./lifecycle.js";
export { CoveSandbox } from "./sandbox.js";
export type * from "./types.js";
