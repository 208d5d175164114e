/// FakeProvider: instances in memory, each with a FakeGuest, and faults that a test sets.
///
/// Its tasks never suspend. Used on Cove's scheduler; a test looks at `log` while nothing runs.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <cove/provider.hpp>

#include "support/fakes/fake_guest.hpp"

namespace cove::testing {

class FakeProvider final : public Provider {
 public:
  /// `scheduler` is only used by commands that hang.
  explicit FakeProvider(Scheduler& scheduler) : scheduler_(scheduler) {}

  std::string_view name() const override { return "fake"; }
  NodeId node() const override { return NodeId("here"); }
  ProviderCapabilities capabilities() const override { return {}; }

  Task<Result<void>> create_volume(const VolumeRef& volume, const CallContext& call) override;
  Task<Result<void>> delete_volume(const VolumeRef& volume, const CallContext& call) override;
  Task<Result<std::unique_ptr<OfflineVolume>>> open_volume(const VolumeRef& volume,
                                                           VolumeAccess access,
                                                           const CallContext& call) override;
  Task<Result<void>> start_instance(const InstanceRef& instance, const SandboxPolicy& policy,
                                    const CallContext& call) override;
  Task<Result<void>> stop_instance(const InstanceRef& instance, const CallContext& call) override;
  Task<Result<InstanceStatus>> inspect(const InstanceRef& instance,
                                       const CallContext& call) override;
  Task<Result<std::shared_ptr<Guest>>> connect(const InstanceRef& instance,
                                               const CallContext& call) override;
  Task<Result<ProviderInventory>> list(const DeploymentId& deployment,
                                       const CallContext& call) override;

  /// Ends every instance, as kill -9 of all agents would.
  void kill_all();

  /// Takes every volume away, as a disk that is gone does.
  void lose_volumes();

  /// While true nothing can be connected to, though instances run.
  void set_unreachable(bool unreachable);

  /// Thrown by the next connect.
  void throw_once();

  std::size_t starts() const;
  std::size_t running() const;

  /// What all guests were asked, in order.
  std::vector<std::string> guest_calls() const;

  /// The guest of the only instance that runs.
  std::shared_ptr<FakeGuest> only_guest() const;

 private:
  Scheduler& scheduler_;
  mutable std::mutex mutex_;
  std::set<VolumeRef> volumes_;
  std::map<InstanceRef, std::shared_ptr<FakeGuest>> running_;
  std::vector<std::shared_ptr<FakeGuest>> all_;
  bool unreachable_ = false;
  bool throws_ = false;
};

}  // namespace cove::testing
