/// Pipeline::Run: one preparation on its way.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "prepare/pipeline/pipeline.hpp"
#include "prepare/pipeline/state_file.hpp"
#include "prepare/pipeline/step_run.hpp"

namespace cove::prepare {

/// All references outlive the tasks.
class Pipeline::Run {
 public:
  Run(Pipeline& pipeline, const Place& place, const Preparation& preparation, PrepareReport& report)
      : pipeline_(pipeline), place_(place), preparation_(preparation), report_(report) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  bool finished() const noexcept { return finished_; }

  /// Answers from memory, where it can.
  bool recall();

  /// Reads the state file; finished where nothing is to be done.
  Task<Result<void>> look(const CallContext& call);

  /// Waits for one's turn and does what is left to do then.
  Task<Result<void>> take_turn(const CallContext& call);

 private:
  enum class Verdict : std::uint8_t { kRun, kDone, kNotYet };

  struct Planned {
    Verdict verdict = Verdict::kRun;
    StepReport report;    ///< of a step that does not run
    bool hidden = false;  ///< it has nothing to take back
  };

  const SandboxId& sandbox() const noexcept { return place_.instance.volume.sandbox; }
  SandboxMemory& memory() { return pipeline_.memory_.of(place_.instance); }

  /// What is to be done, by state and memory.
  Task<Result<std::vector<Planned>>> plan(const CallContext& call);
  bool is_done(const PrepareStep& step, const std::string& hash) const;

  /// Takes over what the state file knows of a failure that this process has not seen.
  Task<Result<void>> learn_failure(const PrepareStep& step, const std::string& hash,
                                   const CallContext& call);

  /// The error of a required step of ours that failed after `seen` refusals of this process.
  Result<void> check_refusal(std::uint64_t seen);

  /// Runs them for as long as the lease is held.
  Task<Result<void>> run_leased(const Lease& lease, const CallContext& call);
  Task<Result<void>> run_steps(const Lease& lease, const CallContext& call);
  Task<Result<void>> run_one(const Lease& lease, const PrepareStep& step, const CallContext& call);
  Task<Result<void>> keep_success(const PrepareStep& step, StepRun run, const CallContext& call);
  Task<Result<void>> keep_failure(const PrepareStep& step, StepReport report,
                                  const CallContext& call);

  /// Writes the state file; where that fails the next process does more than it must.
  Task<void> save(const CallContext& call);

  std::vector<std::string> placed_files() const;
  void remember();
  void finish(StepReport report);

  Pipeline& pipeline_;
  const Place& place_;
  std::shared_ptr<const Workspace> handle_;  // of the lease that is held
  const Preparation& preparation_;
  PrepareReport& report_;
  State state_;
  std::optional<StoreTime> store_now_;  // asked for once
  std::vector<Planned> plan_;
  bool finished_ = false;
};

}  // namespace cove::prepare
