#include "network/proxy.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/async/completion.hpp"
#include "base/text/display_text.hpp"
#include "network/outbound.hpp"

namespace cove::network {
namespace {

constexpr unsigned kResolverThreads = 4;
constexpr std::size_t kMostTries = 6;  // of addresses of one name

std::string shown(const CheckedTarget& target) {
  const bool is_v6 = target.address && !target.address->is_v4();
  return (is_v6 ? "[" + target.name + "]" : target.name) + ":" + std::to_string(target.port);
}

Error not_listed(const CheckedTarget& target) {
  return {ErrorCode::kPermissionDenied,
          shown(target) +
              " is not in the allow-list (policy.proxy.allow); ask whoever runs this application "
              "to add it"};
}

Error at_wrong_address(const CheckedTarget& target, const IpAddress& address) {
  const AddressKind kind = kind_of(address);
  const std::string fact =
      shown(target) + " has a " + name_of(kind) + " address, which the allow-list does not name";
  if (kind == AddressKind::kMetadata || kind == AddressKind::kNever) {
    return {ErrorCode::kPermissionDenied, fact + " (policy.proxy.allow)"};
  }
  return {ErrorCode::kPermissionDenied,
          fact + " (policy.proxy.allow: a rule for the address, or \"private\": true)"};
}

}  // namespace

/// How many connections there are, counted where they outlive the proxy too.
struct Proxy::Places {
  std::size_t all = 0;
  std::map<SandboxId, std::size_t> of_sandbox;
  bool closed = false;
  std::shared_ptr<base::Completion<Result<void>>> emptied;
};

class Proxy::Place {
 public:
  Place(std::shared_ptr<Places> places, SandboxId sandbox)
      : places_(std::move(places)), sandbox_(std::move(sandbox)) {
    ++places_->all;
    ++places_->of_sandbox[sandbox_];
  }
  ~Place() {
    const auto mine = places_->of_sandbox.find(sandbox_);
    if (--mine->second == 0) places_->of_sandbox.erase(mine);
    if (--places_->all == 0 && places_->emptied) places_->emptied->complete(ok());
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

 private:
  std::shared_ptr<Places> places_;
  SandboxId sandbox_;
};

Result<std::unique_ptr<Proxy>> Proxy::open(Parts parts, const grants::ProxyNetwork& network,
                                           const ProxyLimits& limits) {
  COVE_TRY(AllowList rules, AllowList::compile(network.allow));
  return std::unique_ptr<Proxy>(new Proxy(std::move(parts), std::move(rules), limits));
}

Proxy::Proxy(Parts parts, AllowList rules, const ProxyLimits& limits)
    : loop_(parts.loop),
      clock_(parts.clock),
      rules_(std::move(rules)),
      limits_(limits),
      places_(std::make_shared<Places>()),
      resolver_(parts.loop, std::move(parts.lookup), kResolverThreads) {}

Proxy::~Proxy() = default;

CallContext Proxy::bounded(const CallContext& call, Duration most) const {
  const Instant bound = clock_.now() + most;
  CallContext inner = call;
  if (!inner.deadline || *inner.deadline > bound) inner.deadline = bound;
  return inner;
}

AllowList::Verdict Proxy::judge(const SandboxId& sandbox, const CheckedTarget& target) const {
  const auto named = named_.find(sandbox);
  const AllowList::Verdict verdict = rules_.judge(target);
  return named == named_.end() ? verdict : std::max(verdict, named->second.judge(target));
}

bool Proxy::may_reach(const SandboxId& sandbox, const IpAddress& address, std::uint16_t port,
                      AllowList::Verdict verdict) const {
  const auto named = named_.find(sandbox);
  const bool is_named =
      rules_.names(address, port) || (named != named_.end() && named->second.names(address, port));
  return network::may_reach(address, verdict, is_named);
}

void Proxy::name_targets(const SandboxId& sandbox, const std::vector<EgressTarget>& targets) {
  if (targets.empty()) {
    named_.erase(sandbox);
    return;
  }
  named_.insert_or_assign(sandbox, AllowList::of_named(targets));
}

Result<std::shared_ptr<void>> Proxy::take_place(const SandboxId& sandbox) {
  if (places_->closed) return Error(ErrorCode::kUnavailable, "the host application is closing");
  if (places_->all >= limits_.connections) {
    return Error(ErrorCode::kQuotaExceeded, "the host application has " +
                                                std::to_string(places_->all) +
                                                " connections open already; try again later");
  }
  const auto mine = places_->of_sandbox.find(sandbox);
  if (mine != places_->of_sandbox.end() && mine->second >= limits_.of_sandbox) {
    return Error(ErrorCode::kQuotaExceeded,
                 "this sandbox has " + std::to_string(mine->second) + " connections open already");
  }
  return std::shared_ptr<void>(std::make_shared<Place>(places_, sandbox));
}

/// The addresses that may be connected to; never an empty list.
Task<Result<std::vector<IpAddress>>> Proxy::addresses_of(const SandboxId& sandbox,
                                                         const CheckedTarget& target,
                                                         AllowList::Verdict verdict,
                                                         const CallContext& call) {
  std::vector<IpAddress> found;
  if (target.address) {
    found.push_back(*target.address);
  } else {
    const CallContext inner = bounded(call, limits_.resolving);
    COVE_CO_TRY(found, co_await resolver_.resolve(target.name, inner));
  }
  const IpAddress first = found.front();
  std::erase_if(found, [&](const IpAddress& address) {
    return !may_reach(sandbox, address, target.port, verdict);
  });
  if (found.empty()) co_return at_wrong_address(target, first);
  if (found.size() > kMostTries) found.resize(kMostTries);
  co_return found;
}

Task<Result<std::shared_ptr<EgressConnection>>> Proxy::connect(const EgressRequest& request,
                                                               const CallContext& call) {
  const CallContext whole = bounded(call, limits_.opening);
  COVE_CO_TRY(const CheckedTarget target, check_target(request.target));
  // The name is judged before anybody is asked for it: a question to a name server says something.
  const AllowList::Verdict verdict = judge(request.sandbox, target);
  if (verdict == AllowList::Verdict::kRefused) co_return not_listed(target);
  COVE_CO_TRY(const std::shared_ptr<void> place, take_place(request.sandbox));
  COVE_CO_TRY(const std::vector<IpAddress> addresses,
              co_await addresses_of(request.sandbox, target, verdict, whole));
  Error last(ErrorCode::kUnavailable, "nobody was asked");
  for (const IpAddress& address : addresses) {
    const CallContext inner = bounded(whole, limits_.connecting);
    Result<std::shared_ptr<EgressConnection>> opened =
        co_await connect_to(loop_, address, target.port, place, inner);
    if (opened) co_return opened;
    last = opened.error();
    if (last.code() == ErrorCode::kCancelled) co_return last;
  }
  if (last.code() == ErrorCode::kTimeout) {
    co_return Error(ErrorCode::kTimeout, shown(target) + " did not answer in time");
  }
  co_return Error(last.code(), shown(target) + " cannot be reached: " + last.message());
}

Task<Result<void>> Proxy::close(const CallContext& call) {
  places_->closed = true;
  if (places_->all == 0) co_return ok();
  places_->emptied = base::Completion<Result<void>>::make(loop_);
  co_return co_await base::wait_bounded<void>(places_->emptied, loop_, call);
}

}  // namespace cove::network
