/// cove_prepare: what acquires prepare, as C hosts fill it in.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <cove/prepare_inputs.hpp>

#include "handles.hpp"

namespace cove::capi {

/// A callback of the host that applies a step; shared by all acquires that have the step.
struct StepCallback {
  StepCallback(cove_step_fn function, UserData its_user)
      : apply(function), user(std::move(its_user)) {}

  const cove_step_fn apply;
  const UserData user;
};

/// A step of the host before it is known whose workspace it prepares.
struct HostStep {
  PrepareStep shape;  ///< without `apply`
  std::shared_ptr<const StepCallback> callback;
};

}  // namespace cove::capi

struct cove_prepare {
  cove::PrepareInputs inputs;  // without the host's steps
  std::vector<cove::capi::HostStep> steps;
};

namespace cove::capi {

/// What an acquire through `library` takes; NULL = nothing.
PrepareInputs inputs_of(const cove_prepare* prepare, const LibraryPtr& library);

/// Asks the host for a step, and waits for its answer as long as the step has time.
Task<Result<void>> run_host_step(std::shared_ptr<const StepCallback> callback,
                                 std::weak_ptr<Library> library, PrepareContext& context);

}  // namespace cove::capi
