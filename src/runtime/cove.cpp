#include <utility>

#include <cove/cove.hpp>

#include "client/guest_link.hpp"
#include "runtime/assembly/disk_reserve.hpp"
#include "runtime/core.hpp"
#include "runtime/doctor.hpp"
#include "runtime/use/bring_up.hpp"
#include "runtime/use/holder.hpp"

namespace cove {

using client::run_async;
using client::run_blocking;
using runtime::Core;
using runtime::Holder;
using runtime::Place;

class Workspace::Impl {
 public:
  Impl(std::shared_ptr<Holder> its_holder, AcquireWork its_work)
      : holder(std::move(its_holder)),
        client(client::make_client(holder, holder->place().session)),
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
SandboxClient Workspace::client() const { return impl_->client; }
Result<void> Workspace::release(const CallContext& call) { return impl_->holder->release(call); }

class Cove::Impl {
 public:
  explicit Impl(std::shared_ptr<Core> its_core) : core(std::move(its_core)) {}

  ~Impl() {
    if (core->forked()) return;
    if (core->close(std::chrono::seconds(10))) return;
    // On the I/O thread nobody can wait, and after a timeout it goes on by itself. Where not even a
    // thread could be had, the parts are left as they are.
    if (!core->start_closing()) static_cast<void>(new std::shared_ptr<Core>(core));
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const std::shared_ptr<Core> core;
};

namespace {

Result<Place> place_of(const WorkspaceKey& key, const AcquireOptions& options) {
  COVE_TRY_VOID(validate(key));
  if (options.chat_id.empty()) return Place{key, ""};
  COVE_TRY(const std::string segment, session_segment(options.chat_id));
  return Place{key, "sessions/" + segment};
}

Task<Result<Workspace>> acquire_workspace(std::shared_ptr<Core> core, WorkspaceKey key,
                                          AcquireOptions options, const CallContext& call) {
  COVE_CO_TRY(Place place, place_of(key, options));
  const SandboxId sandbox = options.sandbox.empty() ? sandbox_id_of(key) : options.sandbox;
  COVE_CO_TRY(const std::shared_ptr<runtime::Seat> seat,
              co_await core->seats().take(sandbox, call));
  const auto holder = std::make_shared<Holder>(core, seat, std::move(place));
  COVE_CO_TRY(const runtime::BroughtUp up,
              co_await runtime::bring_up(*core, *seat, holder->place(), call));
  co_return Workspace(std::make_shared<Workspace::Impl>(holder, up.work));
}

/// After the state was changed from here, nothing that was known of the guest counts.
void doubt(Core& core, const SandboxId& sandbox) {
  if (const auto seat = core.seats().find(sandbox)) seat->doubt();
}

/// Runs what gives room back, with the room that is kept for it.
template <class T>
Task<Result<T>> with_reserve(Core& core, Task<Result<T>> work) {
  auto& parts = core.parts();
  const runtime::DiskReserve reserve(*parts.state_directory);
  const auto lend = [reserve] { return reserve.lend(); };
  const auto restore = [reserve] { return reserve.restore(); };
  static_cast<void>(co_await base::offload(*parts.blocking, *parts.loop, lend));
  Result<T> result = co_await work;
  static_cast<void>(co_await base::offload(*parts.blocking, *parts.loop, restore));
  co_return result;
}

Task<Result<void>> stop_sandbox(std::shared_ptr<Core> core, SandboxId sandbox, StopOptions options,
                                const CallContext& call) {
  auto work = core->lifecycle().stop(sandbox, options, call);
  Result<void> result = co_await with_reserve(*core, std::move(work));
  doubt(*core, sandbox);
  co_return result;
}

Task<Result<void>> archive_sandbox(std::shared_ptr<Core> core, SandboxId sandbox,
                                   StopOptions options, const CallContext& call) {
  auto work = core->lifecycle().archive(sandbox, options, call);
  Result<void> result = co_await with_reserve(*core, std::move(work));
  doubt(*core, sandbox);
  co_return result;
}

Task<Result<void>> destroy_sandbox(std::shared_ptr<Core> core, SandboxId sandbox,
                                   const CallContext& call) {
  auto work = core->lifecycle().destroy(sandbox, call);
  Result<void> result = co_await with_reserve(*core, std::move(work));
  doubt(*core, sandbox);
  co_return result;
}

Task<Result<SweepReport>> sweep_all(std::shared_ptr<Core> core, SweepOptions options,
                                    const CallContext& call) {
  if (options.dry_run) co_return co_await core->lifecycle().sweep(options, call);
  auto work = core->lifecycle().sweep(options, call);
  co_return co_await with_reserve(*core, std::move(work));
}

Task<Result<std::uint32_t>> destroy_source_of(
    std::shared_ptr<Core> core, std::string source,
    std::function<void(const SourceProgress& so_far)> progress, const CallContext& call) {
  auto work = core->lifecycle().destroy_source(source, std::move(progress), call);
  Result<std::uint32_t> result = co_await with_reserve(*core, std::move(work));
  core->seats().for_each([](runtime::Seat& seat) { seat.doubt(); });
  co_return result;
}

Task<Result<Record>> find_record(std::shared_ptr<Core> core, SandboxId sandbox,
                                 const CallContext& call) {
  co_return co_await core->lifecycle().find(sandbox, call);
}

Task<Result<RecordPage>> list_records(std::shared_ptr<Core> core, std::string source,
                                      std::string after, std::uint32_t limit,
                                      const CallContext& call) {
  co_return co_await core->lifecycle().list(source, after, limit, call);
}

Task<Result<OrphanReport>> find_orphans(std::shared_ptr<Core> core, const CallContext& call) {
  co_return co_await core->lifecycle().orphans(call);
}

}  // namespace

Result<Cove> Cove::open(Config config, Parts parts) {
  try {
    COVE_TRY(std::shared_ptr<Core> core, Core::open(std::move(config), std::move(parts)));
    return Cove(std::make_shared<Impl>(std::move(core)));
  } catch (const std::exception& e) {
    return client::error_of(e);
  } catch (...) {
    return client::error_of_unknown();
  }
}

Result<Workspace> Cove::acquire(const WorkspaceKey& key, const AcquireOptions& options,
                                const CallContext& call) const {
  return run_blocking(*impl_->core, call, [&](const CallContext& inner) {
    return acquire_workspace(impl_->core, key, options, inner);
  });
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

Result<SweepReport> Cove::sweep(const CallContext& call) const {
  return sweep(SweepOptions(), call);
}

Result<SweepReport> Cove::sweep(const SweepOptions& options, const CallContext& call) const {
  return run_blocking(*impl_->core, call, [&](const CallContext& inner) {
    return sweep_all(impl_->core, options, inner);
  });
}

Result<std::uint32_t> Cove::destroy_source(
    const std::string& source, std::function<void(const SourceProgress& so_far)> progress,
    const CallContext& call) const {
  return run_blocking(*impl_->core, call, [&](const CallContext& inner) {
    return destroy_source_of(impl_->core, source, std::move(progress), inner);
  });
}

Result<void> Cove::revive_source(const std::string& source, const CallContext& call) const {
  return run_blocking(*impl_->core, call, [&](const CallContext& inner) {
    return impl_->core->lifecycle().revive_source(source, inner);
  });
}

Result<void> Cove::set_idle_policy(const std::string& source, const IdlePolicy& policy,
                                   const CallContext& call) const {
  return run_blocking(*impl_->core, call, [&](const CallContext& inner) {
    return impl_->core->lifecycle().set_idle_policy(source, policy, inner);
  });
}

Result<IdlePolicy> Cove::idle_policy(const std::string& source, const CallContext& call) const {
  return run_blocking(*impl_->core, call, [&](const CallContext& inner) {
    return impl_->core->lifecycle().idle_policy(source, inner);
  });
}

Result<RecoverReport> Cove::recover(const DeploymentId& deployment, const CallContext& call) const {
  return run_blocking(*impl_->core, call, [&](const CallContext& inner) {
    return impl_->core->lifecycle().recover(deployment, inner);
  });
}

Result<std::string> Cove::metrics(const CallContext& call) const {
  return run_blocking(*impl_->core, call, [&](const CallContext& inner) {
    return impl_->core->lifecycle().metrics(inner);
  });
}

Result<Record> Cove::status(const SandboxId& sandbox, const CallContext& call) const {
  return run_blocking(*impl_->core, call, [&](const CallContext& inner) {
    return find_record(impl_->core, sandbox, inner);
  });
}

Result<RecordPage> Cove::list(const std::string& source, const std::string& after,
                              std::uint32_t limit, const CallContext& call) const {
  return run_blocking(*impl_->core, call, [&](const CallContext& inner) {
    return list_records(impl_->core, source, after, limit, inner);
  });
}

Result<OrphanReport> Cove::orphans(const CallContext& call) const {
  return run_blocking(*impl_->core, call,
                      [&](const CallContext& inner) { return find_orphans(impl_->core, inner); });
}

void Cove::stop_async(SandboxId sandbox, StopDrain drain, CallContext call,
                      std::function<void(Result<void>)> done) const {
  run_async<void>(
      impl_->core, call,
      [core = impl_->core, sandbox = std::move(sandbox), drain](const CallContext& inner) {
        return stop_sandbox(core, sandbox, StopOptions{drain, {}}, inner);
      },
      std::move(done));
}

void Cove::archive_async(SandboxId sandbox, StopDrain drain, CallContext call,
                         std::function<void(Result<void>)> done) const {
  run_async<void>(
      impl_->core, call,
      [core = impl_->core, sandbox = std::move(sandbox), drain](const CallContext& inner) {
        return archive_sandbox(core, sandbox, StopOptions{drain, {}}, inner);
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

void Cove::sweep_async(CallContext call, std::function<void(Result<SweepReport>)> done) const {
  run_async<SweepReport>(
      impl_->core, call,
      [core = impl_->core](const CallContext& inner) {
        return sweep_all(core, SweepOptions(), inner);
      },
      std::move(done));
}

void Cove::status_async(SandboxId sandbox, CallContext call,
                        std::function<void(Result<Record>)> done) const {
  run_async<Record>(
      impl_->core, call,
      [core = impl_->core, sandbox = std::move(sandbox)](const CallContext& inner) {
        return find_record(core, sandbox, inner);
      },
      std::move(done));
}

std::vector<Finding> Cove::doctor() const { return runtime::examine(*impl_->core); }

Result<void> Cove::close(std::chrono::milliseconds timeout) { return impl_->core->close(timeout); }

}  // namespace cove
