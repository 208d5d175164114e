/// `policy.proxy.allow` of the configuration: from JSON to rules and back.
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include <cove/grants/proxy_network.hpp>
#include <cove/result.hpp>

namespace cove::runtime {

/// Reads what the schema accepted: texts (`host`, `host:port`) and objects.
std::vector<grants::ProxyRule> read_proxy_rules(const nlohmann::json& allow);

/// The objects that say the same.
nlohmann::json write_proxy_rules(const std::vector<grants::ProxyRule>& rules);

/// kInvalidArgument: the host's network is granted too, or a rule is wrong; says which.
Result<void> check_proxy_network(const SandboxPolicy& policy);

}  // namespace cove::runtime
