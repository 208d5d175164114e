#include "runtime/assembly/machinery.hpp"

#include <utility>

#include "base/async/spawn.hpp"
#include "runtime/assembly/disk_reserve.hpp"
#include "runtime/assembly/part_tools.hpp"
#include "runtime/assembly/registry.hpp"
#include "runtime/assembly/state_directory.hpp"
#include "runtime/config/config_check.hpp"

namespace cove::runtime {
namespace {

constexpr std::chrono::seconds kForOpening{60};
constexpr std::chrono::seconds kForLeases{5};

/// The host's part, else one that its maker makes, else the configuration's.
template <class Part>
Result<std::shared_ptr<Part>> choose(std::shared_ptr<Part> given, const PartMaker<Part>& maker,
                                     Result<std::shared_ptr<Part>> (*configured)(Machinery&),
                                     Machinery& made) {
  if (given) return given;
  return maker ? maker(made.tools) : configured(made);
}

Result<void> open_store_and_provider(Machinery& made, Parts parts) {
  COVE_TRY(made.metadata,
           choose(std::move(parts.metadata), parts.make_metadata, make_metadata, made));
  COVE_TRY(made.objects, choose(std::move(parts.objects), parts.make_objects, make_objects, made));
  COVE_TRY(made.provider,
           choose(std::move(parts.provider), parts.make_provider, make_provider, made));
  COVE_TRY(made.others, make_named_providers(made));
  for (std::shared_ptr<Provider>& brought : parts.others) {
    made.others.push_back({std::move(brought), made.config.policy});
  }
  return ok();
}

Result<void> open_egress(Machinery& made) {
  const grants::ProxyNetwork* network = made.config.policy.proxy_network();
  if (network == nullptr) return ok();
  COVE_TRY(made.egress, network::Proxy::open({*made.loop, made.clock}, *network));
  return ok();
}

Result<void> open_lifecycle(Machinery& made) {
  const CallContext call{.deadline = made.clock.now() + kForOpening, .stop = {}};
  LifecycleParts parts{*made.metadata,      *made.provider, *made.snapshotter, made.clock,
                       *made.loop,          made.ids,       *made.owners,      made.config.policy,
                       made.observer.get(), made.log.get()};
  for (const MadeProvider& other : made.others) {
    parts.others.push_back({*other.provider, other.policy});
  }
  COVE_TRY(made.lifecycle,
           base::sync_wait(*made.loop, LifecycleManager::open(parts, made.config.lifecycle, call)));
  return ok();
}

Result<void> fill(Machinery& made, Parts parts) {
  COVE_TRY(made.state_directory, open_state_directory(made.config.state_dir));
  const DiskReserve reserve(*made.state_directory);
  reserve.lend();
  COVE_TRY(made.owners, OwnerFiles::open(*made.state_directory, made.ids));
  made.loop = std::make_unique<base::IoLoop>(made.own_clock.get());
  made.blocking = std::make_unique<base::WorkerPool>(made.config.blocking_threads);
  made.tools = make_part_tools(*made.loop, made.clock, made.ids);
  COVE_TRY_VOID(open_egress(made));
  COVE_TRY_VOID(open_store_and_provider(made, std::move(parts)));
  made.snapshotter = make_snapshotter(made);
  COVE_TRY_VOID(open_lifecycle(made));
  reserve.restore();
  return ok();
}

/// What has sockets and timers on the loop goes on the loop.
Task<int> let_go_of_parts(Machinery& machinery) {
  if (machinery.lifecycle) {
    const CallContext call{.deadline = machinery.clock.now() + kForLeases, .stop = {}};
    co_await machinery.lifecycle->close(call);
  }
  machinery.lifecycle.reset();
  machinery.snapshotter.reset();
  machinery.others.clear();
  machinery.provider.reset();
  machinery.objects.reset();
  machinery.metadata.reset();
  if (machinery.egress) {
    // The guests went with the provider, and their connections to the outside go with them.
    const CallContext call{.deadline = machinery.clock.now() + kForLeases, .stop = {}};
    static_cast<void>(co_await machinery.egress->close(call));
  }
  co_return 0;
}

Task<int> nothing() { co_return 0; }

}  // namespace

Provider* Machinery::find_provider(const std::string& name) const {
  if (provider->name() == name) return provider.get();
  for (const MadeProvider& other : others) {
    if (other.provider->name() == name) return other.provider.get();
  }
  return nullptr;
}

Result<std::unique_ptr<Machinery>> assemble(Config config, Parts parts) {
  COVE_TRY_VOID(check_config(config));
  auto made = std::make_unique<Machinery>(std::move(parts.clock));
  made->config = std::move(config);
  made->log = std::move(parts.log);
  made->observer = std::move(parts.observer);
  const Result<void> filled = fill(*made, std::move(parts));
  if (filled) return made;
  dismantle(*made);
  return filled.error();
}

void dismantle(Machinery& machinery) {
  if (machinery.loop) {
    base::sync_wait(*machinery.loop, let_go_of_parts(machinery));
    // What the parts posted when they went runs before the loop ends.
    base::sync_wait(*machinery.loop, nothing());
  }
  machinery.blocking.reset();
  if (machinery.loop) {
    base::sync_wait(*machinery.loop, nothing());
    // Stopped but kept: handles ask it whether they are on its thread.
    machinery.loop->stop(std::chrono::hours(1));
  }
  machinery.owners.reset();
}

}  // namespace cove::runtime
