#include "runtime/config/proxy_rules.hpp"

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "network/rules/allow_list.hpp"

namespace cove::runtime {
namespace {

using nlohmann::json;

/// `host` or `host:port`; an IPv6 address with a port stands in brackets.
grants::ProxyRule rule_of(const std::string& text) {
  grants::ProxyRule rule;
  rule.host = text;
  const std::size_t colon = text.rfind(':');
  const bool is_v6 = text.find(':') != colon && !text.starts_with('[');
  const bool in_brackets = text.ends_with(']');
  if (colon == std::string::npos || is_v6 || in_brackets) return rule;
  std::uint16_t port = 0;  // stays where the number is none: the rule is then refused for its host
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data() + colon + 1, last, port);
  if (error != std::errc() || end != last) return rule;
  rule.host = text.substr(0, colon);
  rule.ports = {port};
  return rule;
}

}  // namespace

std::vector<grants::ProxyRule> read_proxy_rules(const json& allow) {
  std::vector<grants::ProxyRule> rules;
  for (const json& entry : allow) {
    if (entry.is_string()) {
      rules.push_back(rule_of(entry.get<std::string>()));
      continue;
    }
    grants::ProxyRule rule;
    rule.host = entry.at("host").get<std::string>();
    if (entry.contains("ports")) rule.ports = entry["ports"].get<std::vector<std::uint16_t>>();
    rule.private_addresses = entry.value("private", false);
    rules.push_back(std::move(rule));
  }
  return rules;
}

json write_proxy_rules(const std::vector<grants::ProxyRule>& rules) {
  json allow = json::array();
  for (const grants::ProxyRule& rule : rules) {
    allow.push_back(
        {{"host", rule.host}, {"ports", rule.ports}, {"private", rule.private_addresses}});
  }
  return allow;
}

Result<void> check_proxy_network(const SandboxPolicy& policy) {
  const grants::ProxyNetwork* proxy = policy.proxy_network();
  if (proxy == nullptr) return ok();
  if (policy.has_host_network()) {
    return Error(ErrorCode::kInvalidArgument,
                 "policy.network must be proxy or host, not both: with the host's network nothing "
                 "needs the proxy");
  }
  const auto compiled = network::AllowList::compile(proxy->allow);
  return compiled ? ok() : Result<void>(compiled.error());
}

}  // namespace cove::runtime
