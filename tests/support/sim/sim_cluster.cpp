#include "support/sim/sim_cluster.hpp"

#include <utility>

#include "lifecycle/rules/transitions.hpp"

namespace cove::testing {
namespace {

template <class T>
Task<void> keep_result(Task<T> task, Pending<T> pending) {
  pending->emplace(co_await task);
}

// Each has its own copies of what the manager takes by reference.
Task<Result<AcquiredInstance>> run_acquire(LifecycleManager& manager, WorkspaceKey key,
                                           CallContext call) {
  const SandboxId own;
  co_return co_await manager.acquire(key, own, call);
}
Task<Result<void>> run_stop(LifecycleManager& manager, SandboxId sandbox, StopDrain drain) {
  const CallContext call;
  co_return co_await manager.stop(sandbox, drain, call);
}
Task<Result<void>> run_archive(LifecycleManager& manager, SandboxId sandbox, StopDrain drain) {
  const CallContext call;
  co_return co_await manager.archive(sandbox, drain, call);
}
Task<Result<void>> run_destroy(LifecycleManager& manager, SandboxId sandbox) {
  const CallContext call;
  co_return co_await manager.destroy(sandbox, call);
}
Task<Result<void>> run_relocate(LifecycleManager& manager, SandboxId sandbox,
                                RelocateOptions options) {
  const CallContext call;
  co_return co_await manager.relocate(sandbox, options, call);
}
Task<Result<void>> run_release(LifecycleManager& manager, SandboxId sandbox) {
  const CallContext call;
  co_return co_await manager.release(sandbox, call);
}
Task<Result<bool>> run_report(LifecycleManager& manager, InstanceRef instance) {
  const CallContext call;
  co_return co_await manager.report_unreachable(instance, call);
}
Task<Result<std::uint32_t>> run_destroy_source(LifecycleManager& manager, std::string source) {
  const CallContext call;
  co_return co_await manager.destroy_source(source, call);
}
Task<Result<void>> run_revive_source(LifecycleManager& manager, std::string source) {
  const CallContext call;
  co_return co_await manager.revive_source(source, call);
}
Task<Result<SweepReport>> run_sweep(LifecycleManager& manager) {
  const CallContext call;
  co_return co_await manager.sweep(call);
}
Task<Result<OrphanReport>> run_orphans(LifecycleManager& manager) {
  const CallContext call;
  co_return co_await manager.orphans(call);
}
Task<bool> run_close(LifecycleManager& manager) {
  const CallContext call;
  co_await manager.close(call);
  co_return true;
}

}  // namespace

SimProcess::SimProcess(SimCluster& cluster, SimHost& host, SimNode& node)
    : cluster_(cluster),
      host_(host),
      node_(node),
      store_(host, cluster.store),
      provider_(host, node),
      second_(host, node, "sim2"),
      snapshotter_(host, cluster.store, cluster.objects),
      seams_{host,       node,     cluster.store, cluster.objects, &store_,
             &provider_, &second_, &snapshotter_, nullptr} {
  if (cluster.decorate) cluster.decorate(seams_);
}

Task<void> SimProcess::open(SimProcess* process) {
  SimHost& host = process->host_;
  const SimSeams& seams = process->seams_;
  LifecycleParts parts{
      *seams.store, *seams.provider, *seams.snapshotter, host, host, host, host, {},
      process,      nullptr};
  if (process->cluster_.has_second) parts.others.push_back(NamedProvider{*seams.second});
  const CallContext call;
  auto opened = co_await LifecycleManager::open(std::move(parts), process->cluster_.settings, call);
  process->failed_ = !opened;
  if (opened) process->manager_ = *std::move(opened);
}

void SimProcess::begin_open() { base::spawn(host_, open(this)); }

void SimProcess::on_event(const LifecycleEvent& event) { events_.push_back(event); }

template <class T>
Pending<T> SimProcess::begin(Task<T> task) {
  auto pending = std::make_shared<std::optional<T>>();
  base::spawn(host_, keep_result(std::move(task), pending));
  return pending;
}

Pending<Result<AcquiredInstance>> SimProcess::acquire(const WorkspaceKey& key, CallContext call) {
  return begin(run_acquire(*manager_, key, std::move(call)));
}
Pending<Result<void>> SimProcess::stop(const SandboxId& sandbox, StopDrain drain) {
  return begin(run_stop(*manager_, sandbox, drain));
}
Pending<Result<void>> SimProcess::archive(const SandboxId& sandbox, StopDrain drain) {
  return begin(run_archive(*manager_, sandbox, drain));
}
Pending<Result<void>> SimProcess::destroy(const SandboxId& sandbox) {
  return begin(run_destroy(*manager_, sandbox));
}
Pending<Result<void>> SimProcess::relocate(const SandboxId& sandbox, const std::string& provider,
                                           StopDrain drain) {
  RelocateOptions options{provider, drain};
  return begin(run_relocate(*manager_, sandbox, std::move(options)));
}
Pending<Result<void>> SimProcess::release(const SandboxId& sandbox) {
  return begin(run_release(*manager_, sandbox));
}
Pending<Result<bool>> SimProcess::report_unreachable(const InstanceRef& instance) {
  return begin(run_report(*manager_, instance));
}
Pending<Result<std::uint32_t>> SimProcess::destroy_source(const std::string& source) {
  return begin(run_destroy_source(*manager_, source));
}
Pending<Result<void>> SimProcess::revive_source(const std::string& source) {
  return begin(run_revive_source(*manager_, source));
}
Pending<Result<SweepReport>> SimProcess::sweep() { return begin(run_sweep(*manager_)); }
Pending<Result<OrphanReport>> SimProcess::orphans() { return begin(run_orphans(*manager_)); }
Pending<bool> SimProcess::close() { return begin(run_close(*manager_)); }

SimCluster::SimCluster(std::uint64_t seed, LifecycleSettings chosen)
    : world(seed), settings(chosen), store(world) {}

SimCluster::~SimCluster() {
  // Those that live end as hosts do; those that died are kept for their coroutines.
  for (const auto& process : processes) {
    if (process->host_.alive() && process->manager_) {
      const auto closed = process->close();
      finish_or_die(closed, *process);
    }
    if (!process->host_.alive()) bury(process);
  }
}

SimProcess& SimCluster::begin_start(const std::string& machine) {
  SimHost& host = world.add_host(machine);
  processes.push_back(std::make_shared<SimProcess>(*this, host, node(machine)));
  processes.back()->begin_open();
  return *processes.back();
}

SimProcess& SimCluster::start(const std::string& machine) {
  SimProcess& process = begin_start(machine);
  world.run_until([&] { return process.is_open() || process.has_failed(); });
  return process;
}

void SimCluster::abandon() {
  for (const auto& process : processes) process->host_.crash();
}

void SimCluster::each_node(const std::function<void(SimNode&)>& visit) {
  for (auto& [machine, node] : nodes_) visit(*node);
}

SimNode& SimCluster::node(const std::string& machine) {
  auto& node = nodes_[machine];
  if (!node) node = std::make_unique<SimNode>(world, store, machine);
  return *node;
}

SimFiles SimCluster::files_of(const SandboxId& sandbox) {
  const auto record = store.record(sandbox);
  if (!record) return {};
  for (auto& [machine, node] : nodes_) {
    for (const auto& [volume, state] : node->volumes) {
      if (volume.sandbox == sandbox && volume.generation == record->generation) return state.files;
    }
  }
  return {};
}

void SimCluster::check_instances() {
  std::map<SandboxId, int> current;
  for (auto& [machine, node] : nodes_) {
    // Of one provider: what the metadata store forgot at another is an orphan, and left alone.
    std::map<std::pair<SandboxId, std::string>, int> running;
    for (const auto& [instance, state] : node->instances) {
      const SandboxId& sandbox = instance.volume.sandbox;
      const auto volume = node->volumes.find(instance.volume);
      const std::string provider =
          volume == node->volumes.end() ? std::string() : volume->second.provider;
      if (++running[{sandbox, provider}] > 1) {
        world.violation("two instances of " + sandbox.str() + " run");
      }
      // What a late hand started on a volume that is garbage was never handed out.
      const Record* record = store.find(sandbox);
      const bool named =
          record != nullptr && lifecycle::names_volume(*record, instance.volume.generation);
      if (named && ++current[sandbox] > 1) {
        world.violation("two instances of " + sandbox.str() + " are current");
      }
    }
  }
}

void SimCluster::check_always() {
  check_instances();
  for (const Record& record : store.records()) {
    for (const Garbage& garbage : record.garbage) {
      const Record without = lifecycle::remove_garbage(record, garbage);
      if (!lifecycle::add_garbage(without, garbage)) {
        world.violation("garbage of " + record.sandbox_id.str() + " is in use");
      }
    }
    const bool stable = record.operation || record.state != SandboxState::kAbsent;
    if (!stable) world.violation(record.sandbox_id.str() + " is absent without an operation");
  }
}

}  // namespace cove::testing
