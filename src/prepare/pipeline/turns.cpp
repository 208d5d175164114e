#include "prepare/pipeline/turns.hpp"

namespace cove::prepare {

Task<Result<Turns::Turn>> Turns::take(SandboxId sandbox, const CallContext& call) {
  const auto [line, is_free] = lines_.try_emplace(sandbox);
  if (is_free) co_return Turn(*this, std::move(sandbox));
  const Place place = base::Completion<Result<void>>::make(scheduler_);
  line->second.push_back(place);
  const Result<void> came = co_await base::wait_bounded<void>(place, scheduler_, call);
  if (came) co_return Turn(*this, std::move(sandbox));
  const auto left = lines_.find(sandbox);
  if (left != lines_.end()) std::erase(left->second, place);
  co_return came.error().with_context("waited for", "another chat's preparation of the workspace");
}

void Turns::pass_on(const SandboxId& sandbox) {
  const auto line = lines_.find(sandbox);
  while (!line->second.empty()) {
    const Place next = std::move(line->second.front());
    line->second.pop_front();
    // One whose call ended meanwhile does not take it.
    if (next->complete(ok())) return;
  }
  lines_.erase(line);
}

}  // namespace cove::prepare
