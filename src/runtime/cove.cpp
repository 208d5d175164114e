#include <utility>

#include <cove/cove.hpp>

#include "base/values/caught.hpp"
#include "client/guest_link.hpp"
#include "prepare/skills/index.hpp"
#include "prepare/steps/plan.hpp"
#include "runtime/assembly/registry.hpp"
#include "runtime/core.hpp"
#include "runtime/cove_impl.hpp"
#include "runtime/doctor.hpp"
#include "runtime/use/bring_up.hpp"
#include "runtime/use/holder.hpp"
#include "runtime/use/mirror_targets.hpp"
#include "runtime/use/published.hpp"
#include "runtime/use/step_link.hpp"

namespace cove {

using client::run_async;
using client::run_blocking;
using runtime::Core;
using runtime::Holder;
using runtime::Place;

namespace {
constexpr const char* kHome = "/home/sandbox";  // of the commands
}

class Workspace::Impl {
 public:
  Impl(const std::shared_ptr<Holder>& its_holder, AcquireWork its_work)
      : Impl(its_holder, client::make_client(its_holder, its_holder->place().session), its_work) {}
  Impl(std::shared_ptr<Holder> its_holder, SandboxClient its_client, AcquireWork its_work)
      : holder(std::move(its_holder)),
        client(std::move(its_client)),
        directory(holder->place().session.empty() ? "/workspace"
                                                  : "/workspace/" + holder->place().session),
        work(its_work) {}

  const std::shared_ptr<Holder> holder;
  const SandboxClient client;
  const std::string directory;
  const AcquireWork work;
};

const WorkspaceKey& Workspace::key() const { return impl_->holder->place().key; }
const SandboxId& Workspace::sandbox_id() const { return impl_->holder->sandbox(); }
const std::string& Workspace::directory() const { return impl_->directory; }
AcquireWork Workspace::work() const { return impl_->work; }
PrepareReport Workspace::prepare_report() const {
  return impl_->holder->place().preparing->report();
}
SandboxClient Workspace::client() const { return impl_->client; }

namespace {

/// Compares what is placed with what was published, once per instance; what differs is placed again
/// by the next acquire.
Task<Result<SkillIndex>> find_skills(std::shared_ptr<Holder> holder, const CallContext& call) {
  COVE_CO_TRY(const auto guest, co_await holder->guest(call));
  const std::string instance = prepare::instance_name(&holder->instance());
  const std::string home = kHome;
  prepare::SkillInputs& inputs = *holder->place().preparing->steps().skills;
  COVE_CO_TRY(SkillIndex index, co_await prepare::index_skills(*holder->shelf(), *guest, instance,
                                                               inputs, home, call));
  if (!index.problems.empty()) co_await holder->place_skills_again(*guest, call);
  co_return index;
}

}  // namespace

Result<SkillIndex> Workspace::skills(const CallContext& call) const {
  return run_blocking(*impl_->holder, call,
                      [&](const CallContext& inner) { return find_skills(impl_->holder, inner); });
}

void Workspace::skills_async(CallContext call, std::function<void(Result<SkillIndex>)> done) const {
  run_async<SkillIndex>(
      impl_->holder, call,
      [holder = impl_->holder](const CallContext& inner) { return find_skills(holder, inner); },
      std::move(done));
}

Result<void> Workspace::release(const CallContext& call) { return impl_->holder->release(call); }

void Workspace::release_async(CallContext call, std::function<void(Result<void>)> done) {
  impl_->holder->release_async(call, std::move(done));
}

namespace {

Result<std::string> session_of(const std::string& chat_id) {
  if (chat_id.empty()) return std::string();
  COVE_TRY(const std::string segment, session_segment(chat_id));
  return "sessions/" + segment;
}

/// What the steps about skills work with.
Task<Result<prepare::SkillParts>> make_skill_parts(Core& core, const PrepareInputs& inputs,
                                                   const CallContext& call) {
  prepare::SkillParts parts;
  parts.shelf = core.skills();
  parts.home = kHome;
  parts.now = std::chrono::floor<std::chrono::seconds>(core.clock().wall());
  COVE_CO_TRY(parts.builtin_fingerprint,
              co_await prepare::fingerprint_of(*parts.shelf, inputs.builtin_skills, call));
  // The steps run only while a holder keeps the core.
  parts.is_shared = [&core](const SandboxId& sandbox, const CallContext& inner) {
    return core.lifecycle().is_used_by_others(sandbox, inner);
  };
  co_return parts;
}

/// Checks what is asked for, and works out what preparing it takes.
Task<Result<Place>> make_place(Core& core, WorkspaceKey key, AcquireOptions options,
                               const CallContext& call) {
  COVE_CO_TRY_VOID(validate(key));
  COVE_CO_TRY_VOID(validate(options.prepare));
  COVE_CO_TRY(const std::string session, session_of(options.chat_id));
  COVE_CO_TRY_VOID(co_await runtime::find_published(core, options.prepare.skills, call));
  auto& parts = core.parts();
  const bool is_quick = prepare::is_quick(options.prepare);
  COVE_CO_TRY(prepare::SkillParts skills, co_await make_skill_parts(core, options.prepare, call));
  const auto make = [&] {
    const prepare::HostParts host{*parts.blocking, *parts.loop,
                                  parts.config.policy.has_writable_system()};
    return prepare::make_preparation(std::move(options.prepare), session, host, std::move(skills));
  };
  Result<std::shared_ptr<const prepare::Preparation>> made =
      Error(ErrorCode::kInternal, "nothing was made");
  if (is_quick) made = make();
  if (!is_quick) made = co_await base::offload(*parts.blocking, *parts.loop, make);
  if (!made) co_return made.error();
  co_return Place{std::move(key), session, std::make_shared<runtime::Preparing>(*made)};
}

/// The handle that prepare steps see.
std::shared_ptr<const Workspace> step_handle(const std::shared_ptr<Holder>& holder,
                                             std::shared_ptr<Guest> guest, std::uint64_t fence) {
  if (!holder) return nullptr;
  auto link = std::make_shared<runtime::StepLink>(holder, std::move(guest), fence);
  auto client = client::make_client(std::move(link), holder->place().session);
  return std::make_shared<const Workspace>(
      std::make_shared<Workspace::Impl>(holder, std::move(client), AcquireWork::kNone));
}

Task<Result<Workspace>> acquire_workspace(std::shared_ptr<Core> core, WorkspaceKey key,
                                          AcquireOptions options, const CallContext& call) {
  const SandboxId named = options.sandbox;
  network::Proxy* const proxy = core->parts().egress.get();
  std::vector<EgressTarget> mirrors;
  if (proxy != nullptr) {
    COVE_CO_TRY_VOID(validate(options.prepare));
    mirrors = runtime::mirror_targets(options.prepare.mirrors);
    runtime::reach_through_proxy(mirrors, options.prepare.environment);
  }
  Task<Result<Place>> making = make_place(*core, std::move(key), std::move(options), call);
  COVE_CO_TRY(Place place, co_await making);
  const SandboxId sandbox = named.empty() ? sandbox_id_of(place.key) : named;
  if (proxy != nullptr) proxy->name_targets(sandbox, mirrors);
  COVE_CO_TRY(const std::shared_ptr<runtime::Seat> seat,
              co_await core->seats().take(sandbox, call));
  place.preparing->skills_held =
      core->skills()->uses().hold(sandbox, *place.preparing->steps().skills);
  const auto holder = std::make_shared<Holder>(core, seat, std::move(place));
  holder->place().preparing->make_handle = [weak = std::weak_ptr<Holder>(holder)](
                                               std::shared_ptr<Guest> guest, std::uint64_t fence) {
    return step_handle(weak.lock(), std::move(guest), fence);
  };
  COVE_CO_TRY(const runtime::BroughtUp up,
              co_await runtime::bring_up(*core, *seat, holder->place(), call));
  co_return Workspace(std::make_shared<Workspace::Impl>(holder, up.work));
}

Task<Result<void>> remove_session_of(std::shared_ptr<Core> core, WorkspaceKey key,
                                     AcquireOptions options, const CallContext& call) {
  COVE_CO_TRY(const std::string session, session_of(options.chat_id));
  if (session.empty()) {
    co_return Error(ErrorCode::kInvalidArgument, "the chat id is empty: whose session?");
  }
  const SandboxId sandbox = options.sandbox.empty() ? sandbox_id_of(key) : options.sandbox;
  AcquireOptions nothing;  // is prepared
  Task<Result<Place>> making = make_place(*core, std::move(key), std::move(nothing), call);
  COVE_CO_TRY(Place whole, co_await making);
  // Last before the holder, which gives the share back: what fails in between would keep it.
  COVE_CO_TRY(const std::shared_ptr<runtime::Seat> seat,
              co_await core->seats().take(sandbox, call));
  const auto holder = std::make_shared<Holder>(core, seat, std::move(whole));
  COVE_CO_TRY(const runtime::BroughtUp up,
              co_await runtime::bring_up(*core, *seat, holder->place(), call));
  const GuestPath path{"", session};
  const Result<void> removed = co_await up.guest->remove(path, true, call);
  seat->sessions.erase(session);
  if (!removed && removed.error().code() == ErrorCode::kNotFound) co_return ok();
  co_return removed;
}

/// After the state was changed from here, nothing that was known of the guest counts.
void doubt(Core& core, const SandboxId& sandbox) {
  if (const auto seat = core.seats().find(sandbox)) runtime::doubt(core, *seat);
}

Task<Result<void>> stop_sandbox(std::shared_ptr<Core> core, SandboxId sandbox, StopOptions options,
                                const CallContext& call) {
  auto work = core->lifecycle().stop(sandbox, options, call);
  Result<void> result = co_await runtime::with_reserve(*core, std::move(work));
  doubt(*core, sandbox);
  co_return result;
}

Task<Result<void>> archive_sandbox(std::shared_ptr<Core> core, SandboxId sandbox,
                                   StopOptions options, const CallContext& call) {
  auto work = core->lifecycle().archive(sandbox, options, call);
  Result<void> result = co_await runtime::with_reserve(*core, std::move(work));
  doubt(*core, sandbox);
  co_return result;
}

Task<Result<void>> destroy_sandbox(std::shared_ptr<Core> core, SandboxId sandbox,
                                   const CallContext& call) {
  auto work = core->lifecycle().destroy(sandbox, call);
  Result<void> result = co_await runtime::with_reserve(*core, std::move(work));
  doubt(*core, sandbox);
  co_return result;
}

Task<Result<void>> relocate_sandbox(std::shared_ptr<Core> core, SandboxId sandbox,
                                    RelocateOptions options, const CallContext& call) {
  auto& parts = core->parts();
  COVE_CO_TRY_VOID(co_await base::offload(*parts.blocking, *parts.loop, [&] {
    return runtime::check_destination(parts.config, options.provider);
  }));
  auto work = core->lifecycle().relocate(sandbox, options, call);
  Result<void> result = co_await runtime::with_reserve(*core, std::move(work));
  doubt(*core, sandbox);
  co_return result;
}

/// The machine is looked at where it may block.
Task<Result<std::vector<Finding>>> examine_aside(std::shared_ptr<Core> core) {
  auto& parts = core->parts();
  co_return co_await base::offload(*parts.blocking, *parts.loop,
                                   [core = core.get()] { return runtime::examine(*core); });
}

}  // namespace

Result<Cove> Cove::open(Config config, Parts parts) {
  try {
    COVE_TRY(std::shared_ptr<Core> core, Core::open(std::move(config), std::move(parts)));
    return Cove(std::make_shared<Impl>(std::move(core)));
  } catch (...) {
    return base::caught_error();
  }
}

Result<Workspace> Cove::acquire(const WorkspaceKey& key, const AcquireOptions& options,
                                const CallContext& call) const {
  return run_blocking(*impl_->core, call, [&](const CallContext& inner) {
    return acquire_workspace(impl_->core, key, options, inner);
  });
}

Result<void> Cove::remove_session(const WorkspaceKey& key, const AcquireOptions& options,
                                  const CallContext& call) const {
  return run_blocking(*impl_->core, call, [&](const CallContext& inner) {
    return remove_session_of(impl_->core, key, options, inner);
  });
}

void Cove::remove_session_async(WorkspaceKey key, AcquireOptions options, CallContext call,
                                std::function<void(Result<void>)> done) const {
  run_async<void>(
      impl_->core, call,
      [core = impl_->core, key = std::move(key), options = std::move(options)](
          const CallContext& inner) { return remove_session_of(core, key, options, inner); },
      std::move(done));
}

void Cove::acquire_async(WorkspaceKey key, AcquireOptions options, CallContext call,
                         std::function<void(Result<Workspace>)> done) const {
  run_async<Workspace>(
      impl_->core, call,
      [core = impl_->core, key = std::move(key), options = std::move(options)](
          const CallContext& inner) { return acquire_workspace(core, key, options, inner); },
      std::move(done));
}

Result<void> Cove::stop(const SandboxId& sandbox, StopDrain drain, const CallContext& call) const {
  return stop(sandbox, StopOptions{drain, {}}, call);
}

Result<void> Cove::archive(const SandboxId& sandbox, StopDrain drain,
                           const CallContext& call) const {
  return archive(sandbox, StopOptions{drain, {}}, call);
}

Result<void> Cove::stop(const SandboxId& sandbox, const StopOptions& options,
                        const CallContext& call) const {
  return run_blocking(*impl_->core, call, [&](const CallContext& inner) {
    return stop_sandbox(impl_->core, sandbox, options, inner);
  });
}

Result<void> Cove::archive(const SandboxId& sandbox, const StopOptions& options,
                           const CallContext& call) const {
  return run_blocking(*impl_->core, call, [&](const CallContext& inner) {
    return archive_sandbox(impl_->core, sandbox, options, inner);
  });
}

Result<void> Cove::destroy(const SandboxId& sandbox, const CallContext& call) const {
  return run_blocking(*impl_->core, call, [&](const CallContext& inner) {
    return destroy_sandbox(impl_->core, sandbox, inner);
  });
}

Result<void> Cove::relocate(const SandboxId& sandbox, const RelocateOptions& options,
                            const CallContext& call) const {
  return run_blocking(*impl_->core, call, [&](const CallContext& inner) {
    return relocate_sandbox(impl_->core, sandbox, options, inner);
  });
}

void Cove::stop_async(SandboxId sandbox, StopDrain drain, CallContext call,
                      std::function<void(Result<void>)> done) const {
  const StopOptions options{drain, {}};
  stop_async(std::move(sandbox), options, std::move(call), std::move(done));
}

void Cove::archive_async(SandboxId sandbox, StopDrain drain, CallContext call,
                         std::function<void(Result<void>)> done) const {
  const StopOptions options{drain, {}};
  archive_async(std::move(sandbox), options, std::move(call), std::move(done));
}

void Cove::stop_async(SandboxId sandbox, StopOptions options, CallContext call,
                      std::function<void(Result<void>)> done) const {
  run_async<void>(
      impl_->core, call,
      [core = impl_->core, sandbox = std::move(sandbox), options](const CallContext& inner) {
        return stop_sandbox(core, sandbox, options, inner);
      },
      std::move(done));
}

void Cove::archive_async(SandboxId sandbox, StopOptions options, CallContext call,
                         std::function<void(Result<void>)> done) const {
  run_async<void>(
      impl_->core, call,
      [core = impl_->core, sandbox = std::move(sandbox), options](const CallContext& inner) {
        return archive_sandbox(core, sandbox, options, inner);
      },
      std::move(done));
}

void Cove::destroy_async(SandboxId sandbox, CallContext call,
                         std::function<void(Result<void>)> done) const {
  run_async<void>(
      impl_->core, call,
      [core = impl_->core, sandbox = std::move(sandbox)](const CallContext& inner) {
        return destroy_sandbox(core, sandbox, inner);
      },
      std::move(done));
}

void Cove::relocate_async(SandboxId sandbox, RelocateOptions options, CallContext call,
                          std::function<void(Result<void>)> done) const {
  run_async<void>(
      impl_->core, call,
      [core = impl_->core, sandbox = std::move(sandbox), options = std::move(options)](
          const CallContext& inner) { return relocate_sandbox(core, sandbox, options, inner); },
      std::move(done));
}

std::vector<Finding> Cove::doctor() const { return runtime::examine(*impl_->core); }

void Cove::doctor_async(CallContext call,
                        std::function<void(Result<std::vector<Finding>>)> done) const {
  run_async<std::vector<Finding>>(
      impl_->core, call,
      [core = impl_->core](const CallContext& /*inner*/) { return examine_aside(core); },
      std::move(done));
}

void Cove::clock_moved() const { impl_->core->clock_moved(); }

Result<void> Cove::close(std::chrono::milliseconds timeout) { return impl_->core->close(timeout); }

}  // namespace cove
