/// The commands: each does what a request says, by Cove's public interface.
#pragma once

#include <cove/cove.hpp>

#include "cli/arguments/request.hpp"
#include "cli/output/output.hpp"

namespace cove::cli {

/// What every command works with. Borrowed.
struct Invocation {
  const Request& request;
  const Cove& cove;
  const Output& output;
  CallContext call;  ///< ends at --timeout, or when the person interrupts
};

/// Each gives the exit code where nothing went wrong in Cove itself.
Result<int> run_exec(const Invocation& invocation);
Result<int> run_ps(const Invocation& invocation);
Result<int> run_logs(const Invocation& invocation);
Result<int> run_kill(const Invocation& invocation);
Result<int> run_attach(const Invocation& invocation);
Result<int> run_put(const Invocation& invocation);
Result<int> run_get(const Invocation& invocation);
Result<int> run_ls(const Invocation& invocation);
Result<int> run_grep(const Invocation& invocation);
Result<int> run_find(const Invocation& invocation);
Result<int> run_tool(const Invocation& invocation);
Result<int> run_read(const Invocation& invocation);
Result<int> run_write(const Invocation& invocation);
Result<int> run_edit(const Invocation& invocation);
Result<int> run_prepare(const Invocation& invocation);
Result<int> run_skills(const Invocation& invocation);
Result<int> run_status(const Invocation& invocation);
Result<int> run_list(const Invocation& invocation);
Result<int> run_stop(const Invocation& invocation);
Result<int> run_archive(const Invocation& invocation);
Result<int> run_relocate(const Invocation& invocation);
Result<int> run_destroy(const Invocation& invocation);
Result<int> run_destroy_source(const Invocation& invocation);
Result<int> run_recover(const Invocation& invocation);
Result<int> run_metrics(const Invocation& invocation);
Result<int> run_sweep(const Invocation& invocation);
Result<int> run_doctor(const Invocation& invocation);

/// Prints the tools, which needs no Cove.
Result<int> describe_tools(const Request& request, const Output& output);

/// Prints what doctor found. 1 where something is broken.
Result<int> tell_findings(const Output& output, bool json, const std::vector<Finding>& findings);

/// The owner that the options name; none where only --sandbox is given. kInvalidArgument: they name
/// none, half of one, or one twice.
Result<std::optional<WorkspaceKey>> chosen_key(const WorkspaceChoice& choice);

/// The sandbox that the options name.
Result<SandboxId> chosen_sandbox(const WorkspaceChoice& choice);

/// Acquires the workspace that the options name, in the chat's session, and prepares it.
Result<Workspace> acquire_chosen(const Invocation& invocation, PrepareInputs prepare = {});

/// Runs `work` with the workspace's client, and lets go of the workspace whatever comes of it.
template <class Work>
Result<int> with_workspace(const Invocation& invocation, const Work& work) {
  COVE_TRY(Workspace workspace, acquire_chosen(invocation));
  const Result<int> done = work(workspace.client());
  const Result<void> released = workspace.release();
  if (done && !released) invocation.output.report(released.error(), invocation.request.json);
  return done;
}

}  // namespace cove::cli
