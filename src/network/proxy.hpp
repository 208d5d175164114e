/// Proxy: the Egress of network `proxy`: an allow-list by name and port, names resolved here, and
/// only what was checked connected to. docs/network.md says every rule.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include <cove/clock.hpp>
#include <cove/egress.hpp>
#include <cove/grants/proxy_network.hpp>

#include "base/async/io_loop.hpp"
#include "network/resolver.hpp"
#include "network/rules/allow_list.hpp"

namespace cove::network {

struct ProxyLimits {
  std::size_t connections = 512;  ///< of all sandboxes at once, connecting ones included
  std::size_t of_sandbox = 128;   ///< of one sandbox
  Duration resolving = std::chrono::seconds(15);
  Duration connecting = std::chrono::seconds(10);  ///< to one address
  Duration opening = std::chrono::seconds(60);     ///< all of it
};

/// On the loop's thread only, but for its making and its end.
class Proxy final : public Egress {
 public:
  struct Parts {
    base::IoLoop& loop;
    const Clock& clock;
    Resolver::Lookup lookup = Resolver::ask_system;
  };

  /// kInvalidArgument: a rule is wrong; see AllowList::compile.
  static Result<std::unique_ptr<Proxy>> open(Parts parts, const grants::ProxyNetwork& network,
                                             const ProxyLimits& limits = {});
  ~Proxy() override;

  Task<Result<std::shared_ptr<EgressConnection>>> connect(const EgressRequest& request,
                                                          const CallContext& call) override;

  /// What else a sandbox may reach from now on, instead of what was named before: the mirrors of
  /// its last acquire.
  void name_targets(const SandboxId& sandbox, const std::vector<EgressTarget>& targets);

  /// Connects nobody any more, and waits until every connection is closed, as they are when their
  /// guests go. kTimeout: some are left.
  Task<Result<void>> close(const CallContext& call);

 private:
  struct Places;
  class Place;
  Proxy(Parts parts, AllowList rules, const ProxyLimits& limits);

  AllowList::Verdict judge(const SandboxId& sandbox, const CheckedTarget& target) const;
  bool may_reach(const SandboxId& sandbox, const IpAddress& address, std::uint16_t port,
                 AllowList::Verdict verdict) const;
  Result<std::shared_ptr<void>> take_place(const SandboxId& sandbox);
  Task<Result<std::vector<IpAddress>>> addresses_of(const SandboxId& sandbox,
                                                    const CheckedTarget& target,
                                                    AllowList::Verdict verdict,
                                                    const CallContext& call);
  CallContext bounded(const CallContext& call, Duration most) const;

  base::IoLoop& loop_;
  const Clock& clock_;
  const AllowList rules_;
  const ProxyLimits limits_;
  std::map<SandboxId, AllowList> named_;
  std::shared_ptr<Places> places_;
  Resolver resolver_;
};

}  // namespace cove::network
