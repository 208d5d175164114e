// Network `proxy` in the configuration, and what an acquire's mirrors mean for it.
#include <catch2/catch.hpp>

#include <cove/config.hpp>
#include <cove/grants/host_network.hpp>
#include <cove/grants/proxy_network.hpp>

#include "base/values/proxy_exceptions.hpp"
#include "runtime/config/config_check.hpp"
#include "runtime/use/mirror_targets.hpp"

using namespace cove;

namespace {

Result<Config> parse(const std::string& policy) {
  return parse_config(R"({"state_dir": "/s", "policy": )" + policy + "}");
}

std::string message_of(const std::string& policy) {
  const auto config = parse(policy);
  REQUIRE_FALSE(config);
  CHECK(config.error().code() == ErrorCode::kInvalidArgument);
  return config.error().message();
}

}  // namespace

TEST_CASE("parse_config: policy.proxy takes texts and objects", "[unit][runtime][proxy]") {
  const auto config = parse(R"({"network": "proxy", "proxy": {"allow": [
      "pypi.org", "nexus.corp:8081", "fd00::/8", "[::1]:80", "10.0.0.0/8:9090",
      {"host": "*.example.org"}, {"host": "git.corp", "ports": [22, 443], "private": true}]}})");
  REQUIRE(config);
  REQUIRE(config->policy.proxy_network() != nullptr);
  using grants::ProxyRule;
  CHECK(config->policy.proxy_network()->allow ==
        std::vector<ProxyRule>{{"pypi.org", {80, 443}, false},
                               {"nexus.corp", {8081}, false},
                               {"fd00::/8", {80, 443}, false},
                               {"[::1]", {80}, false},
                               {"10.0.0.0/8", {9090}, false},
                               {"*.example.org", {80, 443}, false},
                               {"git.corp", {22, 443}, true}});
  CHECK_FALSE(config->policy.has_host_network());
  CHECK(runtime::check_config(*config));
}

TEST_CASE("parse_config: network proxy needs no list; a list needs network proxy",
          "[unit][runtime][proxy]") {
  const auto config = parse(R"({"network": "proxy"})");
  REQUIRE(config);
  REQUIRE(config->policy.proxy_network() != nullptr);
  CHECK(config->policy.proxy_network()->allow.empty());
  CHECK(parse(R"({"network": "none"})")->policy.proxy_network() == nullptr);
  CHECK(message_of(R"({"proxy": {"allow": ["a.org"]}})") ==
        "policy.proxy has a meaning only where policy.network is \"proxy\"");
}

TEST_CASE("parse_config: a wrong rule of policy.proxy is named", "[unit][runtime][proxy]") {
  const auto with = [](const std::string& rule) {
    return message_of(R"({"network": "proxy", "proxy": {"allow": ["a.org", )" + rule + "]}}");
  };
  CHECK_THAT(with(R"("http://x.org")"),
             Catch::StartsWith("policy.proxy.allow[1]: host must be a name"));
  CHECK_THAT(with(R"("x.org:0")"), Catch::StartsWith("policy.proxy.allow[1]: ports must be"));
  CHECK_THAT(with(R"("x.org:http")"), Catch::StartsWith("policy.proxy.allow[1]: host must be"));
  CHECK(with("5") == "policy.proxy.allow[1] must be a text or an object, not 5");
  CHECK(with(R"({"hots": "x"})") ==
        "policy.proxy.allow[1].hots is not a key; known there: host, ports, private; "
        "policy.proxy.allow[1].host is missing; it must be a text of at least one character");
  CHECK_THAT(with(R"({"host": "x", "ports": [70000]})"),
             Catch::Contains("policy.proxy.allow[1].ports[0] must be an integer from 1 to 65535"));
  CHECK_THAT(with(R"({"host": "x", "ports": []})"),
             Catch::Contains("policy.proxy.allow[1].ports must be an array of 1 to 100 integers"));
  CHECK_THAT(with(R"({"host": "x", "private": 1})"), Catch::Contains("must be true or false"));
}

TEST_CASE("check_config: the host's network and the proxy are not granted together",
          "[unit][runtime][proxy]") {
  Config config;
  config.state_dir = "/s";
  config.policy.allow(grants::ProxyNetwork{});
  CHECK(runtime::check_config(config));
  config.policy.allow(grants::HostNetwork{});
  CHECK_THAT(runtime::check_config(config).error().message(),
             Catch::StartsWith("policy.network must be proxy or host, not both"));
}

TEST_CASE("Mirrors: each is a target with its port", "[unit][runtime][proxy]") {
  Mirrors mirrors;
  CHECK(runtime::mirror_targets(mirrors).empty());
  mirrors.npm = "https://npm.corp/r/";
  mirrors.pypi = "http://user:p%40w@127.0.0.1:8080/simple";
  mirrors.apt = "http://[fd00::1]:81/debian";
  mirrors.go = "https://npm.corp";
  mirrors.cargo = "http://[::1]/x";
  CHECK(runtime::mirror_targets(mirrors) ==
        std::vector<EgressTarget>{
            {"npm.corp", 443}, {"127.0.0.1", 8080}, {"fd00::1", 81}, {"::1", 80}});
}

TEST_CASE("Mirrors: one at a loopback address is reached through the proxy",
          "[unit][runtime][proxy]") {
  CHECK(base::proxy_exceptions({}) == "localhost,127.0.0.1,::1");
  CHECK(base::proxy_exceptions({"localhost", "::1", "127.0.0.0/8"}).empty());
  PrepareEnvironment environment;
  runtime::reach_through_proxy({{"npm.corp", 443}}, environment);
  CHECK(environment.variables.empty());
  runtime::reach_through_proxy({{"127.0.0.1", 4873}}, environment);
  CHECK(environment.variables["no_proxy"] == "localhost,::1");
  CHECK(environment.variables["NO_PROXY"] == "localhost,::1");
  PrepareEnvironment own;
  own.variables["no_proxy"] = "mine";
  runtime::reach_through_proxy({{"127.0.0.1", 4873}}, own);
  CHECK(own.variables["no_proxy"] == "mine");
}
