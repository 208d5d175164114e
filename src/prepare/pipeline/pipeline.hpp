/// Pipeline: prepares sandboxes, each instance once for the same inputs.
///
/// A warm acquire costs nothing where this process prepared the instance with the same inputs, one
/// round trip where the state file says that all is done. Else one at a time prepares a sandbox:
/// of this process by Turns, of several by the gate's lease. The lease is held while steps run,
/// never while anybody waits for a failed step's next try: that is a time in the state file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "prepare/pipeline/gate.hpp"
#include "prepare/pipeline/memory.hpp"
#include "prepare/pipeline/preparation.hpp"
#include "prepare/pipeline/turns.hpp"

namespace cove::prepare {

/// One acquire's instance. The guest is borrowed and outlives the task.
struct Place {
  /// Makes the handle that steps see: every call of it is made under `fence`, the token of the
  /// lease. Asked only where a step runs; null where there are no handles.
  using MakeHandle = std::function<std::shared_ptr<const Workspace>(std::uint64_t fence)>;

  InstanceRef instance;
  Guest& guest;
  MakeHandle make_handle;
};

/// On the scheduler only.
class Pipeline {
 public:
  /// All are borrowed and outlive it.
  Pipeline(Scheduler& scheduler, const Clock& clock, PrepareGate& gate)
      : scheduler_(scheduler), clock_(clock), gate_(gate), turns_(scheduler) {}

  /// True where `prepare` would ask nobody.
  bool remembers(const InstanceRef& instance, const Preparation& preparation);

  /// Prepares; `report` says how far it came, also after an error. Errors: that of a required step
  /// that failed, with the context `step` and `output`; kUnavailable - the guest is gone; kTimeout;
  /// kCancelled.
  Task<Result<void>> prepare(Place place, const Preparation& preparation, PrepareReport& report,
                             const CallContext& call);

  /// What these steps did is not there any more: whoever prepares the sandbox next, in whatever
  /// process, does it again. Errors: kUnavailable - the guest is gone; kTimeout; kCancelled.
  Task<Result<void>> mark_undone(Place place, std::vector<std::string> steps,
                                 const CallContext& call);

 private:
  class Run;

  Scheduler& scheduler_;
  const Clock& clock_;
  PrepareGate& gate_;
  Turns turns_;
  Memory memory_;
  std::uint64_t refusals_ = 0;
};

}  // namespace cove::prepare
