/// FakePrepareGate: the prepare lease of some processes in one test, and the store's time.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "prepare/pipeline/gate.hpp"

namespace cove::testing {

/// One process at a time has the lease; it never waits, so a test sees where two would have met.
class FakePrepareGate final : public prepare::PrepareGate {
 public:
  explicit FakePrepareGate(const Clock& clock) : clock_(clock) {}

  int entered = 0;
  int held = 0;
  std::stop_source lost;     ///< takes every lease away
  std::uint64_t leases = 0;  ///< were given, each with the next token
  std::vector<std::string> complaints;

  Task<Result<std::unique_ptr<Lease>>> enter(const SandboxId& sandbox,
                                             const CallContext& /*call*/) override {
    ++entered;
    co_return std::unique_ptr<Lease>(std::make_unique<FakeLease>(*this, sandbox.str()));
  }
  Task<Result<StoreTime>> now(const CallContext& /*call*/) override { co_return store_time(); }
  void complain(std::string_view what) override { complaints.emplace_back(what); }

  StoreTime store_time() const {
    return StoreTime(
        std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now().time_since_epoch()));
  }

 private:
  class FakeLease final : public Lease {
   public:
    FakeLease(FakePrepareGate& gate, std::string name)
        : gate_(gate), name_(std::move(name)), token_(++gate.leases) {
      ++gate_.held;
    }
    ~FakeLease() override { --gate_.held; }
    const std::string& name() const override { return name_; }
    std::uint64_t token() const override { return token_; }
    bool held() const override { return !gate_.lost.stop_requested(); }
    std::stop_token lost() const override { return gate_.lost.get_token(); }
    Task<Result<void>> renew(const CallContext& /*call*/) override { co_return ok(); }
    Task<Result<void>> release(const CallContext& /*call*/) override { co_return ok(); }

   private:
    FakePrepareGate& gate_;
    const std::string name_;
    const std::uint64_t token_;
  };

  const Clock& clock_;
};

}  // namespace cove::testing
