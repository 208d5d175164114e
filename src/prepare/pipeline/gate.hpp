/// PrepareGate: what the pipeline needs beyond its process. The runtime implements it.
#pragma once

#include <memory>

#include <cove/call_context.hpp>
#include <cove/provider.hpp>
#include <cove/task.hpp>

namespace cove::prepare {

/// The prepare lease of one sandbox; its end gives the lease back, without waiting.
class PrepareLease {
 public:
  virtual ~PrepareLease() = default;

  /// kConflict: it is somebody else's by now; nothing more may be done under it.
  virtual Result<void> check() const = 0;
};

class PrepareGate {
 public:
  virtual ~PrepareGate() = default;

  /// Takes the sandbox's prepare lease against other processes, and waits for it in its order.
  /// Errors: kUnavailable; kTimeout; kCancelled.
  virtual Task<Result<std::unique_ptr<PrepareLease>>> enter(const InstanceRef& instance,
                                                            const CallContext& call) = 0;

  /// The store's time, by which the state file says when a failed step is tried again.
  virtual Task<Result<StoreTime>> now(const CallContext& call) = 0;

  /// Tells the host's log that a best-effort step failed. Without secrets.
  virtual void complain(std::string_view what) = 0;
};

}  // namespace cove::prepare
