#include "providers/local/volume/sync_together.hpp"

#include <memory>

#include "base/async/completion.hpp"
#include "providers/local/small_files.hpp"

namespace cove::local {

Task<Result<void>> sync_together(base::BlockingExecutor& executor, Scheduler& scheduler,
                                 std::vector<base::UniqueFd> files) {
  using Ending = base::Completion<Result<void>>;
  std::vector<std::shared_ptr<Ending>> endings;
  endings.reserve(files.size());
  for (const base::UniqueFd& file : files) {
    const auto ending = Ending::make(scheduler);
    // `files` lives in this coroutine's frame, which waits for every one of them below.
    executor.submit([ending, &file] { ending->complete(sync_fd(*file, "a new volume")); });
    endings.push_back(ending);
  }
  Result<void> all = ok();
  for (const auto& ending : endings) {
    Result<void> one = co_await ending->wait();
    if (all && !one) all = std::move(one);
  }
  co_return all;
}

}  // namespace cove::local
