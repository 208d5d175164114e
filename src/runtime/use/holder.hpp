/// Holder: one handle's hold on a workspace, and its clients' way to the guest.
#pragma once

#include <atomic>
#include <memory>

#include "client/guest_link.hpp"
#include "runtime/use/bring_up.hpp"

namespace cove::runtime {

/// Shared by the copies of a Workspace and its clients; the last one's end lets go.
class Holder final : public client::GuestLink, public std::enable_shared_from_this<Holder> {
 public:
  /// Takes over a share of the seat.
  Holder(std::shared_ptr<Core> core, std::shared_ptr<Seat> seat, Place place);
  ~Holder() override;
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  const Place& place() const noexcept { return place_; }
  const SandboxId& sandbox() const noexcept { return seat_->sandbox; }

  /// What ran when it was last reached. On the scheduler, as the next.
  const InstanceRef& instance() const noexcept { return seat_->instance; }
  const std::shared_ptr<prepare::SkillShelf>& shelf() { return core_->skills(); }

  /// The skills lie there no more as they were placed: the next acquire does that again.
  Task<void> place_skills_again(Guest& guest, const CallContext& call);

  /// See Workspace::release and release_async.
  Result<void> release(const CallContext& call);
  void release_async(const CallContext& call, std::function<void(Result<void>)> done);

  Result<std::unique_ptr<client::CallScope>> begin(const CallContext& call) override;
  void deliver(std::function<void()> work) override { core_->deliver(std::move(work)); }
  Scheduler& scheduler() override { return core_->scheduler(); }
  const Clock& clock() const override { return core_->clock(); }
  bool on_scheduler() const override { return core_->on_scheduler(); }
  void complain(std::string_view what) override { core_->complain(what); }

  Task<Result<std::shared_ptr<Guest>>> guest(const CallContext& call) override;
  std::unique_ptr<client::Lane> lane(const CallContext& call) override;
  const std::map<std::string, std::string>& environment() const override {
    return place_.preparing->steps().env;
  }
  void note_answer() override;
  void note_error(const Error& error) override;

 private:
  class Scope;
  class OwnLane;

  Task<Result<void>> leave(const CallContext& call);

  const std::shared_ptr<Core> core_;
  const std::shared_ptr<Seat> seat_;
  const Place place_;
  std::atomic<bool> released_{false};
  std::atomic<std::uint64_t> pass_{0};  ///< what this holder shows for the seat's pass
};

/// Gives a share of a seat back; the last one ends this process's lease.
Task<Result<void>> leave_seat(std::shared_ptr<Core> core, SandboxId sandbox,
                              const CallContext& call);

}  // namespace cove::runtime
