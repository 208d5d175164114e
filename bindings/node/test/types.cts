// The same package by require().
import cove = require("cove-workspace");
import fastgpt = require("cove-workspace/fastgpt");

export async function all(opened: cove.Cove): Promise<string> {
  const workspace: cove.Workspace = await opened.acquire({ sourceType: "app", sourceId: "shop", userId: "ana" });
  const sandbox = new fastgpt.CoveSandbox({ cove: opened, sourceType: "app", sourceId: "shop", userId: "ana" });
  const error = new cove.CoveError("NOT_FOUND", "x");
  return workspace.directory + sandbox.id + error.code;
}
