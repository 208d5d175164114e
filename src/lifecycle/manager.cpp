#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <cove/lifecycle.hpp>

#include "lifecycle/core.hpp"
#include "lifecycle/requests/acquire.hpp"
#include "lifecycle/requests/metrics_request.hpp"
#include "lifecycle/requests/recover.hpp"
#include "lifecycle/requests/relocate.hpp"
#include "lifecycle/requests/settle.hpp"
#include "lifecycle/requests/source.hpp"
#include "lifecycle/requests/sweep.hpp"

namespace cove {
namespace {

using lifecycle::Change;
using lifecycle::Core;
using lifecycle::Goal;
using lifecycle::Request;

// What a quota's document has room for.
constexpr std::uint32_t kMostPlaces = 5000;

Error not_found(const SandboxId& sandbox) {
  return Error(ErrorCode::kNotFound, "no sandbox '" + sandbox.str() + "'");
}

Result<void> check_settings(const LifecycleSettings& settings) {
  using namespace std::chrono_literals;
  const bool good = settings.heartbeat > 0ms && settings.activity_lease > 0ms &&
                    settings.heartbeat * 3 <= settings.owner_dead_after &&
                    settings.stop_after >= 0ms && settings.archive_after >= 0ms &&
                    settings.activity_idle >= 0ms && settings.tombstone_keep >= 0ms;
  const RunningQuotas& running = settings.running;
  if (std::max({running.all, running.per_source, running.per_user}) > kMostPlaces) {
    return Error(ErrorCode::kInvalidArgument, "a quota of running sandboxes is at most 5000");
  }
  if (good) return {};
  return Error(ErrorCode::kInvalidArgument,
               "the lifecycle's times must not be negative, and owner_dead_after must be at least "
               "three heartbeats");
}

/// Records name providers: each name is one provider's.
Result<void> check_providers(const LifecycleParts& parts) {
  std::set<std::string_view> names{parts.provider.name()};
  for (const NamedProvider& other : parts.others) {
    const bool is_new = names.insert(other.provider.name()).second;
    if (is_new && !other.provider.name().empty()) continue;
    return Error(ErrorCode::kInvalidArgument,
                 "two providers are called '" + std::string(other.provider.name()) + "'");
  }
  return {};
}

Task<Result<void>> release_use(Core& core, SandboxId sandbox, const CallContext& call) {
  core.stop_using(sandbox);
  const Change change = [&](const Record& record, StoreTime now) -> Result<std::optional<Record>> {
    return std::optional<Record>(lifecycle::release_lease(record, core.parts.owners.self(), now));
  };
  const auto updated = co_await core.records.update(sandbox, Durability::kRelaxed, change, call);
  if (!updated) co_return updated.error();
  co_return ok();
}

}  // namespace

class LifecycleManager::Impl {
 public:
  std::shared_ptr<Core> core;
};

LifecycleManager::LifecycleManager(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

LifecycleManager::~LifecycleManager() { impl_->core->closing.request_stop(); }

Task<Result<std::unique_ptr<LifecycleManager>>> LifecycleManager::open(LifecycleParts parts,
                                                                       LifecycleSettings settings,
                                                                       const CallContext& call) {
  COVE_CO_TRY_VOID(check_settings(settings));
  COVE_CO_TRY_VOID(check_providers(parts));
  auto impl = std::make_unique<Impl>();
  impl->core = std::make_shared<Core>(std::move(parts), settings);
  Core& core = *impl->core;
  core.start();
  COVE_CO_TRY(core.deployment, co_await core.records.deployment(core.parts.ids, call));
  co_return std::unique_ptr<LifecycleManager>(new LifecycleManager(std::move(impl)));
}

const DeploymentId& LifecycleManager::deployment() const { return impl_->core->deployment; }

Leases& LifecycleManager::leases() { return *impl_->core->leases; }

Task<Result<AcquiredInstance>> LifecycleManager::acquire(const WorkspaceKey& key,
                                                         const SandboxId& sandbox,
                                                         const CallContext& call) {
  const Core::Work work(impl_->core);
  co_return co_await lifecycle::acquire(impl_->core, key, sandbox, call);
}

bool LifecycleManager::touch(const SandboxId& sandbox) {
  return impl_->core->activity.touch(sandbox, impl_->core->parts.clock.now());
}

bool LifecycleManager::drains(const SandboxId& sandbox) const {
  return impl_->core->activity.drains(sandbox, impl_->core->parts.clock.now());
}

Task<Result<bool>> LifecycleManager::is_used_by_others(const SandboxId& sandbox,
                                                       const CallContext& call) {
  const Core::Work work(impl_->core);
  Core& core = *impl_->core;
  COVE_CO_TRY(const auto found, co_await core.records.load(sandbox, call));
  if (!found) co_return false;
  COVE_CO_TRY(const StoreTime now, co_await core.records.now(call));
  const Record living = core.without_dead_leases(found->record);
  co_return lifecycle::has_live_lease(living, now, core.parts.owners.self());
}

Task<Result<void>> LifecycleManager::release(const SandboxId& sandbox, const CallContext& call) {
  const Core::Work work(impl_->core);
  co_return co_await release_use(*impl_->core, sandbox, call);
}

Task<Result<bool>> LifecycleManager::report_unreachable(const InstanceRef& instance,
                                                        const CallContext& call) {
  const Core::Work work(impl_->core);
  co_return co_await lifecycle::report_unreachable(impl_->core, instance, Reason::kAcquire, call);
}

Task<Result<void>> LifecycleManager::stop(const SandboxId& sandbox, const StopOptions& options,
                                          const CallContext& call) {
  const Core::Work work(impl_->core);
  const Request request{Goal::kStopped, options};
  co_return co_await lifecycle::settle(impl_->core, sandbox, request, call);
}

Task<Result<void>> LifecycleManager::archive(const SandboxId& sandbox, const StopOptions& options,
                                             const CallContext& call) {
  const Core::Work work(impl_->core);
  const Request request{Goal::kArchived, options};
  co_return co_await lifecycle::settle(impl_->core, sandbox, request, call);
}

Task<Result<void>> LifecycleManager::stop(const SandboxId& sandbox, StopDrain drain,
                                          const CallContext& call) {
  const StopOptions options{drain};
  co_return co_await stop(sandbox, options, call);
}

Task<Result<void>> LifecycleManager::archive(const SandboxId& sandbox, StopDrain drain,
                                             const CallContext& call) {
  const StopOptions options{drain};
  co_return co_await archive(sandbox, options, call);
}

Task<Result<void>> LifecycleManager::destroy(const SandboxId& sandbox, const CallContext& call) {
  const Core::Work work(impl_->core);
  const StopOptions options{StopDrain::kCancel};
  const Request request{Goal::kGone, options};
  co_return co_await lifecycle::settle(impl_->core, sandbox, request, call);
}

Task<Result<void>> LifecycleManager::relocate(const SandboxId& sandbox,
                                              const RelocateOptions& options,
                                              const CallContext& call) {
  const Core::Work work(impl_->core);
  co_return co_await lifecycle::relocate(impl_->core, sandbox, options, call);
}

Task<Result<std::uint32_t>> LifecycleManager::destroy_source(
    const std::string& source, std::function<void(const SourceProgress& so_far)> progress,
    const CallContext& call) {
  const Core::Work work(impl_->core);
  co_return co_await lifecycle::destroy_source(impl_->core, source, std::move(progress), call);
}

Task<Result<std::uint32_t>> LifecycleManager::destroy_source(const std::string& source,
                                                             const CallContext& call) {
  const Core::Work work(impl_->core);
  co_return co_await lifecycle::destroy_source(impl_->core, source, nullptr, call);
}

Task<Result<void>> LifecycleManager::set_idle_policy(const std::string& source,
                                                     const IdlePolicy& policy,
                                                     const CallContext& call) {
  const Core::Work work(impl_->core);
  co_return co_await lifecycle::set_idle_policy(impl_->core, source, policy, call);
}

Task<Result<IdlePolicy>> LifecycleManager::idle_policy(const std::string& source,
                                                       const CallContext& call) {
  const Core::Work work(impl_->core);
  co_return co_await lifecycle::idle_policy(impl_->core, source, call);
}

Task<Result<RecoverReport>> LifecycleManager::recover(const DeploymentId& deployment,
                                                      const CallContext& call) {
  const Core::Work work(impl_->core);
  co_return co_await lifecycle::recover(impl_->core, deployment, call);
}

Task<Result<std::string>> LifecycleManager::metrics(const CallContext& call) {
  const Core::Work work(impl_->core);
  co_return co_await lifecycle::metrics_text(impl_->core, call);
}

Task<Result<void>> LifecycleManager::revive_source(const std::string& source,
                                                   const CallContext& call) {
  const Core::Work work(impl_->core);
  co_return co_await lifecycle::revive_source(impl_->core, source, call);
}

Task<Result<SweepReport>> LifecycleManager::sweep(const SweepOptions& options,
                                                  const CallContext& call) {
  const Core::Work work(impl_->core);
  co_return co_await lifecycle::sweep(impl_->core, options, call);
}

Task<Result<SweepReport>> LifecycleManager::sweep(const CallContext& call) {
  const Core::Work work(impl_->core);
  const SweepOptions options;
  co_return co_await lifecycle::sweep(impl_->core, options, call);
}

Task<Result<Record>> LifecycleManager::find(const SandboxId& sandbox, const CallContext& call) {
  const Core::Work work(impl_->core);
  COVE_CO_TRY(auto found, co_await impl_->core->records.load(sandbox, call));
  if (!found) co_return not_found(sandbox);
  co_return std::move(found->record);
}

Task<Result<RecordPage>> LifecycleManager::list(const std::string& source, const std::string& after,
                                                std::uint32_t limit, const CallContext& call) {
  const Core::Work work(impl_->core);
  DocumentQuery query;
  if (!source.empty()) query.source = source;
  query.after = after;
  query.limit = limit;
  COVE_CO_TRY(auto page, co_await impl_->core->records.query(query, call));
  RecordPage records;
  records.next = std::move(page.next);
  for (const StoredDocument& document : page.documents) {
    auto record = parse_record(document.document.body);
    if (record) {
      records.records.push_back(*std::move(record));
      continue;
    }
    // One bad record must not hide all others; `find` of it gives the error.
    impl_->core->log(LogLevel::kError, document.id.name + ": " + record.error().describe());
  }
  co_return records;
}

Task<Result<OrphanReport>> LifecycleManager::orphans(const CallContext& call) {
  const Core::Work work(impl_->core);
  co_return co_await lifecycle::find_orphans(impl_->core, call);
}

Task<void> LifecycleManager::close(const CallContext& call) {
  const auto core = impl_->core;
  core->closing.request_stop();
  co_await core->wait_until_idle(call);
  for (const SandboxId& sandbox : core->activity.all()) {
    const auto released = co_await release_use(*core, sandbox, call);
    // One that could not be released expires by itself.
    if (!released) core->log(LogLevel::kWarning, released.error().describe());
  }
}

}  // namespace cove
