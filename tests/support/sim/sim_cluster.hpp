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

/// What a manager works with: the simulated parts, or something that stands before them.
struct SimSeams {
  SimHost& host;
  SimNode& node;
  SimStoreState& state;
  SimObjects& objects;
  MetadataStore* store;
  Provider* provider;
  Provider* second;  ///< a second provider of the same machine, "sim2"
  Snapshotter* snapshotter;
  std::shared_ptr<void> owner;  ///< of what was put before
};

/// One process: it is gone, with all its parts, when its host crashes.
class SimProcess final : public LifecycleObserver {
 public:
  SimProcess(SimCluster& cluster, SimHost& host, SimNode& node);

  void on_event(const LifecycleEvent& event) override;

  Pending<Result<AcquiredInstance>> acquire(const WorkspaceKey& key, CallContext call = {});
  Pending<Result<void>> stop(const SandboxId& sandbox, StopDrain drain = StopDrain::kRefuse);
  Pending<Result<void>> archive(const SandboxId& sandbox, StopDrain drain = StopDrain::kRefuse);
  Pending<Result<void>> destroy(const SandboxId& sandbox);
  Pending<Result<void>> relocate(const SandboxId& sandbox, const std::string& provider,
                                 StopDrain drain = StopDrain::kRefuse);
  Pending<Result<void>> release(const SandboxId& sandbox);
  Pending<Result<bool>> report_unreachable(const InstanceRef& instance);
  Pending<Result<std::uint32_t>> destroy_source(const std::string& source);
  Pending<Result<void>> revive_source(const std::string& source);
  Pending<Result<SweepReport>> sweep();
  Pending<Result<OrphanReport>> orphans();
  Pending<bool> close();

  /// Runs a task on the host.
  void run(Task<void> task) { base::spawn(host_, std::move(task)); }

  SimHost& host() { return host_; }
  SimNode& node() { return node_; }
  Provider& provider() { return *seams_.provider; }

  /// True once its manager is there, and while it lives.
  bool is_open() const { return manager_ != nullptr && host_.alive(); }
  /// True where its manager could not be opened.
  bool has_failed() const { return failed_; }
  LifecycleManager& manager() { return *manager_; }
  const std::vector<LifecycleEvent>& events() const { return events_; }

 private:
  friend class SimCluster;
  template <class T>
  Pending<T> begin(Task<T> task);
  void begin_open();
  static Task<void> open(SimProcess* process);

  SimCluster& cluster_;
  SimHost& host_;
  SimNode& node_;
  SimStore store_;
  SimProvider provider_;
  SimProvider second_;
  SimSnapshotter snapshotter_;
  SimSeams seams_;
  std::unique_ptr<LifecycleManager> manager_;
  bool failed_ = false;
  std::vector<LifecycleEvent> events_;
};

class SimCluster {
 public:
  explicit SimCluster(std::uint64_t seed, LifecycleSettings chosen = {});
  ~SimCluster();

  /// Starts a process on a machine and opens its manager.
  SimProcess& start(const std::string& machine = "m1");

  /// Starts a process; its manager opens while the world goes on.
  SimProcess& begin_start(const std::string& machine);

  /// Lets every process die, and their parts stay as they are.
  void abandon();

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

  /// The part of it about what runs.
  void check_instances();

  /// Called for each machine's node.
  void each_node(const std::function<void(SimNode&)>& visit);

  SimWorld world;
  LifecycleSettings settings;
  /// The processes that start from now on have "sim2" too.
  bool has_second = false;
  /// Puts something before the parts of the processes that start from now on.
  std::function<void(SimSeams&)> decorate;
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
