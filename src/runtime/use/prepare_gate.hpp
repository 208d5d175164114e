/// StoreGate: the prepare lease in the metadata store, and the store's time.
#pragma once

#include "prepare/pipeline/gate.hpp"
#include "runtime/assembly/machinery.hpp"

namespace cove::runtime {

/// On the scheduler only. `machinery` outlives it and every lease.
class StoreGate final : public prepare::PrepareGate {
 public:
  explicit StoreGate(Machinery& machinery) : machinery_(machinery) {}

  Task<Result<std::unique_ptr<Lease>>> enter(const SandboxId& sandbox,
                                             const CallContext& call) override {
    const std::string name = "prepare:" + sandbox.str();  // outlives the lazy task
    co_return co_await machinery_.lifecycle->leases().acquire(name, call);
  }
  Task<Result<StoreTime>> now(const CallContext& call) override {
    return machinery_.metadata->now(call);
  }
  void complain(std::string_view what) override;

 private:
  Machinery& machinery_;
};

}  // namespace cove::runtime
