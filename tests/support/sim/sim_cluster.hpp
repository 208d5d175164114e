/// Several processes with a LifecycleManager each, on one store, one object store and their nodes.
///
///     SimCluster cluster(seed);
///     SimProcess& a = cluster.start("m1");
///     auto acquired = cluster.finish(a.acquire(key));
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cove/lifecycle.hpp>

#include "base/async/spawn.hpp"
#include "support/sim/sim_snapshotter.hpp"

namespace cove::testing {

/// The result of a task that a process runs; empty until then, for ever where the process died.
template <class T>
using Pending = std::shared_ptr<std::optional<T>>;

class SimCluster;

/// One process: it is gone, with all its parts, when its host crashes.
class SimProcess final : public LifecycleObserver {
 public:
  SimProcess(SimCluster& cluster, SimHost& host, SimNode& node);

  void on_event(const LifecycleEvent& event) override;

  Pending<Result<AcquiredInstance>> acquire(const WorkspaceKey& key, CallContext call = {});
  Pending<Result<void>> stop(const SandboxId& sandbox, StopDrain drain = StopDrain::kRefuse);
  Pending<Result<void>> archive(const SandboxId& sandbox, StopDrain drain = StopDrain::kRefuse);
  Pending<Result<void>> destroy(const SandboxId& sandbox);
  Pending<Result<void>> release(const SandboxId& sandbox);
  Pending<Result<bool>> report_unreachable(const InstanceRef& instance);
  Pending<Result<std::uint32_t>> destroy_source(const std::string& source);
  Pending<Result<void>> revive_source(const std::string& source);
  Pending<Result<SweepReport>> sweep();
  Pending<Result<OrphanReport>> orphans();
  Pending<bool> close();

  SimHost& host() { return host_; }
  SimNode& node() { return node_; }
  LifecycleManager& manager() { return *manager_; }
  const std::vector<LifecycleEvent>& events() const { return events_; }

 private:
  friend class SimCluster;
  template <class T>
  Pending<T> begin(Task<T> task);

  SimCluster& cluster_;
  SimHost& host_;
  SimNode& node_;
  SimStore store_;
  SimProvider provider_;
  SimSnapshotter snapshotter_;
  std::unique_ptr<LifecycleManager> manager_;
  std::vector<LifecycleEvent> events_;
};

class SimCluster {
 public:
  explicit SimCluster(std::uint64_t seed, LifecycleSettings chosen = {});
  ~SimCluster();

  /// Starts a process on a machine and opens its manager.
  SimProcess& start(const std::string& machine = "m1");

  /// Runs the world until the result is there.
  template <class T>
  T finish(const Pending<T>& pending) {
    world.run_until([&] { return pending->has_value(); });
    return std::move(pending->value());
  }

  /// Runs the world until the result is there or its process is dead.
  template <class T>
  bool finish_or_die(const Pending<T>& pending, const SimProcess& process);

  SimNode& node(const std::string& machine);

  /// The files that the sandbox's current volume has.
  SimFiles files_of(const SandboxId& sandbox);

  /// Checks what holds at any moment: one instance at most, nothing in use on a garbage list.
  void check_always();

  SimWorld world;
  LifecycleSettings settings;
  SimStoreState store;
  SimObjects objects;
  std::vector<std::shared_ptr<SimProcess>> processes;

 private:
  std::map<std::string, std::unique_ptr<SimNode>> nodes_;
};

template <class T>
bool SimCluster::finish_or_die(const Pending<T>& pending, const SimProcess& process) {
  world.run_until([&] { return pending->has_value() || !process.host_.alive(); });
  return pending->has_value();
}

inline WorkspaceKey key_of(const std::string& user) { return WorkspaceKey{"app", "demo", user}; }

}  // namespace cove::testing
