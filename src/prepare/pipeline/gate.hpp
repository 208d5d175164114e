/// PrepareGate: what the pipeline needs beyond its process. The runtime implements it.
#pragma once

#include <memory>
#include <string_view>

#include <cove/call_context.hpp>
#include <cove/ids.hpp>
#include <cove/lease.hpp>
#include <cove/task.hpp>

namespace cove::prepare {

class PrepareGate {
 public:
  virtual ~PrepareGate() = default;

  /// Takes the sandbox's prepare lease against other processes, and waits for it in its order.
  /// Errors: as Leases::acquire.
  virtual Task<Result<std::unique_ptr<Lease>>> enter(const SandboxId& sandbox,
                                                     const CallContext& call) = 0;

  /// The store's time, by which the state file says when a failed step is tried again.
  virtual Task<Result<StoreTime>> now(const CallContext& call) = 0;

  /// Tells the host's log that a best-effort step failed. Without secrets.
  virtual void complain(std::string_view what) = 0;
};

}  // namespace cove::prepare
