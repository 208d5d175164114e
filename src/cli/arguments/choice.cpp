#include <utility>

#include "cli/commands/command.hpp"

namespace cove::cli {
namespace {

Error choose_one() {
  return {ErrorCode::kInvalidArgument,
          "say whose workspace: --app ID --user U, or --sandbox ID; see: cove --help"};
}

}  // namespace

Result<std::optional<WorkspaceKey>> chosen_key(const WorkspaceChoice& choice) {
  if (choice.app && (choice.source_type || choice.source_id)) {
    return Error(ErrorCode::kInvalidArgument,
                 "--app ID means --source-type app --source-id ID: give one of both forms");
  }
  const bool nothing = !choice.app && !choice.source_type && !choice.source_id && !choice.user;
  if (nothing && choice.sandbox) return std::optional<WorkspaceKey>();
  if (nothing) return choose_one();
  WorkspaceKey key;
  if (!choice.app && (!choice.source_type || !choice.source_id)) {
    return Error(ErrorCode::kInvalidArgument,
                 "--app ID is missing (or both of --source-type T and --source-id ID)");
  }
  if (!choice.user) return Error(ErrorCode::kInvalidArgument, "--user U is missing");
  key.source_type = choice.app ? "app" : *choice.source_type;
  key.source_id = choice.app ? *choice.app : *choice.source_id;
  key.user_id = *choice.user;
  COVE_TRY_VOID(validate(key));
  return std::optional<WorkspaceKey>(std::move(key));
}

Result<SandboxId> chosen_sandbox(const WorkspaceChoice& choice) {
  if (choice.sandbox && choice.sandbox->empty()) {
    return Error(ErrorCode::kInvalidArgument, "--sandbox is empty");
  }
  COVE_TRY(const std::optional<WorkspaceKey> key, chosen_key(choice));
  return choice.sandbox ? SandboxId(*choice.sandbox) : sandbox_id_of(*key);
}

Result<Workspace> acquire_chosen(const Invocation& invocation, PrepareInputs prepare) {
  const WorkspaceChoice& choice = invocation.request.workspace;
  COVE_TRY(std::optional<WorkspaceKey> key, chosen_key(choice));
  AcquireOptions options;
  options.chat_id = choice.chat.value_or("");
  options.prepare = std::move(prepare);
  options.prepare.mirrors = invocation.request.prepare.mirrors;
  if (choice.sandbox) {
    // It names one that is there: a mistyped id must not begin an empty workspace.
    COVE_TRY(options.sandbox, chosen_sandbox(choice));
    COVE_TRY(const Record record, invocation.cove.status(options.sandbox, invocation.call));
    if (!key) key = record.key;
  }
  return invocation.cove.acquire(*key, options, invocation.call);
}

}  // namespace cove::cli
