#include "lifecycle/core.hpp"

#include <algorithm>
#include <utility>

#include "base/async/spawn.hpp"
#include "base/system/system_clock.hpp"

namespace cove::lifecycle {

using namespace std::chrono_literals;

Core::Core(LifecycleParts used, LifecycleSettings chosen)
    : parts(std::move(used)),
      settings(chosen),
      records(parts.store, parts.scheduler, parts.clock),
      gates(parts.scheduler),
      quotas(parts.store, records, parts.scheduler, parts.clock, settings.running) {}

void Core::start() {
  const auto beside = [weak = weak_from_this()](Task<void> task) {
    if (const auto core = weak.lock()) core->run_beside(std::move(task));
  };
  LeaseParts used{parts.store, parts.clock, parts.scheduler, parts.ids, parts.owners, beside};
  used.length = settings.activity_lease;
  leases = make_metadata_leases(std::move(used));
}

Result<Attempt> Core::attempt(StoreTime now, const std::string& provider) const {
  COVE_TRY(const Provider* const made_by, provider_of(provider));
  Attempt attempt;
  attempt.id = OperationId(base::random_name(parts.ids));
  attempt.owner = parts.owners.self();
  attempt.now = now;
  attempt.generation = Generation(base::random_name(parts.ids));
  attempt.incarnation = Incarnation(base::random_name(parts.ids));
  attempt.provider = made_by->name();
  attempt.node = made_by->node();
  return attempt;
}

std::vector<Provider*> Core::providers() const {
  std::vector<Provider*> all{&parts.provider};
  for (const NamedProvider& other : parts.others) all.push_back(&other.provider);
  return all;
}

Result<Provider*> Core::provider_of(const std::string& name) const {
  if (name.empty()) return &parts.provider;
  std::string known;
  for (Provider* const provider : providers()) {
    if (provider->name() == name) return provider;
    known += (known.empty() ? "'" : ", '") + std::string(provider->name()) + "'";
  }
  return Error(ErrorCode::kUnavailable,
               "this process has no provider '" + name + "', only " + known);
}

Result<Provider*> Core::provider_of(const Record& record) const {
  auto provider = provider_of(record.provider);
  if (provider) return provider;
  return provider.error().with_context("sandbox", record.sandbox_id.str());
}

const SandboxPolicy& Core::policy_of(const Provider& provider) const {
  for (const NamedProvider& other : parts.others) {
    if (&other.provider == &provider) return other.policy;
  }
  return parts.policy;
}

InstanceRef Core::instance_of(const SandboxId& sandbox, const Generation& generation,
                              Epoch epoch) const {
  return InstanceRef{VolumeRef{deployment, sandbox, generation}, epoch};
}

InstanceRef Core::instance_of(const Record& record) const {
  return instance_of(record.sandbox_id, record.generation, record.epoch);
}

SnapshotOwner Core::snapshot_owner(const Record& record) const {
  return SnapshotOwner{deployment, record.sandbox_id, record.incarnation, record.key, {}};
}

bool Core::reaches(const Location& place) const {
  const auto provider = provider_of(place.provider);
  if (!provider) return false;
  const NodeId own = (*provider)->node();
  return place.node.empty() || own.empty() || place.node == own;
}

Result<void> Core::check_node(const Record& record) const {
  COVE_TRY(const Provider* const provider, provider_of(record));
  if (record.operation && record.operation->to) {
    COVE_TRY_VOID(provider_of(record.operation->to->provider));
  }
  const bool makes_volume = record.operation && !record.operation->generation.empty();
  if (record.generation.empty() && !makes_volume) return {};
  if (reaches(Location{record.provider, record.node})) return {};
  return Error(ErrorCode::kUnavailable, "sandbox '" + record.sandbox_id.str() + "' is on node '" +
                                            record.node.str() + "', out of reach from '" +
                                            provider->node().str() + "'");
}

bool Core::is_free(const Operation& operation, StoreTime now) const {
  if (!operation.error.empty()) return true;
  if (operation.owner == parts.owners.self()) return true;
  if (parts.owners.certainly_dead(operation.owner)) return true;
  return operation.heartbeat_at + settings.owner_dead_after < now;
}

Record Core::without_dead_leases(Record record) const {
  std::erase_if(record.activity, [this](const ActivityLease& lease) {
    return parts.owners.certainly_dead(lease.owner);
  });
  return record;
}

Result<void> Core::check(const CallContext& call) const {
  if (closing.stop_requested()) return Error(ErrorCode::kCancelled, "this Cove is being closed");
  return call.check(parts.clock);
}

CallContext Core::own_call() const {
  return CallContext{parts.clock.now() + settings.owner_dead_after, {}};
}

void Core::tell(LifecycleEvent event) const {
  if (!event.error.empty()) {
    log(LogLevel::kWarning, "sandbox " + event.sandbox.str() + ": " +
                                std::string(name_of(event.kind)) + " at " +
                                std::string(name_of(event.phase)) + ": " + event.error);
  }
  metrics.note(event);
  if (parts.observer != nullptr) parts.observer->on_event(event);
}

Task<void> Core::give_places_back(Record record) {
  const CallContext call = own_call();
  const auto given_back = co_await quotas.give_back(record, call);
  if (!given_back) log(LogLevel::kWarning, given_back.error().describe());
}

void Core::log(LogLevel level, const std::string& message) const {
  if (parts.log != nullptr) parts.log->write(level, message);
}

Core::Work::Work(std::shared_ptr<Core> core) : core_(std::move(core)) { ++core_->at_work_; }

Core::Work::~Work() {
  if (--core_->at_work_ > 0) return;
  for (const auto& waiter : std::exchange(core_->idle_waiters_, {})) waiter->complete(ok());
}

void Core::run_beside(Task<void> task) {
  auto work = std::make_unique<Work>(shared_from_this());  // from now on, not from its first turn
  base::spawn(parts.scheduler, run_as_work(std::move(work), std::move(task)));
}

Task<void> Core::run_as_work(std::unique_ptr<Work> work, Task<void> task) {
  co_await task;
  work.reset();
}

Task<void> Core::wait_until_idle(const CallContext& call) {
  for (CallContext bound = call; at_work_ > 0;) {
    const auto idle = base::Completion<Result<void>>::make(parts.scheduler);
    idle_waiters_.push_back(idle);
    const auto waited = co_await base::wait_bounded<void>(idle, parts.scheduler, bound);
    if (waited) continue;
    // What runs uses the parts, which go when this returns: it is waited for, however long.
    bound = CallContext();
    log(LogLevel::kWarning, "closing waits for work that goes on");
  }
}

void Core::keep_renewing() {
  const bool armed = renew_timer_ != TimerId::kNone;
  if (armed || activity.empty() || closing.stop_requested()) return;
  const Instant when = parts.clock.now() + settings.activity_lease / 3;
  renew_timer_ = parts.scheduler.call_at(when, [weak = weak_from_this()] {
    const auto core = weak.lock();
    if (!core) return;
    core->renew_timer_ = TimerId::kNone;
    if (core->closing.stop_requested()) return;
    core->run_beside(renew_leases(core));
  });
}

void Core::stop_using(const SandboxId& sandbox) {
  activity.forget(sandbox);
  if (!activity.empty()) return;
  parts.scheduler.cancel(std::exchange(renew_timer_, TimerId::kNone));
}

Task<void> Core::renew_leases(std::shared_ptr<Core> core) {
  const Instant now = core->parts.clock.now();
  const Instant since = now - core->settings.activity_idle;
  // Nobody may ever call on these again, nor let go of them: what was leaked, what a release could
  // not be told of. Their leases have expired.
  core->activity.forget_idle(now -
                             std::max(core->settings.activity_idle, core->settings.activity_lease));
  for (const InstanceRef& instance : core->activity.touched_since(since)) {
    if (core->closing.stop_requested()) co_return;
    co_await core->renew_lease_of(instance);
  }
  core->keep_renewing();
}

Task<void> Core::renew_lease_of(InstanceRef instance) {
  bool ended = false;
  const Change change = [&](const Record& record, StoreTime now) -> Result<std::optional<Record>> {
    ended = record.state != SandboxState::kRunning || instance_of(record) != instance;
    watch_drain(record, now);
    // What an operation ends is not held up by a renewal, and what was let go of meanwhile stays
    // so.
    const bool let_go = !activity.is_used(instance);
    if (ended || let_go || record.operation) return std::optional<Record>();
    return std::optional<Record>(
        renew_lease(record, parts.owners.self(), now, settings.activity_lease));
  };
  const CallContext call{parts.clock.now() + settings.activity_lease / 3, closing.get_token()};
  const auto renewed =
      co_await records.update(instance.volume.sandbox, Durability::kRelaxed, change, call);
  // One that fails is tried again at the next turn; until two thirds of the lease are over, that
  // costs nothing.
  if (renewed && (ended || !*renewed)) activity.forget(instance);
}

void Core::watch_drain(const Record& record, StoreTime now) {
  const bool drains = record.operation && record.operation->drain_until > now;
  if (drains) {
    const auto left = record.operation->drain_until - now;
    activity.note_drain(record.sandbox_id, parts.clock.now() + left);
  } else {
    activity.end_drain(record.sandbox_id);
  }
}

std::string describe(const Record& record) {
  std::string text(name_of(record.state));
  if (!record.operation) return text;
  const Operation& operation = *record.operation;
  text += ", " + std::string(name_of(operation.kind)) + " at " +
          std::string(name_of(operation.phase)) + " by " + operation.owner.str();
  if (!operation.error.empty()) text += ", which failed: " + operation.error;
  return text;
}

}  // namespace cove::lifecycle
