#include "wire/connect_request.hpp"

#include <catch2/catch.hpp>

#include "wire/boot.hpp"
#include "wire/cbor.hpp"

using namespace cove;

TEST_CASE("ConnectRequest: comes through whole", "[unit][wire]") {
  const wire::ConnectRequest request{{"example.org", 443}, EgressVia::kSocks, 77};
  const auto back = wire::parse_connect(wire::encode_connect(request)).value();
  CHECK(back.target == request.target);
  CHECK(back.via == EgressVia::kSocks);
  CHECK(back.credit == 77);
}

TEST_CASE("ConnectRequest: a host or port that is none makes it wrong", "[unit][wire]") {
  const auto code_of = [](const nlohmann::json& fields) {
    return wire::parse_connect(wire::encode_cbor(fields)).error().code();
  };
  CHECK(code_of({{"kind", 1}, {"host", ""}, {"port", 1}}) == ErrorCode::kIntegrity);
  CHECK(code_of({{"kind", 1}, {"host", "a\nb"}, {"port", 1}}) == ErrorCode::kIntegrity);
  CHECK(code_of({{"kind", 1}, {"host", "\xC3\xA4"}, {"port", 1}}) == ErrorCode::kIntegrity);
  CHECK(code_of({{"kind", 1}, {"host", std::string(256, 'a')}, {"port", 1}}) ==
        ErrorCode::kIntegrity);
  CHECK(code_of({{"kind", 1}, {"host", "a"}, {"port", 0}}) == ErrorCode::kIntegrity);
  CHECK(code_of({{"kind", 1}, {"host", "a"}, {"port", 65536}}) == ErrorCode::kIntegrity);
  CHECK(code_of({{"kind", 1}, {"host", "a"}}) == ErrorCode::kIntegrity);
  CHECK(code_of({{"kind", 2}, {"host", "a"}, {"port", 1}}) == ErrorCode::kUnsupported);
  CHECK(
      wire::parse_connect(wire::encode_cbor({{"kind", 1}, {"host", "a"}, {"port", 1}, {"via", 99}}))
          .value()
          .via == EgressVia::kConnect);
}

TEST_CASE("AgentBoot: says whether there is a proxy; one without a word of it has none",
          "[unit][wire]") {
  wire::AgentBoot boot;
  boot.listen_fd = 3;
  boot.proxy = true;
  boot.proxy_port = 3128;
  boot.proxy_exceptions = "localhost";
  const auto back = wire::parse_agent_boot(wire::to_json(boot)).value();
  CHECK(back.proxy);
  CHECK(back.proxy_port == 3128);
  CHECK(back.proxy_exceptions == "localhost");
  CHECK_FALSE(wire::parse_agent_boot(R"({"version": 1, "listen_fd": 3})").value().proxy);
  boot.proxy_port = 65'536;
  CHECK_FALSE(wire::parse_agent_boot(wire::to_json(boot)));
}
