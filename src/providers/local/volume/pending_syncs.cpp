#include "providers/local/volume/pending_syncs.hpp"

#include <optional>
#include <utility>

#include <fcntl.h>

#include "base/async/completion.hpp"
#include "providers/local/small_files.hpp"

namespace cove::local {

struct PendingSyncs::Sync {
  using Waiter = std::shared_ptr<base::Completion<Result<void>>>;

  void end(Result<void> with) {
    result = std::move(with);
    for (const Waiter& waiter : std::exchange(waiters, {})) waiter->complete(*result);
  }

  std::optional<Result<void>> result;
  std::vector<Waiter> waiters;
};

namespace {

Result<void> sync_all(const std::vector<base::UniqueFd>& files) {
  Result<void> all = ok();
  // So that the first wait finds all of them on their way; what fails here fails there.
  for (const base::UniqueFd& file : files) ::sync_file_range(*file, 0, 0, SYNC_FILE_RANGE_WRITE);
  for (const base::UniqueFd& file : files) {
    Result<void> one = sync_fd(*file, "a new volume");
    if (all && !one) all = std::move(one);
  }
  return all;
}

}  // namespace

void PendingSyncs::begin(const VolumeRef& volume, std::vector<base::UniqueFd> files) {
  const auto sync = std::make_shared<Sync>();
  syncs_[volume] = sync;
  const auto shared = std::make_shared<std::vector<base::UniqueFd>>(std::move(files));
  executor_.submit([&scheduler = scheduler_, sync, shared] {
    Result<void> result = sync_all(*shared);
    shared->clear();
    scheduler.post([sync, result = std::move(result)]() mutable { sync->end(std::move(result)); });
  });
}

Task<Result<void>> PendingSyncs::wait(const VolumeRef& volume, const CallContext& call) {
  const auto found = syncs_.find(volume);
  if (found == syncs_.end()) co_return ok();
  const std::shared_ptr<Sync> sync = found->second;
  if (!sync->result) {
    const auto waiter = base::Completion<Result<void>>::make(scheduler_);
    sync->waiters.push_back(waiter);
    COVE_CO_TRY_VOID(co_await base::wait_bounded<void>(waiter, scheduler_, call));
  }
  if (!*sync->result) co_return *sync->result;
  const auto now = syncs_.find(volume);
  if (now != syncs_.end() && now->second == sync) syncs_.erase(now);
  co_return ok();
}

}  // namespace cove::local
