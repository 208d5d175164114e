// Network `proxy` of a whole Cove, with real sandboxes and real clients in them. A client that this
// machine has not is skipped by name.
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include <cove/grants/proxy_network.hpp>

#include "support/fixtures/live_cove.hpp"
#include "support/fixtures/mirror_server.hpp"
#include "support/fixtures/tcp_server.hpp"
#include "support/skip.hpp"

using namespace cove;
using namespace cove::testing;
using namespace std::chrono_literals;
using Catch::Contains;
using cove::test::TcpPeer;
using cove::test::TcpServer;
namespace fs = std::filesystem;

namespace {

const WorkspaceKey kAna{"app", "demo", "ana"};

Config with_proxy(const LiveCove& live, std::vector<grants::ProxyRule> rules) {
  Config config = live.config();
  config.policy.allow(grants::ProxyNetwork{std::move(rules)});
  return config;
}

grants::ProxyRule address_rule(std::uint16_t port) {
  grants::ProxyRule rule;
  rule.host = "127.0.0.1";
  rule.ports = {port};
  return rule;
}

/// Says what was asked for.
void say_head(TcpPeer& client) {
  const std::string head = client.receive_head();
  client.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nserved " +
              head.substr(0, head.find('\r')) + "\n");
  client.end();
  client.receive_to_end();
}

bool has(const SandboxClient& client, const std::string& program) {
  return client.exec({.argv = {"sh", "-c", "command -v " + program}}).value().succeeded();
}

std::string url_of(const TcpServer& server, const std::string& path) {
  return "http://127.0.0.1:" + std::to_string(server.port()) + path;
}

}  // namespace

TEST_CASE("Network proxy: curl reaches what is listed with nothing configured, in every way",
          "[integration][runtime][proxy]") {
  const TcpServer server(say_head);
  LiveCove live;
  auto cove = live.open(with_proxy(live, {address_rule(server.port())}));
  const auto workspace = cove.acquire(kAna, {.chat_id = "c1"}).value();
  const auto client = workspace.client();
  if (!has(client, "curl")) return cove::test::skip("no curl");
  CHECK(shell(client, "curl -sS " + url_of(server, "/a?b")) == "served GET /a?b HTTP/1.1");
  CHECK(shell(client, "curl -sS --proxytunnel " + url_of(server, "/t")) ==
        "served GET /t HTTP/1.1");
  CHECK(shell(client, "curl -sS --proxy socks5h://127.0.0.1:3128 " + url_of(server, "/s")) ==
        "served GET /s HTTP/1.1");
  const std::string refused = shell(client, "curl -sS http://evil.test/x");
  CHECK_THAT(refused, Catch::StartsWith("cove: evil.test:80 is not in the allow-list"));
  // Of a tunnel that is refused curl shows the line alone.
  const auto tunnel = client.exec({.argv = {"curl", "-sSv", "https://evil.test/"}}).value();
  CHECK_FALSE(tunnel.succeeded());
  CHECK_THAT(tunnel.err.text(), Contains("403 Forbidden by cove (policy.proxy.allow)"));
}

TEST_CASE("Network proxy: programs inside reach each other without it",
          "[integration][runtime][proxy]") {
  LiveCove live;
  auto cove = live.open(with_proxy(live, {}));
  const auto workspace = cove.acquire(kAna, {.chat_id = "c1"}).value();
  const auto client = workspace.client();
  if (!has(client, "curl") || !has(client, "python3")) {
    return cove::test::skip("no curl or no python3");
  }
  CHECK(shell(client,
              "echo mine > page; python3 -m http.server 8123 --bind 127.0.0.1 >/dev/null 2>&1 & "
              "curl -sS --retry 20 --retry-connrefused --retry-delay 1 http://127.0.0.1:8123/page; "
              "kill $!") == "mine");
}

TEST_CASE("Network proxy: mirrors are reached by themselves, also at the host's loopback",
          "[integration][runtime][proxy]") {
  MirrorServer server;
  LiveCove live;
  auto cove = live.open(with_proxy(live, {}));
  AcquireOptions options{.chat_id = "c1", .sandbox = {}, .prepare = {}};
  options.prepare.mirrors.pypi = server.url("/simple");
  options.prepare.mirrors.npm = server.url("/npm/");
  const auto workspace = cove.acquire(kAna, options).value();
  const auto client = workspace.client();
  const auto run = [&](const std::string& line) {
    ExecSpec spec{.argv = {"sh", "-c", line}};
    spec.timeout = 120s;
    const ExecResult result = client.exec(spec).value();
    INFO(line << "\n" << result.out.text() << "\n" << result.err.text());
    CHECK(result.succeeded());
  };
  if (client.exec({.argv = {"/usr/bin/python3", "-m", "pip", "--version"}}).value().succeeded()) {
    run("/usr/bin/python3 -m pip install --target t cove-demo && "
        "PYTHONPATH=t /usr/bin/python3 -c 'import cove_demo'");
    CHECK_THAT(server.requests(), Contains("/simple/cove-demo/"));
  } else {
    cove::test::skip_part("no pip");
  }
  if (has(client, "npm")) {
    run("mkdir p && cd p && npm install --no-update-notifier --no-audit --no-fund cove-demo");
    CHECK_THAT(server.requests(), Contains("/npm/cove-demo"));
  } else {
    cove::test::skip_part("no npm");
  }
  // The next acquire asks for none: then there is none.
  const auto second = cove.acquire(kAna, {.chat_id = "c2"}).value();
  if (!has(second.client(), "curl")) return cove::test::skip_part("no curl");
  CHECK_THAT(shell(second.client(), "curl -sS --noproxy '' " + server.url("/simple/")),
             Contains("is not in the allow-list"));
}

TEST_CASE("Network proxy: git clones over http", "[integration][runtime][proxy]") {
  if (!fs::exists("/usr/bin/git")) return cove::test::skip("no git");
  const ScratchDirectory scratch;
  const std::string setup =
      "cd " + scratch.path() +
      " && export GIT_CONFIG_GLOBAL=/dev/null && git init -q -b main r && cd r && echo hi > f && "
      "git add f && git -c user.name=t -c user.email=t@e.test commit -qm m && "
      "git clone -q --bare . ../r.git && cd ../r.git && git update-server-info";
  REQUIRE(std::system(setup.c_str()) == 0);
  // The protocol that any file server speaks.
  const TcpServer server([&scratch](TcpPeer& client) {
    const std::string head = client.receive_head();
    const std::size_t begin = head.find(' ') + 1;
    const std::string path = head.substr(begin, head.find_first_of(" ?", begin) - begin);
    std::ifstream file(scratch.path() + path, std::ios::binary);
    const std::string body((std::istreambuf_iterator<char>(file)), {});
    const char* const status = file.is_open() ? "200 OK" : "404 Not Found";
    client.send("HTTP/1.1 " + std::string(status) + "\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body);
    client.end();
    client.receive_to_end();
  });
  LiveCove live;
  auto cove = live.open(with_proxy(live, {address_rule(server.port())}));
  const auto workspace = cove.acquire(kAna, {.chat_id = "c1"}).value();
  const auto client = workspace.client();
  if (!has(client, "git")) return cove::test::skip("no git");
  CHECK(shell(client, "no_proxy= NO_PROXY= git clone -q " + url_of(server, "/r.git") +
                          " c && cat c/f") == "hi");
}

TEST_CASE("Network proxy: a host that closes while connections are open does so at once",
          "[integration][runtime][proxy]") {
  const TcpServer server([](TcpPeer& client) { client.receive_to_end(); });
  LiveCove live;
  auto cove = live.open(with_proxy(live, {address_rule(server.port())}));
  const auto workspace = cove.acquire(kAna, {.chat_id = "c1"}).value();
  const auto client = workspace.client();
  if (!has(client, "python3")) return cove::test::skip("no python3");
  const ProcessInfo process =
      client
          .start_process({.argv = {"python3", "-c",
                                   "import socket, sys\n"
                                   "s = socket.create_connection(('127.0.0.1', 3128))\n"
                                   "s.sendall(b'CONNECT 127.0.0.1:" +
                                       std::to_string(server.port()) +
                                       " HTTP/1.1\\r\\n\\r\\n')\n"
                                       "print(s.recv(100).decode().split()[1], flush=True)\n"
                                       "print('ended', s.recv(100), flush=True)\n"}},
                         {})
          .value();
  const OutputRequest request{.wait_for = 20s};
  const OutputSlice said = client.process_output(process.id, request).value();
  // SAFETY: bytes seen as characters.
  const std::string text(reinterpret_cast<const char*>(said.bytes.data()), said.bytes.size());
  CHECK_THAT(text, Catch::StartsWith("200"));
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(cove.close());
  CHECK(std::chrono::steady_clock::now() - begin < 10s);
}
