// What a program inside a sandbox with network `proxy` tries, to get past the allow-list.
#include <catch2/catch.hpp>

#include <cove/grants/proxy_network.hpp>

#include "support/fixtures/live_cove.hpp"
#include "support/fixtures/tcp_server.hpp"

using namespace cove;
using namespace cove::testing;
using Catch::Contains;
using cove::test::TcpPeer;
using cove::test::TcpServer;

namespace {

const WorkspaceKey kAna{"app", "demo", "ana"};

void answer(TcpPeer& client) {
  client.receive_head();
  client.send("HTTP/1.1 200 OK\r\n\r\nsecret\n");
  client.end();
  client.receive_to_end();
}

/// A service of the host that is on no list, and a sandbox that may reach every public name.
struct Sandbox {
  Sandbox() : cove(live.open(config())), workspace(cove.acquire(kAna).value()) {}

  Config config() const {
    Config config = live.config();
    grants::ProxyRule all;
    all.host = "*";
    all.ports = {80, service.port()};
    grants::ProxyRule other;
    other.host = "127.0.0.1";
    other.ports = {1};
    config.policy.allow(grants::ProxyNetwork{{all, other}});
    return config;
  }

  /// What the proxy answers to these bytes.
  std::string ask(const std::string& request) const {
    return output_of(workspace.client(),
                     {"python3", "-c",
                      "import socket, sys\n"
                      "s = socket.create_connection(('127.0.0.1', 3128), 20)\n"
                      "s.sendall(sys.argv[1].encode('latin-1').decode('unicode_escape')"
                      ".encode('latin-1'))\n"
                      "data = b''\n"
                      "while True:\n"
                      "  piece = s.recv(4096)\n"
                      "  if not piece: break\n"
                      "  data += piece\n"
                      "print(data.decode('latin-1'))\n",
                      request});
  }

  std::string connect(const std::string& host) const {
    return ask("CONNECT " + host + ":" + std::to_string(service.port()) + " HTTP/1.1\\r\\n\\r\\n");
  }

  TcpServer service{answer};
  LiveCove live;
  Cove cove;
  Workspace workspace;
};

}  // namespace

TEST_CASE("Network proxy: a service on the host's loopback is out of reach under every name",
          "[security][local][proxy][any-user]") {
  Sandbox sandbox;
  for (const char* host : {"127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]",
                           "169.254.169.254", "10.0.0.1", "127.0.0.2"}) {
    INFO(host);
    CHECK_THAT(sandbox.connect(host), Catch::StartsWith("HTTP/1.1 403 "));
  }
  // A name that the rule `*` allows, whose address is the host's loopback.
  CHECK_THAT(sandbox.connect("localhost"),
             Catch::StartsWith("HTTP/1.1 403 ") && Contains("has a loopback address"));
  // Names that resolvers take for addresses.
  for (const char* host : {"127.1", "2130706433", "0x7f.1", "017700000001", "localhost.0"}) {
    INFO(host);
    CHECK_THAT(sandbox.connect(host), Catch::StartsWith("HTTP/1.1 400 "));
  }
  CHECK(sandbox.service.served() == 0);
}

TEST_CASE("Network proxy: there is nothing but loopback, and nobody on it but the proxy",
          "[security][local][proxy][any-user]") {
  Sandbox sandbox;
  const auto client = sandbox.workspace.client();
  CHECK(shell(client, "tail -n +2 /proc/net/route | wc -l") == "0");
  // 0C38 is 3128, 0A a listening socket.
  CHECK(shell(client, "tail -n +2 /proc/net/tcp | awk '$4 == \"0A\" {print $2}'") ==
        "0100007F:0C38");
  CHECK(shell(client, "tail -n +2 /proc/net/tcp6 | wc -l") == "0");
  const auto direct = client
                          .exec({.argv = {"python3", "-c",
                                          "import socket\n"
                                          "socket.create_connection(('1.1.1.1', 80), 5)\n"}})
                          .value();
  CHECK_THAT(direct.err.text(), Contains("Network is unreachable"));
}

TEST_CASE("Network proxy: a smuggled second request reaches nobody",
          "[security][local][proxy][any-user]") {
  Sandbox sandbox;
  const std::string to = "127.0.0.1:" + std::to_string(sandbox.service.port());
  CHECK_THAT(sandbox.ask("POST http://127.0.0.1:1/ HTTP/1.1\\r\\nContent-Length: 4\\r\\n"
                         "Transfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\nGET http://" +
                         to + "/ HTTP/1.1\\r\\n\\r\\n"),
             Catch::StartsWith("HTTP/1.1 400 "));
  CHECK_THAT(sandbox.ask("GET http://" + to + "/ HTTP/1.1\\r\\nHost: allowed.test\\r\\n\\r\\n"),
             Catch::StartsWith("HTTP/1.1 403 "));
  CHECK(sandbox.service.served() == 0);
}
