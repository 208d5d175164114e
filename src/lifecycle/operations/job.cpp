#include "lifecycle/operations/job.hpp"

namespace cove::lifecycle {

void Job::tell(OperationKind kind, Phase phase, bool completed, const std::string& error) const {
  const Record& record = at.record;
  const auto spent = core->parts.clock.now() - began;
  core->tell(LifecycleEvent{record.sandbox_id, record.state, kind, phase, completed, error, reason,
                            std::chrono::duration_cast<std::chrono::milliseconds>(spent)});
}

}  // namespace cove::lifecycle
