// The calls of the facade on a whole deployment, or on all of a source, and on records.
#include <utility>

#include <cove/cove.hpp>

#include "client/guest_link.hpp"
#include "runtime/core.hpp"
#include "runtime/cove_impl.hpp"
#include "runtime/use/bring_up.hpp"

namespace cove {

using client::run_async;
using client::run_blocking;
using runtime::Core;
using runtime::with_reserve;

namespace {

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
  core->seats().for_each([&core](runtime::Seat& seat) { runtime::doubt(*core, seat); });
  co_return result;
}

Task<Result<RecoverReport>> recover_records(std::shared_ptr<Core> core, DeploymentId deployment,
                                            const CallContext& call) {
  co_return co_await core->lifecycle().recover(deployment, call);
}

Task<Result<std::string>> read_metrics(std::shared_ptr<Core> core, const CallContext& call) {
  co_return co_await core->lifecycle().metrics(call);
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

void Cove::revive_source_async(std::string source, CallContext call,
                               std::function<void(Result<void>)> done) const {
  run_async<void>(
      impl_->core, call,
      [core = impl_->core, source = std::move(source)](const CallContext& inner) {
        return core->lifecycle().revive_source(source, inner);
      },
      std::move(done));
}

void Cove::set_idle_policy_async(std::string source, IdlePolicy policy, CallContext call,
                                 std::function<void(Result<void>)> done) const {
  run_async<void>(
      impl_->core, call,
      [core = impl_->core, source = std::move(source), policy](const CallContext& inner) {
        return core->lifecycle().set_idle_policy(source, policy, inner);
      },
      std::move(done));
}

void Cove::idle_policy_async(std::string source, CallContext call,
                             std::function<void(Result<IdlePolicy>)> done) const {
  run_async<IdlePolicy>(
      impl_->core, call,
      [core = impl_->core, source = std::move(source)](const CallContext& inner) {
        return core->lifecycle().idle_policy(source, inner);
      },
      std::move(done));
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
    return recover_records(impl_->core, deployment, inner);
  });
}

Result<std::string> Cove::metrics(const CallContext& call) const {
  return run_blocking(*impl_->core, call,
                      [&](const CallContext& inner) { return read_metrics(impl_->core, inner); });
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

void Cove::list_async(std::string source, std::string after, std::uint32_t limit, CallContext call,
                      std::function<void(Result<RecordPage>)> done) const {
  run_async<RecordPage>(
      impl_->core, call,
      [core = impl_->core, source = std::move(source), after = std::move(after),
       limit](const CallContext& inner) { return list_records(core, source, after, limit, inner); },
      std::move(done));
}

Result<OrphanReport> Cove::orphans(const CallContext& call) const {
  return run_blocking(*impl_->core, call,
                      [&](const CallContext& inner) { return find_orphans(impl_->core, inner); });
}

void Cove::destroy_source_async(std::string source,
                                std::function<void(const SourceProgress& so_far)> progress,
                                CallContext call,
                                std::function<void(Result<std::uint32_t>)> done) const {
  run_async<std::uint32_t>(
      impl_->core, call,
      [core = impl_->core, source = std::move(source), progress = std::move(progress)](
          const CallContext& inner) { return destroy_source_of(core, source, progress, inner); },
      std::move(done));
}

void Cove::orphans_async(CallContext call, std::function<void(Result<OrphanReport>)> done) const {
  run_async<OrphanReport>(
      impl_->core, call,
      [core = impl_->core](const CallContext& inner) { return find_orphans(core, inner); },
      std::move(done));
}

void Cove::recover_async(DeploymentId deployment, CallContext call,
                         std::function<void(Result<RecoverReport>)> done) const {
  run_async<RecoverReport>(
      impl_->core, call,
      [core = impl_->core, deployment = std::move(deployment)](const CallContext& inner) {
        return recover_records(core, deployment, inner);
      },
      std::move(done));
}

void Cove::metrics_async(CallContext call, std::function<void(Result<std::string>)> done) const {
  run_async<std::string>(
      impl_->core, call,
      [core = impl_->core](const CallContext& inner) { return read_metrics(core, inner); },
      std::move(done));
}

void Cove::sweep_async(SweepOptions options, CallContext call,
                       std::function<void(Result<SweepReport>)> done) const {
  run_async<SweepReport>(
      impl_->core, call,
      [core = impl_->core, options = std::move(options)](const CallContext& inner) {
        return sweep_all(core, options, inner);
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

}  // namespace cove
