#include "prepare/steps/directories.hpp"

namespace cove::prepare {
namespace {

Task<Result<void>> make_session(PrepareContext& context) {
  const GuestPath path{"", context.session};
  const Result<void> made = co_await context.guest.make_directory(path, context.call);
  if (!made) co_return made.error().with_context("session", context.session);
  co_return ok();
}

}  // namespace

PrepareStep directories_step(const std::string& session) {
  PrepareStep step;
  step.name = "directories/" + session;
  step.fingerprint = "1";
  step.policy = StepPolicy::kRequired;
  step.after = PrepareStage::kDirectories;
  step.apply = make_session;
  return step;
}

}  // namespace cove::prepare
