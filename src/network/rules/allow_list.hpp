/// AllowList: which hosts and ports may be reached, compiled from rules. Pure, immutable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cove/egress.hpp>
#include <cove/grants/proxy_network.hpp>
#include <cove/result.hpp>

#include "network/rules/ip_address.hpp"

namespace cove::network {

/// A target as rules see it.
struct CheckedTarget {
  std::string name;  ///< in lower case, without a dot at its end; of an address its text
  std::optional<IpAddress> address;  ///< where the target is one
  std::uint16_t port = 0;
};

/// kInvalidArgument: it is neither an address nor a host name (RFC 1123, `_` allowed), or a name
/// that resolvers read as an address (`127.1`, `0x7f000001`).
Result<CheckedTarget> check_target(const EgressTarget& target);

class AllowList {
 public:
  /// Of nothing.
  AllowList() = default;

  /// kInvalidArgument names the rule by its place (`policy.proxy.allow[2]`) and what is wrong.
  static Result<AllowList> compile(const std::vector<grants::ProxyRule>& rules);

  /// What an operator named one by one: each host, as it is, with its port; names may have private
  /// addresses. What is no host is passed over.
  static AllowList of_named(const std::vector<EgressTarget>& targets);

  /// What is said of a name or an address before anything is resolved.
  enum class Verdict : std::uint8_t {
    kRefused,
    kPublic,   ///< at public addresses, and at those that a rule names
    kPrivate,  ///< at private ones too
  };
  Verdict judge(const CheckedTarget& target) const;

  /// Whether a rule names this address, or a range with it, with the port.
  bool names(const IpAddress& address, std::uint16_t port) const;

 private:
  enum class Form : std::uint8_t { kName, kBelow, kEvery, kRange };
  struct Rule {
    Form form = Form::kName;
    std::string name;
    IpRange range;
    std::vector<std::uint16_t> ports;
    bool is_private = false;
  };
  static Result<Rule> compile_one(const grants::ProxyRule& rule);
  static bool matches(const Rule& rule, const CheckedTarget& target);

  std::vector<Rule> rules_;
};

/// Whether an address may be connected to, given what was said of its name.
bool may_reach(const IpAddress& address, AllowList::Verdict verdict, bool is_named);

}  // namespace cove::network
