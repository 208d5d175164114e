#include "lifecycle/requests/recover.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace cove::lifecycle {
namespace {

constexpr std::size_t kMaxProblems = 1000;

/// What this node has of one sandbox.
struct OnNode {
  std::vector<Generation> volumes;
  Epoch epoch{};
};

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
    COVE_CO_TRY(const auto inventory,
                co_await core_->parts.provider.list(report_.deployment, call));
    for (const VolumeRef& volume : inventory.volumes) {
      on_node_[volume.sandbox].volumes.push_back(volume.generation);
    }
    for (const InstanceRef& instance : inventory.instances) {
      OnNode& here = on_node_[instance.volume.sandbox];
      here.epoch = std::max(here.epoch, instance.epoch);
    }
    co_return ok();
  }

  /// Snapshots come by sandbox: of each the newest counts.
  Task<Result<void>> read_snapshots(const CallContext& call) {
    std::optional<FoundSnapshot> newest;
    std::string after;
    do {
      COVE_CO_TRY(auto page,
                  co_await core_->parts.snapshotter.find(report_.deployment, after, call));
      for (FoundSnapshot& found : page.found) {
        if (found.owner.sandbox.empty()) {
          note(found.problem);
          continue;
        }
        const bool same = newest && newest->owner.sandbox == found.owner.sandbox;
        if (newest && !same) COVE_CO_TRY_VOID(co_await make_record(*std::move(newest), call));
        const bool older = same && found.owner.saved_at < newest->owner.saved_at;
        if (!older) newest = std::move(found);
      }
      after = page.next;
    } while (!after.empty());
    if (newest) COVE_CO_TRY_VOID(co_await make_record(*std::move(newest), call));
    co_return ok();
  }

  Task<Result<void>> make_record(FoundSnapshot newest, const CallContext& call) {
    COVE_CO_TRY_VOID(core_->check(call));
    const SandboxId sandbox = newest.owner.sandbox;
    auto here = on_node_.extract(sandbox);
    COVE_CO_TRY(const bool destroyed, co_await is_destroyed(newest.owner, call));
    if (destroyed) {
      ++report_.destroyed;
      co_return ok();
    }
    COVE_CO_TRY(const StoreTime now, co_await core_->records.now(call));
    Record record = record_of(newest, now);
    if (!here.empty()) {
      record.epoch = epoch_after(here.mapped().epoch, now);
      if (here.mapped().volumes.size() > 1) {
        note("sandbox " + sandbox.str() + " has several volumes on this node; none was chosen");
        co_return ok();
      }
      use_volume(record, here.mapped());
    }
    // Its own volume is newer than any snapshot: then that of the snapshot need not be whole.
    if (record.state == SandboxState::kArchived && !newest.problem.empty()) {
      note("sandbox " + sandbox.str() + ": its newest snapshot is damaged: " + newest.problem);
      co_return ok();
    }
    co_return co_await insert(record, call);
  }

  Task<Result<bool>> is_destroyed(SnapshotOwner owner, const CallContext& call) {
    COVE_CO_TRY(const auto tombstone, co_await core_->records.tombstone(owner.sandbox, call));
    if (!tombstone) co_return false;
    const auto& graves = tombstone->tombstone.graves;
    co_return std::any_of(graves.begin(), graves.end(), [&](const Grave& grave) {
      return grave.incarnation == owner.incarnation;
    });
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

  void use_volume(Record& record, const OnNode& here) const {
    if (here.volumes.empty()) return;
    record.state = SandboxState::kStopped;
    record.node = core_->parts.provider.node();
    record.generation = here.volumes.front();
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
