/// One holding of a lease: its renewals in the background, and when it must not be relied on.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "lifecycle/gate.hpp"
#include "lifecycle/leases/lease_store.hpp"
#include "lifecycle/leases/metadata_leases.hpp"

namespace cove::lifecycle {

/// What all leases of one process share.
struct LeaseWorld {
  explicit LeaseWorld(LeaseParts used)
      : parts(std::move(used)), store(parts.store), gates(parts.scheduler) {}

  LeaseParts parts;
  LeaseStore store;
  Gates gates;  // within this process
};

class LeaseHold final : public Lease {
 public:
  /// `sent`: from before the swap that took it. `turn`: this process's place at the gate.
  LeaseHold(std::shared_ptr<LeaseWorld> world, const LeaseDocument& taken, Instant sent,
            std::shared_ptr<Gates::Hold> turn);
  ~LeaseHold() override;
  LeaseHold(const LeaseHold&) = delete;
  LeaseHold& operator=(const LeaseHold&) = delete;

  const std::string& name() const override;
  std::uint64_t token() const override;
  bool held() const override;
  std::stop_token lost() const override;
  Task<Result<void>> renew(const CallContext& call) override;
  Task<Result<void>> release(const CallContext& call) override;

 private:
  struct State;

  std::shared_ptr<State> state_;
};

}  // namespace cove::lifecycle
