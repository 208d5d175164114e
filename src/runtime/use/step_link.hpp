/// StepLink: how a prepare step's own client reaches the guest that is being prepared.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/use/holder.hpp"

namespace cove::runtime {

/// It acquires nothing: the acquire that prepares waits for the step, so the step must not wait for
/// an acquire. After the instance ended its calls fail with kUnavailable. Every call is made under
/// the lease of the preparation, whatever its context says: one that comes late is refused.
class StepLink final : public client::GuestLink {
 public:
  StepLink(std::shared_ptr<Holder> holder, std::shared_ptr<Guest> guest, std::uint64_t fence)
      : holder_(std::move(holder)), guest_(std::move(guest)), fence_(fence) {}

  Result<std::unique_ptr<client::CallScope>> begin(const CallContext& call) override {
    CallContext fenced = call;
    fenced.fence = fence_;
    return holder_->begin(fenced);
  }
  void deliver(std::function<void()> work) override { holder_->deliver(std::move(work)); }
  Scheduler& scheduler() override { return holder_->scheduler(); }
  const Clock& clock() const override { return holder_->clock(); }
  bool on_scheduler() const override { return holder_->on_scheduler(); }
  void complain(std::string_view what) override { holder_->complain(what); }
  const std::map<std::string, std::string>& environment() const override {
    return holder_->environment();
  }

  Task<Result<std::shared_ptr<Guest>>> guest(const CallContext& call) override {
    COVE_CO_TRY_VOID(call.check(clock()));
    co_return guest_;
  }
  void note_answer() override { holder_->note_answer(); }
  void note_error(const Error& error) override { holder_->note_error(error); }

 private:
  const std::shared_ptr<Holder> holder_;
  const std::shared_ptr<Guest> guest_;
  const std::uint64_t fence_;
};

}  // namespace cove::runtime
