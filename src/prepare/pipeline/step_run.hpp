/// One step: run with its timeout, and told about.
#pragma once

#include <string>

#include <cove/guest.hpp>
#include <cove/prepare.hpp>

#include "prepare/pipeline/preparation.hpp"

namespace cove::prepare {

inline constexpr std::size_t kMaxOutput = 8 * 1024;

/// Where steps run. All is borrowed.
struct Site {
  const SandboxId& sandbox;
  Guest& guest;
  Scheduler& scheduler;
  const Clock& clock;
  const Workspace* workspace = nullptr;
  const InstanceRef* instance = nullptr;
};

/// What came of one.
struct StepRun {
  StepReport report;
  std::string note;  ///< to be kept where it was applied; without secrets
};

/// The report of a step that does not run.
StepReport skipped(const PrepareStep& step, std::string reason);

/// Tells the observer of a preparation, whose exceptions end here.
void tell(const Preparation& preparation, const PrepareEvent& event);

/// Runs it. Its failure is in the report, without secrets. An error is the call's own: kTimeout,
/// kCancelled, or kUnavailable where the guest is gone. All references outlive the task.
Task<Result<StepRun>> run_step(const PrepareStep& step, const Preparation& preparation,
                               const Site& site, std::string note, const CallContext& call);

}  // namespace cove::prepare
