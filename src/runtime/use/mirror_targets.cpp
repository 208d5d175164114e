#include "runtime/use/mirror_targets.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/values/proxy_exceptions.hpp"

namespace cove::runtime {
namespace {

constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;

std::optional<EgressTarget> target_of(std::string_view url) {
  const bool is_https = url.starts_with("https://");
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return std::nullopt;
  std::string_view authority = url.substr(scheme + 3);
  authority = authority.substr(0, authority.find_first_of("/?#"));
  authority.remove_prefix(authority.rfind('@') + 1);  // npos + 1 is 0
  const std::size_t bracket = authority.find(']');
  const std::size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  std::string_view host = authority.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  EgressTarget target{std::string(host), is_https ? kHttpsPort : kHttpPort};
  if (colon == std::string_view::npos || colon + 1 == authority.size()) return target;
  const std::string_view digits = authority.substr(colon + 1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), target.port);
  if (error != std::errc() || end != digits.data() + digits.size() || target.port == 0) {
    return std::nullopt;
  }
  return target;
}

}  // namespace

std::vector<EgressTarget> mirror_targets(const Mirrors& mirrors) {
  std::vector<EgressTarget> targets;
  for (const std::string* url : {&mirrors.npm, &mirrors.pypi, &mirrors.apt, &mirrors.go,
                                 &mirrors.cargo, &mirrors.maven, &mirrors.rubygems}) {
    auto target = target_of(*url);
    const bool is_new =
        target && std::find(targets.begin(), targets.end(), *target) == targets.end();
    if (is_new) targets.push_back(*std::move(target));
  }
  return targets;
}

void reach_through_proxy(const std::vector<EgressTarget>& targets,
                         PrepareEnvironment& environment) {
  std::vector<std::string> hosts;
  for (const EgressTarget& target : targets) hosts.push_back(target.host);
  const std::string exceptions = base::proxy_exceptions(hosts);
  if (exceptions == base::proxy_exceptions({})) return;
  for (const char* name : {"no_proxy", "NO_PROXY"}) {
    if (!environment.secrets.contains(name)) environment.variables.try_emplace(name, exceptions);
  }
}

}  // namespace cove::runtime
