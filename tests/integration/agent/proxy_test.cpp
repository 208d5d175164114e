// The proxy from end to end: a client inside, the agent, the wire, a host, a server outside.
#include <atomic>
#include <future>

#include <catch2/catch.hpp>

#include "support/fixtures/proxy_fixture.hpp"

using namespace cove;
using namespace std::chrono_literals;
using Catch::Contains;
using Catch::StartsWith;
using test::ProxyFixture;
using test::rule_for;
using test::TcpPeer;
using test::TcpServer;

namespace {

/// Answers every request with its own head and body, and closes.
void mirror_request(TcpPeer& client) {
  const std::string head = client.receive_head();
  std::string body;
  const std::size_t at = head.find("Content-Length: ");
  if (at != std::string::npos) body = client.receive_exactly(std::stoul(head.substr(at + 16)));
  client.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + head + body);
  client.end();
  client.receive_to_end();
}

void echo(TcpPeer& client) {
  for (;;) {
    const std::string bytes = client.receive();
    if (bytes.empty() || !client.send(bytes)) break;
  }
  client.end();
}

std::string at(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

std::string socks_request(std::uint16_t port) {
  std::string text("\x05\x01\x00\x05\x01\x00\x01\x7f\x00\x00\x01", 11);
  text += static_cast<char>(port >> 8);
  text += static_cast<char>(port & 0xFF);
  return text;
}

}  // namespace

TEST_CASE("Proxy: an absolute request reaches the server as its own", "[integration][proxy]") {
  const TcpServer server(mirror_request);
  ProxyFixture f;
  f.add_host({rule_for("127.0.0.1", server.port())});
  const std::string answer = f.ask("POST http://" + at(server.port()) +
                                   "/x?y HTTP/1.1\r\nHost: z\r\nProxy-Connection: keep-alive\r\n"
                                   "Content-Length: 4\r\n\r\nbody");
  CHECK_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  CHECK_THAT(answer, Contains("POST /x?y HTTP/1.1\r\nHost: " + at(server.port()) + "\r\n") &&
                         Contains("Connection: close\r\n\r\nbody"));
  CHECK_THAT(answer, !Contains("Proxy-Connection"));
}

TEST_CASE("Proxy: CONNECT is a tunnel both ways, with an end of each", "[integration][proxy]") {
  const TcpServer server(echo);
  ProxyFixture f;
  f.add_host({rule_for("127.0.0.1", server.port())});
  TcpPeer client = f.client();
  client.send("CONNECT " + at(server.port()) + " HTTP/1.1\r\n\r\nearly ");
  CHECK(client.receive_head() == "HTTP/1.1 200 Connection established\r\n\r\n");
  client.send("late");
  client.end();
  CHECK(client.receive_to_end() == "early late");
}

TEST_CASE("Proxy: SOCKS5 reaches addresses and names", "[integration][proxy]") {
  const TcpServer server(echo);
  ProxyFixture f;
  f.names["server.test"] = "127.0.0.1";
  f.add_host({rule_for("127.0.0.1", server.port()), rule_for("server.test", server.port(), true)});
  TcpPeer by_address = f.client();
  by_address.send(socks_request(server.port()) + "hi");
  by_address.end();
  CHECK(by_address.receive_to_end() ==
        std::string("\x05\x00\x05\x00\x00\x01\0\0\0\0\0\0", 12) + "hi");

  TcpPeer by_name = f.client();
  by_name.send(std::string("\x05\x01\x00", 3));
  CHECK(by_name.receive_exactly(2) == std::string("\x05\x00", 2));
  std::string request("\x05\x01\x00\x03\x0bserver.test", 16);
  request += static_cast<char>(server.port() >> 8);
  request += static_cast<char>(server.port() & 0xFF);
  by_name.send(request);
  CHECK(by_name.receive_exactly(10)[1] == 0);
  by_name.send("there");
  by_name.end();
  CHECK(by_name.receive_to_end() == "there");
}

TEST_CASE("Proxy: what the list does not name is refused in words", "[integration][proxy]") {
  const TcpServer server(echo);
  ProxyFixture f;
  f.names["inner.test"] = "127.0.0.1";
  f.add_host({rule_for("inner.test", server.port()), rule_for("nowhere.test", 80)});
  const std::string target = at(server.port());
  const std::string words = "\r\n\r\ncove: " + target +
                            " is not in the allow-list (policy.proxy.allow); ask whoever runs "
                            "this application to add it\n";
  for (const std::string& request :
       {"GET http://" + target + "/ HTTP/1.1\r\n\r\n", "CONNECT " + target + " HTTP/1.1\r\n\r\n"}) {
    const std::string answer = f.ask(request);
    CHECK_THAT(answer, StartsWith("HTTP/1.1 403 "));
    CHECK_THAT(answer, Catch::EndsWith(words));
  }
  CHECK(f.ask(socks_request(server.port())).substr(2, 2) == "\x05\x02");
  CHECK_THAT(f.ask("GET http://inner.test:" + std::to_string(server.port()) + "/ HTTP/1.1\r\n\r\n"),
             StartsWith("HTTP/1.1 403 ") && Contains("has a loopback address"));
  CHECK_THAT(f.ask("GET http://nowhere.test/ HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 502 "));
  CHECK_THAT(f.ask("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  CHECK(server.served() == 0);
}

TEST_CASE("Proxy: a server that does not listen is a bad gateway, and SOCKS5 says refused",
          "[integration][proxy]") {
  std::uint16_t port = 0;
  {
    const TcpServer gone(echo);
    port = gone.port();
  }
  ProxyFixture f;
  f.add_host({rule_for("127.0.0.1", port)});
  CHECK_THAT(f.ask("CONNECT " + at(port) + " HTTP/1.1\r\n\r\n"),
             StartsWith("HTTP/1.1 502 ") && Contains("cannot be reached"));
  CHECK(f.ask(socks_request(port)).substr(2, 2) == "\x05\x05");
}

TEST_CASE("Proxy: without a host there is a clear answer, and with the next one it goes on",
          "[integration][proxy]") {
  const TcpServer server(mirror_request);
  ProxyFixture f;
  const std::string request = "GET http://" + at(server.port()) + "/ HTTP/1.1\r\n\r\n";
  CHECK_THAT(f.ask(request), StartsWith("HTTP/1.1 503 ") && Contains("no host application"));
  CHECK(f.ask(socks_request(server.port())).substr(2, 2) == "\x05\x01");
  f.add_host({rule_for("127.0.0.1", server.port())});
  CHECK_THAT(f.ask(request), StartsWith("HTTP/1.1 200 "));
  f.keep_hosts(0);
  CHECK_THAT(f.ask(request), StartsWith("HTTP/1.1 503 "));
}

TEST_CASE("Proxy: of two hosts either serves, and what one refuses the other is asked for",
          "[integration][proxy]") {
  const TcpServer first(mirror_request);
  const TcpServer second(mirror_request);
  ProxyFixture f;
  f.add_host({rule_for("127.0.0.1", first.port())});
  f.add_host({rule_for("127.0.0.1", second.port())});
  const auto ask = [&](const TcpServer& server) {
    return f.ask("GET http://" + at(server.port()) + "/ HTTP/1.1\r\n\r\n");
  };
  CHECK_THAT(ask(first), StartsWith("HTTP/1.1 200 "));
  CHECK_THAT(ask(second), StartsWith("HTTP/1.1 200 "));
  CHECK_THAT(f.ask("GET http://127.0.0.1:1/ HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 403 "));
  f.keep_hosts(1);
  CHECK_THAT(ask(first), StartsWith("HTTP/1.1 403 "));
  CHECK_THAT(ask(second), StartsWith("HTTP/1.1 200 "));
}

TEST_CASE("Proxy: a host that goes ends its tunnels so that the client sees it",
          "[integration][proxy]") {
  const TcpServer server(echo);
  ProxyFixture f;
  f.add_host({rule_for("127.0.0.1", server.port())});
  TcpPeer client = f.client();
  client.send("CONNECT " + at(server.port()) + " HTTP/1.1\r\n\r\nx");
  client.receive_head();
  CHECK(client.receive_exactly(1) == "x");
  f.keep_hosts(0);
  CHECK(client.receive().empty());
}

TEST_CASE("Proxy: a big download comes whole; who does not read makes the server wait",
          "[integration][proxy]") {
  constexpr std::size_t kAll = 32 * 1024 * 1024;
  std::atomic<std::size_t> sent = 0;
  const TcpServer server([&sent](TcpPeer& client) {
    client.receive_head();
    client.send("HTTP/1.1 200 OK\r\n\r\n");
    const std::string piece(64 * 1024, 'x');
    while (sent < kAll && client.send(piece)) sent += piece.size();
    client.end();
    client.receive_to_end();
  });
  ProxyFixture f;
  f.add_host({rule_for("127.0.0.1", server.port())});
  TcpPeer client = f.client();
  client.send("GET http://" + at(server.port()) + "/ HTTP/1.1\r\n\r\n");
  client.receive_head();
  // Other calls and connections go on beside it, and take time in which everything fills up.
  const TcpServer other(mirror_request);
  f.add_host({rule_for("127.0.0.1", other.port())});
  for (int i = 0; i < 50; ++i) {
    CHECK_THAT(f.ask("GET http://" + at(other.port()) + "/ HTTP/1.1\r\n\r\n"),
               StartsWith("HTTP/1.1 200 "));
  }
  CHECK(f.fixture.shell("true").value().succeeded());
  CHECK(sent < kAll);
  CHECK(client.receive_to_end().size() == kAll);
}

TEST_CASE("Proxy: a big upload comes whole", "[integration][proxy]") {
  std::promise<std::size_t> got;
  const TcpServer server([&got](TcpPeer& client) {
    client.receive_head();
    const std::size_t bytes = client.receive_exactly(8 * 1024 * 1024).size();
    client.send("HTTP/1.1 201 Created\r\n\r\n");
    client.end();
    got.set_value(bytes);
    client.receive_to_end();
  });
  ProxyFixture f;
  f.add_host({rule_for("127.0.0.1", server.port())});
  TcpPeer client = f.client();
  client.send("PUT http://" + at(server.port()) + "/ HTTP/1.1\r\nContent-Length: 8388608\r\n\r\n" +
              std::string(8388608, 'u'));
  CHECK_THAT(client.receive_to_end(), StartsWith("HTTP/1.1 201 "));
  CHECK(got.get_future().get() == 8388608);
}

TEST_CASE("Proxy: bytes in crumbs neither pile up nor end the connection to the host",
          "[integration][proxy]") {
  const TcpServer server(echo);
  ProxyFixture f;
  f.add_host({rule_for("127.0.0.1", server.port())});
  TcpPeer client = f.client();
  client.send("CONNECT " + at(server.port()) + " HTTP/1.1\r\n\r\n");
  client.receive_head();
  std::string back;
  for (int i = 0; i < 20'000; ++i) {
    client.send("c");
    if (i % 1000 == 999) back += client.receive_exactly(1000);
  }
  CHECK(back == std::string(20'000, 'c'));
  CHECK_THAT(f.ask("GET http://127.0.0.1:1/ HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 403 "));
}

TEST_CASE("Proxy: an answer that is cut off is seen to be", "[integration][proxy]") {
  const TcpServer server([](TcpPeer& client) {
    client.receive_head();
    client.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart");
    client.reset();
  });
  ProxyFixture f;
  f.add_host({rule_for("127.0.0.1", server.port())});
  TcpPeer client = f.client();
  client.send("GET http://" + at(server.port()) + "/ HTTP/1.1\r\n\r\n");
  client.receive_to_end();
  CHECK(client.was_reset());
}

TEST_CASE("Proxy: a pipelined request is not given to the first one's server",
          "[integration][proxy]") {
  const TcpServer server(mirror_request);
  ProxyFixture f;
  f.add_host({rule_for("127.0.0.1", server.port())});
  const std::string request = "GET http://" + at(server.port()) + "/1 HTTP/1.1\r\n\r\n";
  const std::string answer = f.ask(request + "GET http://other.test/2 HTTP/1.1\r\n\r\n");
  CHECK_THAT(answer, Contains("GET /1 HTTP/1.1"));
  CHECK_THAT(answer, !Contains("/2"));
  CHECK(server.served() == 1);
}

TEST_CASE("Proxy: clients that say nothing keep neither commands nor others from working",
          "[integration][proxy]") {
  const TcpServer server(mirror_request);
  ProxyFixture f;
  f.add_host({rule_for("127.0.0.1", server.port())});
  std::vector<TcpPeer> silent;
  for (int i = 0; i < 100; ++i) {
    silent.push_back(f.client());
    silent.back().send("GE");
  }
  CHECK(f.fixture.shell("echo works").value().out.text() == "works\n");
  CHECK_THAT(f.ask("GET http://" + at(server.port()) + "/ HTTP/1.1\r\n\r\n"),
             StartsWith("HTTP/1.1 200 "));
  // More than there are places for: they wait, and get theirs when others go.
  for (int i = 0; i < 100; ++i) silent.push_back(f.client());
  CHECK(f.fixture.shell("echo works").value().out.text() == "works\n");
  silent.clear();
  CHECK_THAT(f.ask("GET http://" + at(server.port()) + "/ HTTP/1.1\r\n\r\n"),
             StartsWith("HTTP/1.1 200 "));
}

TEST_CASE("Proxy: connections leave no descriptor behind", "[integration][proxy]") {
  const TcpServer server(echo);
  ProxyFixture f;
  f.add_host({rule_for("127.0.0.1", server.port())});
  const std::string request = "CONNECT " + at(server.port()) + " HTTP/1.1\r\n\r\n";
  const auto round = [&] {
    for (int i = 0; i < 50; ++i) {
      TcpPeer client = f.client();
      client.send(request);
      client.receive_head();
      if (i % 2 == 0) client.reset();
    }
    f.ask("GET http://127.0.0.1:1/ HTTP/1.1\r\n\r\n");
  };
  round();
  f.keep_hosts(0);
  f.ask("GET / HTTP/1.1\r\n\r\n");
  // Without a host every tunnel has ended; the agent closes its ends at once.
  const std::size_t before = f.fixture.agent.open_descriptors();
  f.add_host({rule_for("127.0.0.1", server.port())});
  round();
  f.keep_hosts(0);
  f.ask("GET / HTTP/1.1\r\n\r\n");
  CHECK(f.fixture.agent.open_descriptors() <= before + 2);
}

TEST_CASE("Proxy: limits are answers, not faults", "[integration][proxy]") {
  const TcpServer server(echo);
  ProxyFixture f;
  f.add_host({rule_for("127.0.0.1", server.port())}, {.connections = 10, .of_sandbox = 2});
  std::vector<TcpPeer> open;
  const std::string request = "CONNECT " + at(server.port()) + " HTTP/1.1\r\n\r\n";
  for (int i = 0; i < 2; ++i) {
    open.push_back(f.client());
    open.back().send(request);
    CHECK_THAT(open.back().receive_head(), StartsWith("HTTP/1.1 200 "));
  }
  CHECK_THAT(f.ask(request), StartsWith("HTTP/1.1 503 ") && Contains("open already"));
}

TEST_CASE("Proxy: commands find it in their environment, in both spellings",
          "[integration][proxy]") {
  ProxyFixture f;
  const std::string url = "http://127.0.0.1:" + std::to_string(f.port()) + "\n";
  std::string expected;
  for (int i = 0; i < 6; ++i) expected += url;
  CHECK(f.fixture
            .shell("printf '%s\\n' \"$http_proxy\" \"$https_proxy\" \"$all_proxy\" "
                   "\"$HTTP_PROXY\" \"$HTTPS_PROXY\" \"$ALL_PROXY\" \"$no_proxy\" \"$NO_PROXY\"")
            .value()
            .out.text() == expected + "localhost\nlocalhost\n");
  test::AgentFixture plain;
  CHECK(plain.shell("printf %s \"$http_proxy$no_proxy\"").value().out.text().empty());
}
