/** Which Cove workspace a sandbox of FastGPT's is. */

import { createHash } from "node:crypto";
import type { WorkspaceKey } from "../cove.js";
import * as check from "../options.js";

/** Whose sandbox it is, as FastGPT names it. */
export interface SandboxIdentity {
  /** "app", "skillEdit", ... */
  sourceType: string;
  sourceId: string;
  /** Of "skillEdit" always "skillEdit": one shared sandbox for each skill. */
  userId: string;
}

/** FastGPT's own id: "app-" and 16 hexadecimal digits; records of it are adopted under it. */
export function fastgptSandboxId(identity: SandboxIdentity): string {
  const { sourceType, sourceId, userId } = keyOf(identity);
  const digest = createHash("sha256").update(`${sourceId}-${userId}`).digest("hex");
  return `${sourceType.toLowerCase()}-${digest.slice(0, 16)}`;
}

export function keyOf(identity: SandboxIdentity): WorkspaceKey {
  const given = check.object("identity", identity, "{sourceType, sourceId, userId}");
  return {
    sourceType: check.text("sourceType", given.sourceType),
    sourceId: check.text("sourceId", given.sourceId),
    userId: check.text("userId", userOf(given)),
  };
}

/** Chats choose a directory; all edits of a skill are at the root. */
export function chatOf(identity: SandboxIdentity, chatId: string | undefined): string | undefined {
  return identity.sourceType === "skillEdit" ? undefined : chatId;
}

function userOf(identity: SandboxIdentity): string {
  return identity.sourceType === "skillEdit" ? "skillEdit" : identity.userId;
}
