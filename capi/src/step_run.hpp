/// cove_step_run: a step of the host that runs, answered by the host when it likes.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <cove/call_context.hpp>
#include <cove/prepare.hpp>

#include "base/async/completion.hpp"
#include "handles.hpp"

namespace cove::capi {

struct StepAnswer {
  bool nothing_to_do = false;
  std::string reason;
  std::string output;
  std::string note;
  std::optional<Error> error;
};

/// The way to the acquire's observer for as long as the step runs; `tell` on the scheduler only.
struct StepTeller {
  Scheduler& scheduler;
  std::function<void(std::string)> tell;
};

using StepDone = std::shared_ptr<base::Completion<Result<StepAnswer>>>;

}  // namespace cove::capi

struct cove_step_run {
  cove_step_run(cove::capi::LibraryPtr library, cove::Workspace its_workspace,
                cove::CallContext its_call, std::string its_note,
                std::shared_ptr<cove::capi::StepTeller> its_teller, cove::capi::StepDone its_done)
      : workspace(std::move(library), std::move(its_workspace)),
        call(std::move(its_call)),
        note(std::move(its_note)),
        teller(std::move(its_teller)),
        done_(std::move(its_done)) {}

  bool is_forked() const noexcept { return workspace.library->is_forked(); }

  /// The first answer counts; kFailedPrecondition for others, and after a fork.
  cove::Result<void> answer(cove::capi::StepAnswer answer);

  mutable cove_workspace workspace;  // free-threaded, as its handle is
  const cove::CallContext call;
  const std::string note;
  const std::shared_ptr<cove::capi::StepTeller> teller;

 private:
  const cove::capi::StepDone done_;
  std::atomic<bool> answered_{false};
};
