#include "lifecycle/requests/recover.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cove::lifecycle {
namespace {

constexpr std::size_t kMaxProblems = 1000;

/// What this node has of one sandbox.
struct OnNode {
  struct Volume {
    Location place;
    Generation generation;
  };
  std::vector<Volume> volumes;
  Epoch epoch{};
};

/// What the object store has of one sandbox, but for lives that a tombstone knows.
struct InStore {
  SandboxId sandbox;
  std::set<Incarnation> buried;
  std::set<Incarnation> lives;
  std::optional<FoundSnapshot> newest;  // whether it is whole or not
  std::optional<FoundSnapshot> whole;   // the newest of those that are
  std::string unreadable;               // a manifest: nobody knows how new it is
  bool has_buried = false;
};

bool is_newer(const FoundSnapshot& found, const std::optional<FoundSnapshot>& than) {
  return !than || found.owner.saved_at >= than->owner.saved_at;
}

/// Takes a snapshot in; a manifest that cannot be read says only where it lies.
void take(InStore& all, FoundSnapshot found) {
  if (all.buried.contains(found.owner.incarnation)) {
    all.has_buried = true;
    return;
  }
  if (found.owner.key == WorkspaceKey{}) {
    all.unreadable = found.problem;
    return;
  }
  all.lives.insert(found.owner.incarnation);
  if (found.problem.empty() && is_newer(found, all.whole)) all.whole = found;
  if (is_newer(found, all.newest)) all.newest = std::move(found);
}

/// Why the newest snapshot that is whole may not be the newest of all; empty = it is.
std::string doubt_of(const InStore& all) {
  const std::string& problem = all.newest->problem;
  return problem.empty() ? all.unreadable : problem;
}

/// Greater than that of any start before: nobody starts a sandbox once a second for ever.
Epoch epoch_after(Epoch known, StoreTime now) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
  return std::max(next(known), static_cast<Epoch>(seconds));
}

class Recovery {
 public:
  explicit Recovery(std::shared_ptr<Core> core) : core_(std::move(core)) {}

  Task<Result<RecoverReport>> run(DeploymentId wanted, const CallContext& call) {
    COVE_CO_TRY(report_.deployment, co_await choose(std::move(wanted), call));
    COVE_CO_TRY_VOID(co_await adopt(call));
    COVE_CO_TRY_VOID(co_await look_at_node(call));
    COVE_CO_TRY_VOID(co_await read_snapshots(call));
    for (const auto& [sandbox, here] : on_node_) {
      note("sandbox " + sandbox.str() + " has a volume on this node and no snapshot that says " +
           "whose it is; it was kept");
    }
    co_return report_;
  }

 private:
  Task<Result<DeploymentId>> choose(DeploymentId wanted, const CallContext& call) {
    if (!wanted.empty()) co_return wanted;
    COVE_CO_TRY(const auto found, co_await core_->parts.snapshotter.deployments(call));
    if (found.size() == 1) co_return found[0];
    if (found.empty()) {
      co_return Error(ErrorCode::kNotFound, "the object store has no snapshots to recover from");
    }
    std::string names;
    for (const DeploymentId& one : found) names += (names.empty() ? "" : ", ") + one.str();
    co_return Error(ErrorCode::kInvalidArgument,
                    "the object store has snapshots of several deployments; name one: " + names);
  }

  /// A store that was just made takes the deployment's name; one with records of another keeps its
  /// own.
  Task<Result<void>> adopt(const CallContext& call) {
    if (core_->deployment == report_.deployment) co_return ok();
    for (const DocumentKind kind : {DocumentKind::kSandbox, DocumentKind::kTombstone}) {
      DocumentQuery query;
      query.kind = kind;
      query.limit = 1;
      COVE_CO_TRY(const auto page, co_await core_->records.query(query, call));
      if (page.documents.empty()) continue;
      co_return Error(ErrorCode::kFailedPrecondition,
                      "the metadata store has records of deployment '" + core_->deployment.str() +
                          "'; recover '" + report_.deployment.str() + "' into an empty store");
    }
    COVE_CO_TRY_VOID(co_await core_->records.adopt(report_.deployment, call));
    core_->deployment = report_.deployment;
    co_return ok();
  }

  Task<Result<void>> look_at_node(const CallContext& call) {
    for (Provider* const provider : core_->providers()) {
      COVE_CO_TRY(const auto inventory, co_await provider->list(report_.deployment, call));
      const Location place{std::string(provider->name()), provider->node()};
      for (const VolumeRef& volume : inventory.volumes) {
        on_node_[volume.sandbox].volumes.push_back({place, volume.generation});
      }
      for (const InstanceRef& instance : inventory.instances) {
        OnNode& here = on_node_[instance.volume.sandbox];
        here.epoch = std::max(here.epoch, instance.epoch);
      }
    }
    co_return ok();
  }

  /// Snapshots come by sandbox: of each the newest whole one counts.
  Task<Result<void>> read_snapshots(const CallContext& call) {
    InStore all;
    std::string after;
    do {
      COVE_CO_TRY(auto page,
                  co_await core_->parts.snapshotter.find(report_.deployment, after, call));
      for (FoundSnapshot& found : page.found) {
        if (found.owner.key == WorkspaceKey{}) note(found.problem);
        if (found.owner.sandbox.empty()) continue;
        if (found.owner.sandbox != all.sandbox) {
          InStore done = std::exchange(all, InStore());
          COVE_CO_TRY_VOID(co_await make_record(std::move(done), call));
          COVE_CO_TRY(all, co_await begin(found.owner.sandbox, call));
        }
        take(all, std::move(found));
      }
      after = page.next;
    } while (!after.empty());
    co_return co_await make_record(std::move(all), call);
  }

  Task<Result<InStore>> begin(SandboxId sandbox, const CallContext& call) {
    InStore all;
    COVE_CO_TRY(const auto tombstone, co_await core_->records.tombstone(sandbox, call));
    if (tombstone) {
      for (const Grave& grave : tombstone->tombstone.graves) all.buried.insert(grave.incarnation);
    }
    all.sandbox = std::move(sandbox);
    co_return all;
  }

  Task<Result<void>> make_record(InStore all, const CallContext& call) {
    COVE_CO_TRY_VOID(core_->check(call));
    if (!all.newest) {
      // What is on the node of a destroyed one is in its tombstone.
      if (all.has_buried) {
        ++report_.destroyed;
        on_node_.erase(all.sandbox);
      }
      co_return ok();
    }
    COVE_CO_TRY(const StoreTime now, co_await core_->records.now(call));
    const auto here = on_node_.extract(all.sandbox);
    if (all.lives.size() > 1) {
      note("sandbox " + all.sandbox.str() + " has snapshots of " +
           std::to_string(all.lives.size()) + " lives; those of the others were kept");
    }
    if (here.empty()) co_return co_await insert_archived(std::move(all), now, call);
    if (here.mapped().volumes.size() > 1) {
      note("sandbox " + all.sandbox.str() + " has several volumes on this node; none was chosen");
      co_return ok();
    }
    // Its own volume is newer than any snapshot: then that of the snapshot need not be whole.
    if (!here.mapped().volumes.empty()) {
      Record record = record_of(*all.newest, now);
      record.epoch = epoch_after(here.mapped().epoch, now);
      use_volume(record, here.mapped().volumes.front());
      co_return co_await insert(std::move(record), call);
    }
    co_return co_await insert_archived(std::move(all), now, call);
  }

  Task<Result<void>> insert_archived(InStore all, StoreTime now, const CallContext& call) {
    const std::string doubt = doubt_of(all);
    const std::string name = "sandbox " + all.sandbox.str();
    if (!all.whole) {
      note(name + " has no snapshot that is whole; its newest is damaged: " + doubt);
      co_return ok();
    }
    Record record = record_of(*all.whole, now);
    if (!doubt.empty()) {
      record.needs_attention = "recovered from an older snapshot, " + all.whole->attempt.str() +
                               (all.whole->owner.incarnation == all.newest->owner.incarnation
                                    ? std::string()
                                    : std::string(" of an earlier life")) +
                               ": what may be its newest is damaged: " + doubt;
      note(name + ": " + record.needs_attention);
    }
    co_return co_await insert(std::move(record), call);
  }

  Record record_of(const FoundSnapshot& newest, StoreTime now) const {
    Record record;
    record.sandbox_id = newest.owner.sandbox;
    record.key = newest.owner.key;
    record.state = SandboxState::kArchived;
    record.provider = core_->parts.provider.name();
    record.incarnation = newest.owner.incarnation;
    record.epoch = epoch_after(Epoch{}, now);
    record.snapshot = newest.snapshot;
    record.created_at = newest.owner.saved_at == StoreTime{} ? now : newest.owner.saved_at;
    record.last_active_at = now;
    return record;
  }

  static void use_volume(Record& record, const OnNode::Volume& volume) {
    record.state = SandboxState::kStopped;
    record.provider = volume.place.provider;
    record.node = volume.place.node;
    record.generation = volume.generation;
    record.needs_attention = "recovered on its volume " + record.generation.str() +
                             ", which may be older than its newest snapshot where it was garbage";
  }

  Task<Result<void>> insert(Record record, const CallContext& call) {
    const auto inserted = co_await core_->records.insert(record, call);
    if (!inserted && inserted.error().code() == ErrorCode::kAlreadyExists) {
      ++report_.kept;
      co_return ok();
    }
    if (!inserted) co_return inserted.error();
    ++(record.state == SandboxState::kStopped ? report_.stopped : report_.archived);
    co_return ok();
  }

  void note(std::string problem) {
    if (report_.problems.size() < kMaxProblems) report_.problems.push_back(std::move(problem));
  }

  std::shared_ptr<Core> core_;
  RecoverReport report_;
  std::map<SandboxId, OnNode> on_node_;  // of which nothing was found yet
};

}  // namespace

Task<Result<RecoverReport>> recover(std::shared_ptr<Core> core, DeploymentId deployment,
                                    const CallContext& call) {
  Recovery recovery(std::move(core));
  co_return co_await recovery.run(std::move(deployment), call);
}

}  // namespace cove::lifecycle
