#include <nlohmann/json.hpp>

#include "base/text/display_text.hpp"
#include "base/text/json.hpp"
#include "cli/commands/command.hpp"
#include "cli/output/texts.hpp"

namespace cove::cli {
namespace {

StopOptions options_of(const Request& request) {
  return {request.force ? StopDrain::kCancel : StopDrain::kRefuse, request.wait};
}

/// A sandbox in use is refused; the hint says how to end what uses it. One that does not run is
/// refused for what --force does not change.
Result<void> with_hint(const Request& request, const Record& before, const Result<void>& done) {
  const bool refused = !done && done.error().code() == ErrorCode::kFailedPrecondition &&
                       before.state == SandboxState::kRunning;
  if (!refused || request.force) return done;
  return done.error().with_context("hint", "--force ends what runs");
}

bool has_operation(const Record& record, OperationKind kind) {
  return record.operation && record.operation->kind == kind;
}

/// True where nothing runs and nothing is about to.
bool is_at_rest(const Record& record) {
  if (record.state == SandboxState::kArchived) return !record.operation;
  return record.state == SandboxState::kStopped &&
         (!record.operation || has_operation(record, OperationKind::kArchive) ||
          has_operation(record, OperationKind::kRelocate));
}

bool is_archived(const Record& record) {
  return record.state == SandboxState::kArchived && !record.operation;
}

Result<int> tell(const Invocation& invocation, const Settled& settled) {
  const nlohmann::json object = settled_json(settled);
  COVE_TRY_VOID(invocation.output.out(invocation.request.json ? base::dump_json(object) + "\n"
                                                              : settled_text(settled)));
  return 0;
}

}  // namespace

Result<int> run_stop(const Invocation& invocation) {
  COVE_TRY(const SandboxId sandbox, chosen_sandbox(invocation.request.workspace));
  COVE_TRY(const Record before, invocation.cove.status(sandbox, invocation.call));
  const StopOptions options = options_of(invocation.request);
  COVE_TRY_VOID(with_hint(invocation.request, before,
                          invocation.cove.stop(sandbox, options, invocation.call)));
  if (is_at_rest(before)) return tell(invocation, {sandbox, before.state, Settled::By::kOthers});
  return tell(invocation, {sandbox, SandboxState::kStopped, Settled::By::kThisCall});
}

Result<int> run_archive(const Invocation& invocation) {
  COVE_TRY(const SandboxId sandbox, chosen_sandbox(invocation.request.workspace));
  COVE_TRY(const Record before, invocation.cove.status(sandbox, invocation.call));
  const StopOptions options = options_of(invocation.request);
  COVE_TRY_VOID(with_hint(invocation.request, before,
                          invocation.cove.archive(sandbox, options, invocation.call)));
  const auto by = is_archived(before) ? Settled::By::kOthers : Settled::By::kThisCall;
  return tell(invocation, {sandbox, SandboxState::kArchived, by});
}

Result<int> run_relocate(const Invocation& invocation) {
  const Request& request = invocation.request;
  COVE_TRY(const SandboxId sandbox, chosen_sandbox(request.workspace));
  if (request.provider.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 "relocate goes to a provider of the configuration: name it with --provider");
  }
  COVE_TRY(const Record before, invocation.cove.status(sandbox, invocation.call));
  const StopOptions stop = options_of(request);
  const RelocateOptions options{request.provider, stop.drain, stop.wait};
  COVE_TRY_VOID(
      with_hint(request, before, invocation.cove.relocate(sandbox, options, invocation.call)));
  const bool moves = before.operation && before.operation->kind == OperationKind::kRelocate;
  const bool was_there = before.provider == request.provider && !moves;
  const Relocated relocated{sandbox, request.provider, before.provider, !was_there};
  const nlohmann::json object = relocated_json(relocated);
  COVE_TRY_VOID(invocation.output.out(request.json ? base::dump_json(object) + "\n"
                                                   : relocated_text(relocated)));
  return 0;
}

Result<int> run_destroy(const Invocation& invocation) {
  COVE_TRY(const SandboxId sandbox, chosen_sandbox(invocation.request.workspace));
  if (!invocation.request.yes) {
    return Error(ErrorCode::kInvalidArgument, "destroy deletes the workspace of " +
                                                  base::quoted(sandbox.str()) +
                                                  " and its archive for ever; say so with --yes");
  }
  // A record that cannot be read is no reason to keep it.
  const Result<Record> before = invocation.cove.status(sandbox, invocation.call);
  const bool was_gone = !before && before.error().code() == ErrorCode::kNotFound;
  COVE_TRY_VOID(invocation.cove.destroy(sandbox, invocation.call));
  const auto by = was_gone ? Settled::By::kOthers : Settled::By::kThisCall;
  return tell(invocation, {sandbox, SandboxState::kAbsent, by});
}

}  // namespace cove::cli
