#include "base/values/proxy_exceptions.hpp"

#include <algorithm>

namespace cove::base {

std::string proxy_exceptions(const std::vector<std::string>& hosts) {
  const auto has = [&](auto&& is_meant) {
    return std::any_of(hosts.begin(), hosts.end(), is_meant);
  };
  std::string list;
  const auto add = [&](const char* name) { list += (list.empty() ? "" : ",") + std::string(name); };
  if (!has([](const std::string& host) { return host == "localhost"; })) add("localhost");
  if (!has([](const std::string& host) { return host.starts_with("127."); })) add("127.0.0.1");
  if (!has([](const std::string& host) { return host == "::1" || host == "[::1]"; })) add("::1");
  return list;
}

}  // namespace cove::base
