// What the proxy refuses before it connects to anybody; connections are in tests/integration.
#include "network/proxy.hpp"

#include <atomic>
#include <map>
#include <mutex>

#include <catch2/catch.hpp>

#include "base/async/spawn.hpp"
#include "base/system/system_clock.hpp"

using namespace cove;
using namespace std::chrono_literals;
using network::IpAddress;
using network::Proxy;

namespace {

/// A proxy over names of a test's own.
struct ProxyFixture {
  explicit ProxyFixture(std::vector<grants::ProxyRule> rules)
      : proxy(Proxy::open({loop, clock, [this](const std::string& name) { return look(name); }},
                          {std::move(rules)})
                  .value()) {}
  ~ProxyFixture() { base::sync_wait(loop, end()); }

  Result<std::vector<IpAddress>> look(const std::string& name) {
    ++questions;
    const auto found = names.find(name);
    if (found == names.end()) return Error(ErrorCode::kNotFound, "no such name");
    std::vector<IpAddress> addresses;
    for (const char* text : found->second) addresses.push_back(*IpAddress::parse(text));
    return addresses;
  }

  Error refusal(const std::string& host, std::uint16_t port = 443) {
    const EgressRequest request{SandboxId("app-1"), {host, port}, EgressVia::kConnect};
    const CallContext call;
    const auto opened = base::sync_wait(loop, proxy->connect(request, call));
    REQUIRE_FALSE(opened);
    return opened.error();
  }

  Task<int> end() {
    const CallContext call;
    CHECK(co_await proxy->close(call));
    co_return 0;
  }

  std::map<std::string, std::vector<const char*>> names;
  std::atomic<int> questions = 0;
  base::SystemClock clock;
  base::IoLoop loop;
  std::unique_ptr<Proxy> proxy;
};

}  // namespace

TEST_CASE("Proxy: what is not listed is refused in words, and nobody is asked for it",
          "[unit][network]") {
  ProxyFixture f({{.host = "example.org"}});
  const Error error = f.refusal("evil.net");
  CHECK(error.code() == ErrorCode::kPermissionDenied);
  CHECK_THAT(error.message(),
             Catch::StartsWith("evil.net:443 is not in the allow-list (policy.proxy.allow); ask"));
  CHECK(f.refusal("example.org", 8443).code() == ErrorCode::kPermissionDenied);
  CHECK_THAT(f.refusal("::1", 80).message(), Catch::StartsWith("[::1]:80 is not in"));
  CHECK(f.refusal("no host").code() == ErrorCode::kInvalidArgument);
  CHECK(f.questions == 0);
}

TEST_CASE("Proxy: a listed name with an address inside is refused, and what kind it is said",
          "[unit][network]") {
  ProxyFixture f({{.host = "*.example.org"}, {.host = "10.0.0.0/8", .ports = {1}}});
  f.names = {{"local.example.org", {"127.0.0.1"}},
             {"inner.example.org", {"10.0.0.1"}},
             {"six.example.org", {"::1"}},
             {"cloud.example.org", {"169.254.169.254"}},
             {"all.example.org", {"224.0.0.1", "0.0.0.0"}}};
  CHECK_THAT(f.refusal("local.example.org").message(),
             Catch::StartsWith("local.example.org:443 has a loopback address"));
  CHECK(f.refusal("local.example.org").code() == ErrorCode::kPermissionDenied);
  CHECK_THAT(f.refusal("inner.example.org").message(), Catch::Contains("private address"));
  CHECK_THAT(f.refusal("six.example.org").message(), Catch::Contains("loopback address"));
  CHECK_THAT(f.refusal("cloud.example.org").message(), Catch::Contains("metadata address"));
  CHECK_THAT(f.refusal("all.example.org").message(), Catch::Contains("multicast"));
  CHECK(f.questions == 6);
}

TEST_CASE("Proxy: private_addresses opens neither metadata nor multicast", "[unit][network]") {
  ProxyFixture f({{.host = "*", .private_addresses = true}});
  f.names = {{"a.net", {"169.254.169.254"}}, {"b.net", {"239.0.0.1"}}};
  CHECK(f.refusal("a.net").code() == ErrorCode::kPermissionDenied);
  CHECK(f.refusal("b.net").code() == ErrorCode::kPermissionDenied);
}

TEST_CASE("Proxy: a name without an address says so", "[unit][network]") {
  ProxyFixture f({{.host = "*"}});
  CHECK(f.refusal("nowhere.net").code() == ErrorCode::kNotFound);
}

TEST_CASE("Proxy: a call that ends while a name is asked for does not wait for the answer",
          "[unit][network]") {
  std::mutex gate;
  std::unique_lock closed(gate);
  base::SystemClock clock;
  base::IoLoop loop;
  const auto slow = [&gate](const std::string&) -> Result<std::vector<IpAddress>> {
    const std::lock_guard wait(gate);
    return Error(ErrorCode::kNotFound, "late");
  };
  {
    const auto proxy = Proxy::open({loop, clock, slow}, {{{.host = "*"}}}).value();
    const EgressRequest request{SandboxId("app-1"), {"slow.net", 80}, EgressVia::kHttp};
    const CallContext call{.deadline = clock.now() + 50ms, .stop = {}};
    const auto opened = base::sync_wait(loop, proxy->connect(request, call));
    CHECK(opened.error().code() == ErrorCode::kTimeout);
  }
  closed.unlock();
}

TEST_CASE("Proxy: a wrong rule is refused when it is opened", "[unit][network]") {
  base::SystemClock clock;
  base::IoLoop loop;
  CHECK(Proxy::open({loop, clock}, {{{.host = "a b"}}}).error().code() ==
        ErrorCode::kInvalidArgument);
}
