#include "network/rules/allow_list.hpp"

#include <catch2/catch.hpp>

using cove::EgressTarget;
using cove::ErrorCode;
using cove::grants::ProxyRule;
using cove::network::AllowList;
using cove::network::check_target;
using cove::network::IpAddress;
using cove::network::may_reach;
using Verdict = cove::network::AllowList::Verdict;

namespace {

ProxyRule rule(const std::string& host, std::vector<std::uint16_t> ports = {80, 443},
               bool is_private = false) {
  ProxyRule made;
  made.host = host;
  made.ports = std::move(ports);
  made.private_addresses = is_private;
  return made;
}

Verdict judge(const AllowList& list, const std::string& host, std::uint16_t port = 443) {
  return list.judge(check_target({host, port}).value());
}

}  // namespace

TEST_CASE("AllowList: nothing is reached where nothing is named", "[unit][network]") {
  CHECK(judge(AllowList(), "example.org") == Verdict::kRefused);
  CHECK(judge(AllowList(), "1.1.1.1") == Verdict::kRefused);
}

TEST_CASE("AllowList: a name is that name, whatever its case and the dot at its end",
          "[unit][network]") {
  const auto list = AllowList::compile({rule("Example.org")}).value();
  CHECK(judge(list, "example.org") == Verdict::kPublic);
  CHECK(judge(list, "EXAMPLE.ORG.") == Verdict::kPublic);
  for (const char* other : {"www.example.org", "example.org.evil.net", "xexample.org", "org"}) {
    CHECK(judge(list, other) == Verdict::kRefused);
  }
}

TEST_CASE("AllowList: a star is what lies below, not the name itself", "[unit][network]") {
  const auto list = AllowList::compile({rule("*.example.org")}).value();
  CHECK(judge(list, "a.example.org") == Verdict::kPublic);
  CHECK(judge(list, "a.b.example.org") == Verdict::kPublic);
  CHECK(judge(list, "example.org") == Verdict::kRefused);
  CHECK(judge(list, "aexample.org") == Verdict::kRefused);
}

TEST_CASE("AllowList: a star alone is every name and no address", "[unit][network]") {
  const auto list = AllowList::compile({rule("*")}).value();
  CHECK(judge(list, "anything.net") == Verdict::kPublic);
  CHECK(judge(list, "1.1.1.1") == Verdict::kRefused);
  CHECK(judge(list, "::1") == Verdict::kRefused);
}

TEST_CASE("AllowList: ports belong to their rule", "[unit][network]") {
  const auto list =
      AllowList::compile({rule("a.net"), rule("b.net", {8080}), rule("b.net", {9090}, true)})
          .value();
  CHECK(judge(list, "a.net", 80) == Verdict::kPublic);
  CHECK(judge(list, "a.net", 8080) == Verdict::kRefused);
  CHECK(judge(list, "b.net", 8080) == Verdict::kPublic);
  CHECK(judge(list, "b.net", 9090) == Verdict::kPrivate);
  CHECK(judge(list, "b.net", 443) == Verdict::kRefused);
}

TEST_CASE("AllowList: addresses and ranges only where they are named", "[unit][network]") {
  const auto list =
      AllowList::compile({rule("10.0.0.0/8", {8081}), rule("[::1]", {80}), rule("9.9.9.9")})
          .value();
  CHECK(judge(list, "10.1.2.3", 8081) == Verdict::kPublic);
  CHECK(judge(list, "::ffff:10.1.2.3", 8081) == Verdict::kPublic);
  CHECK(judge(list, "11.0.0.1", 8081) == Verdict::kRefused);
  CHECK(judge(list, "0:0::1", 80) == Verdict::kPublic);
  CHECK(judge(list, "9.9.9.9") == Verdict::kPublic);
  CHECK(list.names(*IpAddress::parse("10.1.2.3"), 8081));
  CHECK_FALSE(list.names(*IpAddress::parse("10.1.2.3"), 80));
}

TEST_CASE("AllowList: an address that nobody named must be public", "[unit][network]") {
  const auto at = [](const char* text) { return *IpAddress::parse(text); };
  CHECK(may_reach(at("1.1.1.1"), Verdict::kPublic, false));
  for (const char* inner : {"127.0.0.1", "10.0.0.1", "169.254.3.4", "::1", "64:ff9b::7f00:1"}) {
    INFO(inner);
    CHECK_FALSE(may_reach(at(inner), Verdict::kPublic, false));
    CHECK(may_reach(at(inner), Verdict::kPublic, true));
    CHECK(may_reach(at(inner), Verdict::kPrivate, false));
    CHECK_FALSE(may_reach(at(inner), Verdict::kRefused, true));
  }
  CHECK_FALSE(may_reach(at("169.254.169.254"), Verdict::kPrivate, false));
  CHECK(may_reach(at("169.254.169.254"), Verdict::kPublic, true));
  CHECK_FALSE(may_reach(at("224.0.0.1"), Verdict::kPrivate, true));
  CHECK_FALSE(may_reach(at("0.0.0.0"), Verdict::kPrivate, true));
}

TEST_CASE("AllowList: what an operator named one by one may be private", "[unit][network]") {
  const auto list =
      AllowList::of_named({{"127.0.0.1", 4873}, {"nexus.corp", 8081}, {"*.corp", 80}, {"*", 80}});
  CHECK(judge(list, "127.0.0.1", 4873) == Verdict::kPrivate);
  CHECK(judge(list, "127.0.0.1", 4874) == Verdict::kRefused);
  CHECK(judge(list, "nexus.corp", 8081) == Verdict::kPrivate);
  CHECK(judge(list, "other.corp", 80) == Verdict::kRefused);
}

TEST_CASE("AllowList: a wrong rule is named by its place", "[unit][network]") {
  for (const char* bad : {"", "a b", "http://x", "x/y", "*.*.org", "a.*", "-a.org", "10.0.0.1/8",
                          "127.1", "x..y", "ex\xC3\xA4mple.org", "1.2.3.4:80"}) {
    INFO(bad);
    const auto list = AllowList::compile({rule("ok.org"), rule(bad)});
    REQUIRE_FALSE(list);
    CHECK(list.error().code() == ErrorCode::kInvalidArgument);
    CHECK_THAT(list.error().message(), Catch::StartsWith("policy.proxy.allow[1]: host must be"));
  }
  CHECK_THAT(AllowList::compile({rule("a.org", {})}).error().message(),
             Catch::StartsWith("policy.proxy.allow[0]: ports must be"));
  CHECK_FALSE(AllowList::compile({rule("a.org", {0})}));
}

TEST_CASE("check_target: a name that resolvers read as an address is none", "[unit][network]") {
  for (const char* bad : {"127.1", "2130706433", "0x7f000001", "a.0x1", "1.2.3.4.5", "x y", "a..b",
                          "%31", "a/b", "-x", "x-", "fe80::1%lo", "[::1]"}) {
    INFO(bad);
    const auto checked = check_target({bad, 80});
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code() == ErrorCode::kInvalidArgument);
  }
  CHECK_FALSE(check_target({std::string(64, 'a') + ".org", 80}));
  CHECK_FALSE(check_target({std::string(254, 'a'), 80}));
  CHECK(check_target({"_dmarc.x-1.org", 80}).value().name == "_dmarc.x-1.org");
  CHECK(check_target({"0:0:0:0:0:0:0:1", 80}).value().name == "::1");
}
