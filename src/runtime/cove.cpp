#include <utility>

#include <cove/cove.hpp>

#include "client/guest_link.hpp"
#include "runtime/core.hpp"
#include "runtime/cove_impl.hpp"
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

Task<Result<void>> remove_session_of(std::shared_ptr<Core> core, WorkspaceKey key,
                                     AcquireOptions options, const CallContext& call) {
  COVE_CO_TRY(const Place chat, place_of(key, options));
  if (chat.session.empty()) {
    co_return Error(ErrorCode::kInvalidArgument, "the chat id is empty: whose session?");
  }
  const SandboxId sandbox = options.sandbox.empty() ? sandbox_id_of(key) : options.sandbox;
  COVE_CO_TRY(const std::shared_ptr<runtime::Seat> seat,
              co_await core->seats().take(sandbox, call));
  Place whole{std::move(key), ""};
  const auto holder = std::make_shared<Holder>(core, seat, std::move(whole));
  COVE_CO_TRY(const runtime::BroughtUp up,
              co_await runtime::bring_up(*core, *seat, holder->place(), call));
  const GuestPath path{"", chat.session};
  const Result<void> removed = co_await up.guest->remove(path, true, call);
  seat->sessions.erase(chat.session);
  if (!removed && removed.error().code() == ErrorCode::kNotFound) co_return ok();
  co_return removed;
}

/// After the state was changed from here, nothing that was known of the guest counts.
void doubt(Core& core, const SandboxId& sandbox) {
  if (const auto seat = core.seats().find(sandbox)) seat->doubt();
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

Task<Result<Record>> find_record(std::shared_ptr<Core> core, SandboxId sandbox,
                                 const CallContext& call) {
  co_return co_await core->lifecycle().find(sandbox, call);
}

Task<Result<RecordPage>> list_records(std::shared_ptr<Core> core, std::string source,
                                      std::string after, std::uint32_t limit,
                                      const CallContext& call) {
  co_return co_await core->lifecycle().list(source, after, limit, call);
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

Result<void> Cove::remove_session(const WorkspaceKey& key, const AcquireOptions& options,
                                  const CallContext& call) const {
  return run_blocking(*impl_->core, call, [&](const CallContext& inner) {
    return remove_session_of(impl_->core, key, options, inner);
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
