#include "parts/provider.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "parts/references.hpp"

namespace cove::capi {
namespace {

using namespace std::chrono_literals;
using Slots = cove_provider;

constexpr Duration kAgentAnswer = 20s;  ///< from the connection to the agent's greeting

/// A volume that the host opened. It keeps what calls its slot.
class HostVolume final : public OfflineVolume {
 public:
  HostVolume(std::shared_ptr<Part> part, GivenPtr<cove_offline_volume> given)
      : part_(std::move(part)), given_(std::move(given)) {}

  int workspace() const override { return given_->slots.directory; }

  int home() const override {
    const cove_offline_volume& slots = given_->slots;
    return (slots.flags & COVE_VOLUME_HOME) != 0 ? slots.home : -1;
  }

  IdMapping ids() const override {
    const cove_offline_volume& slots = given_->slots;
    return {slots.id_offset, slots.id_count, (slots.flags & COVE_VOLUME_ONE_USER) != 0};
  }

  Task<Result<void>> sync(const CallContext& call) override {
    AskHost ask = [given = given_](cove_done* done) { given->slots.sync(given->user.get(), done); };
    Task<Result<void>> answer = part_->tell("sync", std::move(ask), call);
    co_return co_await answer;
  }

 private:
  const std::shared_ptr<Part> part_;
  const GivenPtr<cove_offline_volume> given_;
};

class HostProvider final : public Provider {
 public:
  HostProvider(GivenPtr<Slots> given, ProviderNames names, PartRuntime runtime, unsigned threads)
      : given_(std::move(given)),
        name_(std::move(names.name)),
        node_(std::move(names.node)),
        part_(std::make_shared<Part>("provider", std::move(runtime), threads)) {}

  std::string_view name() const override { return name_; }
  NodeId node() const override { return node_; }
  ProviderCapabilities capabilities() const override {
    return {.offline_volume = given_->slots.open_volume != nullptr,
            .limits = (given_->slots.flags & COVE_PROVIDER_LIMITS) != 0};
  }

  Task<Result<void>> create_volume(const VolumeRef& volume, const CallContext& call) override {
    AskHost ask = about(&Slots::create_volume, std::make_shared<GivenRef>(volume));
    Task<Result<void>> answer = part_->tell("create_volume", std::move(ask), call);
    co_return co_await answer;
  }

  Task<Result<void>> delete_volume(const VolumeRef& volume, const CallContext& call) override {
    guests_.erase(volume);
    AskHost ask = about(&Slots::delete_volume, std::make_shared<GivenRef>(volume));
    Task<Result<void>> answer = part_->tell("delete_volume", std::move(ask), call);
    co_return co_await answer;
  }

  Task<Result<std::unique_ptr<OfflineVolume>>> open_volume(const VolumeRef& volume,
                                                           VolumeAccess /*access*/,
                                                           const CallContext& call) override {
    if (given_->slots.open_volume == nullptr) {
      co_return Error(ErrorCode::kUnsupported,
                      "provider '" + name_ + "' cannot open a volume while nothing runs on it");
    }
    AskHost ask = about(&Slots::open_volume, std::make_shared<GivenRef>(volume));
    using Opened = GivenPtr<cove_offline_volume>;
    Task<Result<Opened>> answer = part_->ask<Opened>("open_volume", std::move(ask), call);
    COVE_CO_TRY(Opened opened, co_await answer);
    co_return std::make_unique<HostVolume>(part_, std::move(opened));
  }

  Task<Result<void>> start_instance(const InstanceRef& instance, const SandboxPolicy& policy,
                                    const CallContext& call) override {
    AskHost ask = [given = given_, ref = std::make_shared<GivenRef>(instance),
                   json = policy_json(policy)](cove_done* done) {
      given->slots.start_instance(given->user.get(), &ref->view(), json.c_str(), done);
    };
    Task<Result<void>> answer = part_->tell("start_instance", std::move(ask), call);
    COVE_CO_TRY_VOID(co_await answer);
    // It counts as started when its guest answers.
    COVE_CO_TRY(const std::shared_ptr<Guest> guest, co_await connect(instance, call));
    const CallContext limited = bounded(call);
    const Result<GuestStatus> status = co_await guest->status(limited);
    if (status) co_return ok();
    guests_.erase(instance.volume);
    co_return status.error();
  }

  Task<Result<void>> stop_instance(const InstanceRef& instance, const CallContext& call) override {
    const auto cached = guests_.find(instance.volume);
    if (cached != guests_.end() && cached->second.epoch <= instance.epoch) guests_.erase(cached);
    AskHost ask = about(&Slots::stop_instance, std::make_shared<GivenRef>(instance));
    Task<Result<void>> answer = part_->tell("stop_instance", std::move(ask), call);
    co_return co_await answer;
  }

  Task<Result<InstanceStatus>> inspect(const InstanceRef& instance,
                                       const CallContext& call) override {
    AskHost ask = about(&Slots::inspect, std::make_shared<GivenRef>(instance));
    Task<Result<InstanceStatus>> answer =
        part_->ask<InstanceStatus>("inspect", std::move(ask), call);
    co_return co_await answer;
  }

  Task<Result<std::shared_ptr<Guest>>> connect(const InstanceRef& instance,
                                               const CallContext& call) override {
    if (auto guest = cached_guest(instance)) co_return guest;
    AskHost ask = about(&Slots::connect, std::make_shared<GivenRef>(instance));
    Task<Result<base::UniqueFd>> answer =
        part_->ask<base::UniqueFd>("connect", std::move(ask), call);
    COVE_CO_TRY(base::UniqueFd socket, co_await answer);
    // Of calls that come together all but one connect in vain: their sockets go.
    if (auto guest = cached_guest(instance)) co_return guest;
    const CallContext limited = bounded(call);
    Task<Result<std::shared_ptr<Guest>>> reaching =
        part_->tools().reach_agent(socket.release(), instance, limited);
    COVE_CO_TRY(std::shared_ptr<Guest> reached, co_await reaching);
    guests_.insert_or_assign(instance.volume, CachedGuest{instance.epoch, reached});
    co_return reached;
  }

  Task<Result<ProviderInventory>> list(const DeploymentId& deployment,
                                       const CallContext& call) override {
    AskHost ask = [given = given_, name = deployment.str()](cove_done* done) {
      given->slots.list(given->user.get(), name.c_str(), done);
    };
    Task<Result<ProviderInventory>> answer =
        part_->ask<ProviderInventory>("list", std::move(ask), call);
    COVE_CO_TRY(ProviderInventory found, co_await answer);
    const auto is_foreign = [&](const VolumeRef& volume) {
      return volume.deployment != deployment;
    };
    std::erase_if(found.volumes, is_foreign);
    std::erase_if(found.instances, [&](const InstanceRef& one) { return is_foreign(one.volume); });
    std::erase(found.others, deployment);
    co_return found;
  }

 private:
  struct CachedGuest {
    Epoch epoch{};
    std::shared_ptr<Guest> guest;
  };

  /// Asks a slot that is given a volume or an instance and nothing else.
  AskHost about(cove_instance_fn Slots::* slot, std::shared_ptr<const GivenRef> ref) const {
    return [given = given_, slot, ref = std::move(ref)](cove_done* done) {
      (given->slots.*slot)(given->user.get(), &ref->view(), done);
    };
  }

  CallContext bounded(const CallContext& call) const {
    CallContext limited = call;
    const Instant bound = part_->tools().clock().now() + kAgentAnswer;
    if (!limited.deadline || *limited.deadline > bound) limited.deadline = bound;
    return limited;
  }

  std::shared_ptr<Guest> cached_guest(const InstanceRef& instance) {
    const auto found = guests_.find(instance.volume);
    if (found == guests_.end() || found->second.epoch != instance.epoch) return nullptr;
    if (part_->tools().is_connected(*found->second.guest)) return found->second.guest;
    guests_.erase(found);
    return nullptr;
  }

  const GivenPtr<Slots> given_;
  const std::string name_;
  const NodeId node_;
  const std::shared_ptr<Part> part_;         // ends before: nothing calls a slot any more
  std::map<VolumeRef, CachedGuest> guests_;  // on the scheduler
};

bool is_provider_name(std::string_view name) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz";
  constexpr std::string_view kRest = "abcdefghijklmnopqrstuvwxyz0123456789_-";
  constexpr std::size_t kMost = 32;
  return !name.empty() && name.size() <= kMost &&
         kLetters.find(name.front()) != std::string_view::npos &&
         name.find_first_not_of(kRest) == std::string_view::npos;
}

}  // namespace

Result<void> check_given(const cove_provider& slots) {
  constexpr const char* kName = "cove_provider";
  COVE_TRY_VOID(read_threads(slots.flags, COVE_PROVIDER_LIMITS, slots.threads, kName));
  COVE_TRY_VOID(check_flags(slots.reserved0, 0, "cove_provider.reserved0"));
  COVE_TRY_VOID(require(slots.name, "cove_provider.name"));
  if (!is_provider_name(slots.name) || std::strcmp(slots.name, "local") == 0) {
    return Error(ErrorCode::kInvalidArgument,
                 "cove_provider.name '" + std::string(slots.name) +
                     "' is not [a-z][a-z0-9_-]{0,31}, or is Cove's own");
  }
  COVE_TRY_VOID(require_slot(slots.create_volume, kName, "create_volume"));
  COVE_TRY_VOID(require_slot(slots.delete_volume, kName, "delete_volume"));
  COVE_TRY_VOID(require_slot(slots.start_instance, kName, "start_instance"));
  COVE_TRY_VOID(require_slot(slots.stop_instance, kName, "stop_instance"));
  COVE_TRY_VOID(require_slot(slots.inspect, kName, "inspect"));
  COVE_TRY_VOID(require_slot(slots.connect, kName, "connect"));
  return require_slot(slots.list, kName, "list");
}

std::shared_ptr<Provider> make_host_provider(GivenPtr<cove_provider> given, ProviderNames names,
                                             PartRuntime runtime) {
  const Slots& slots = given->slots;
  const unsigned threads =
      read_threads(slots.flags, COVE_PROVIDER_LIMITS, slots.threads, "cove_provider").value_or(0);
  return std::make_shared<HostProvider>(std::move(given), std::move(names), std::move(runtime),
                                        threads);
}

}  // namespace cove::capi
