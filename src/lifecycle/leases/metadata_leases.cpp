#include "lifecycle/leases/metadata_leases.hpp"

#include <algorithm>
#include <utility>

#include "base/async/timing.hpp"
#include "base/system/system_clock.hpp"
#include "lifecycle/leases/lease_hold.hpp"

namespace cove::lifecycle {
namespace {

using namespace std::chrono_literals;

constexpr auto kFirstPause = 5ms;
constexpr std::chrono::milliseconds kLongestPause = 200ms;
constexpr int kMostFailures = 10;  // of the store, one after another
constexpr std::size_t kMaxName = 512;

Result<void> check_name(const std::string& name) {
  const bool good = !name.empty() && name.size() <= kMaxName && name.find('\0') == name.npos;
  if (good) return {};
  return Error(ErrorCode::kInvalidArgument, "a lease's name must be 1 to 512 bytes, none NUL");
}

/// One wait for a lease, from its ticket to its holding.
class Waiting {
 public:
  Waiting(std::shared_ptr<LeaseWorld> world, std::string name)
      : world_(std::move(world)),
        name_(std::move(name)),
        id_(base::random_name(world_->parts.ids)) {}

  /// Returns what it took, and since when it counts.
  Task<Result<std::pair<LeaseDocument, Instant>>> run(const CallContext& call) {
    for (;;) {
      const auto turned = co_await turn(call);
      if (!turned && !may_retry(turned.error())) {
        co_return turned.error().with_context("waited for", what_);
      }
      if (turned && *turned) {
        if (world_->parts.clock.now() < sent_ + world_->parts.length * 2 / 3) {
          co_return std::pair(**turned, sent_);
        }
        co_await withdraw();  // the answer took so long that it is lost already
      }
      if (turned) failures_ = 0;
      const auto paused = co_await pause(call);
      if (!paused) co_return paused.error().with_context("waited for", what_);
    }
  }

  /// Takes its ticket back, or the lease where it was taken without an answer.
  Task<void> withdraw() {
    const CallContext call{world_->parts.clock.now() + world_->parts.length, {}};
    // What stays ends by its expiry.
    static_cast<void>(co_await world_->store.withdraw(name_, id_, call));
  }

 private:
  using Taken = std::optional<LeaseDocument>;

  /// Looks once; takes it where that is possible, else sees to its ticket.
  Task<Result<Taken>> turn(const CallContext& call) {
    const Instant asked = world_->parts.clock.now();
    COVE_CO_TRY(const StoreTime now, co_await world_->store.now(call));
    COVE_CO_TRY(StoredLease known, co_await world_->store.load(name_, call));
    // A swap whose answer was lost had been done.
    if (known.document.holder == id_) co_return Taken(std::move(known.document));
    const LeaseAsker asker = asker_at(now);
    Taken next = take(known.document, asker);
    const bool takes = next.has_value();
    if (!takes) {
      describe(known.document);
      COVE_CO_TRY(next, queue_up(known.document, asker, deadline_at(now, asked, call)));
    }
    if (!next) co_return Taken();
    if (takes) sent_ = asked;
    const LeaseDocument wanted = *next;
    const auto durability = takes ? Durability::kDurable : Durability::kRelaxed;
    COVE_CO_TRY_VOID(co_await world_->store.replace(std::move(known), wanted, durability, call));
    if (takes) co_return Taken(wanted);
    co_return Taken();
  }

  LeaseAsker asker_at(StoreTime now) const {
    const OwnerRegistry& owners = world_->parts.owners;
    return LeaseAsker{id_, owners.self(), now, world_->parts.length,
                      [&owners](const OwnerId& owner) { return owners.certainly_dead(owner); }};
  }

  static std::optional<StoreTime> deadline_at(StoreTime now, Instant asked,
                                              const CallContext& call) {
    if (!call.deadline) return std::nullopt;
    return now + std::chrono::ceil<std::chrono::milliseconds>(*call.deadline - asked);
  }

  void describe(const LeaseDocument& document) {
    what_ = "lease '" + name_ + "', held by " +
            (document.holder.empty() ? "nobody, with others before" : document.owner.str());
  }

  bool may_retry(const Error& error) {
    if (error.code() == ErrorCode::kConflict) return true;
    const bool store_is_away =
        error.code() == ErrorCode::kUnavailable && !error.retry_after().has_value();
    return store_is_away && ++failures_ < kMostFailures;
  }

  Task<Result<void>> pause(const CallContext& call) {
    const Instant when = world_->parts.clock.now() + pause_;
    pause_ = std::min<std::chrono::milliseconds>(pause_ * 2, kLongestPause);
    co_return co_await base::sleep_until(world_->parts.scheduler, when, call);
  }

  std::shared_ptr<LeaseWorld> world_;
  std::string name_;
  LeaseHoldId id_;
  std::string what_ = "the metadata store";
  Instant sent_{};
  int failures_ = 0;
  std::chrono::milliseconds pause_{kFirstPause};
};

Task<void> withdraw_beside(std::shared_ptr<Waiting> waiting, std::shared_ptr<Gates::Hold> turn) {
  co_await waiting->withdraw();
  turn.reset();
}

class MetadataLeases final : public Leases {
 public:
  explicit MetadataLeases(LeaseParts parts)
      : world_(std::make_shared<LeaseWorld>(std::move(parts))) {}

  Task<Result<std::unique_ptr<Lease>>> acquire(const std::string& name,
                                               const CallContext& call) override {
    const auto world = world_;
    COVE_CO_TRY_VOID(check_name(name));
    COVE_CO_TRY_VOID(call.check(world->parts.clock));
    const std::string own_name = name;
    COVE_CO_TRY(auto turn, co_await world->gates.enter(own_name, Urgency::kCanWait, call));
    const auto waiting = std::make_shared<Waiting>(world, own_name);
    const auto taken = co_await waiting->run(call);
    if (!taken) {
      world->parts.beside(withdraw_beside(waiting, std::move(turn)));
      co_return taken.error();
    }
    std::unique_ptr<Lease> lease =
        std::make_unique<LeaseHold>(world, taken->first, taken->second, std::move(turn));
    co_return lease;
  }

  Task<Result<std::optional<LeaseStatus>>> find(const std::string& name,
                                                const CallContext& call) override {
    const auto world = world_;
    COVE_CO_TRY_VOID(check_name(name));
    COVE_CO_TRY(const StoreTime now, co_await world->store.now(call));
    COVE_CO_TRY(const StoredLease known, co_await world->store.load(name, call));
    if (!known.version) co_return std::optional<LeaseStatus>();
    LeaseStatus status;
    status.token = known.document.token;
    if (!known.document.holder.empty() && known.document.expires_at >= now) {
      status.holder = known.document.owner;
      status.expires_at = known.document.expires_at;
    }
    for (const LeaseTicket& ticket : known.document.waiters) {
      if (ticket.until > now) status.waiting.push_back(ticket.owner);
    }
    co_return std::optional<LeaseStatus>(std::move(status));
  }

 private:
  std::shared_ptr<LeaseWorld> world_;
};

}  // namespace

std::unique_ptr<Leases> make_metadata_leases(LeaseParts parts) {
  return std::make_unique<MetadataLeases>(std::move(parts));
}

}  // namespace cove::lifecycle
