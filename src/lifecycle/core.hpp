/// What the lifecycle's parts share: the seams, the settings, and what this process holds.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <cove/lifecycle.hpp>

#include "base/async/completion.hpp"
#include "lifecycle/activity.hpp"
#include "lifecycle/gate.hpp"
#include "lifecycle/leases/metadata_leases.hpp"
#include "lifecycle/metrics.hpp"
#include "lifecycle/quotas/quotas.hpp"
#include "lifecycle/records/record_store.hpp"
#include "lifecycle/rules/transitions.hpp"

namespace cove::lifecycle {

class Core : public std::enable_shared_from_this<Core> {
 public:
  Core(LifecycleParts used, LifecycleSettings chosen);

  LifecycleParts parts;
  LifecycleSettings settings;
  DeploymentId deployment;
  RecordStore records;
  Gates gates;
  Activity activity;
  std::unique_ptr<Leases> leases;
  Quotas quotas;
  mutable Metrics metrics;
  std::stop_source closing;

  /// Makes the parts that need the shared pointer to this. Once, before anything else.
  void start();

  /// A new name for an attempt of this process, whose volume is to be the provider's; empty = the
  /// usual one's. kUnavailable: this process has no such provider.
  Result<Attempt> attempt(StoreTime now, const std::string& provider) const;

  /// The provider that records call so; an empty name is the usual one's. kUnavailable: this
  /// process has no such provider.
  Result<Provider*> provider_of(const std::string& name) const;
  Result<Provider*> provider_of(const Record& record) const;

  /// What the instances of a provider may do. REQUIRES: it is one of this process.
  const SandboxPolicy& policy_of(const Provider& provider) const;

  /// All that this process has, the usual one first.
  std::vector<Provider*> providers() const;

  InstanceRef instance_of(const SandboxId& sandbox, const Generation& generation,
                          Epoch epoch) const;
  InstanceRef instance_of(const Record& record) const;
  SnapshotOwner snapshot_owner(const Record& record) const;

  /// True where this process can reach what a provider has on a node.
  bool reaches(const Location& place) const;

  /// kUnavailable, naming the node, where the record's volume, or the one that its operation makes,
  /// cannot be reached from here; naming the provider, where this process does not have it. An
  /// archived sandbox has no node: it can wake on any.
  Result<void> check_node(const Record& record) const;

  /// True where nobody works on the operation any more: anyone may take it over. Asked by the one
  /// who has the gate, so an operation of this process itself is one that was left behind.
  bool is_free(const Operation& operation, StoreTime now) const;

  /// The record without the activity leases of processes that are certainly dead: nobody is there
  /// to make a call under one.
  Record without_dead_leases(Record record) const;

  /// Whether a caller's call may go on: it has not ended, and this process does not close.
  Result<void> check(const CallContext& call) const;

  /// A call of the lifecycle's own, which no caller cancels: for what must be written down.
  CallContext own_call() const;

  /// Tells the observer and the counters, and the log where it failed.
  void tell(LifecycleEvent event) const;

  /// Gives back the places of a record that no longer runs; where that is not possible now, who
  /// needs one finds them.
  Task<void> give_places_back(Record record);

  void log(LogLevel level, const std::string& message) const;

  /// Something that goes on: close() waits for it.
  class Work {
   public:
    explicit Work(std::shared_ptr<Core> core);
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;
    ~Work();

   private:
    std::shared_ptr<Core> core_;
  };

  /// Runs a task beside its caller, as work of its own.
  void run_beside(Task<void> task);
  Task<void> wait_until_idle(const CallContext& call);

  /// Notes whether a stop lets what runs finish: then this process begins nothing new in it.
  void watch_drain(const Record& record, StoreTime now);

  /// Renews the activity leases from now on, until nothing is in use.
  void keep_renewing();

  /// Notes that this process lets go of a sandbox; with the last one nothing is renewed any more.
  void stop_using(const SandboxId& sandbox);

 private:
  static Task<void> run_as_work(std::unique_ptr<Work> work, Task<void> task);
  static Task<void> renew_leases(std::shared_ptr<Core> core);
  Task<void> renew_lease_of(InstanceRef instance);

  std::size_t at_work_ = 0;
  std::vector<std::shared_ptr<base::Completion<Result<void>>>> idle_waiters_;
  TimerId renew_timer_ = TimerId::kNone;
};

/// What is going on with a sandbox, for people: "archive at claimed by n1/ab12".
std::string describe(const Record& record);

}  // namespace cove::lifecycle
