#include "agent/proxy/opening.hpp"

#include <optional>
#include <string>

#include <catch2/catch.hpp>

#include "agent/proxy/answers.hpp"
#include "agent/proxy/http_head.hpp"

using namespace cove;
using agent::OpeningReader;
using State = cove::agent::OpeningReader::State;

namespace {

struct Heard {
  State state = State::kMore;
  std::string reply;
  EgressTarget target;
  EgressVia via = EgressVia::kConnect;
  std::string first;
  std::string rest;
};

/// What comes of `bytes`, given `piece` at a time; what follows the opening is in `rest`.
Heard hear(const std::string& bytes, std::size_t piece = 1000) {
  OpeningReader reader;
  Heard heard;
  std::size_t at = 0;
  while (at < bytes.size() && heard.state == State::kMore) {
    heard.state = reader.take(std::string_view(bytes).substr(at, piece), heard.reply);
    at += piece;
  }
  if (heard.state != State::kReady) return heard;
  heard.target = reader.opening().target;
  heard.via = reader.opening().via;
  heard.first = reader.opening().first;
  heard.rest = std::string(reader.rest());
  if (at < bytes.size()) heard.rest += bytes.substr(at);
  return heard;
}

int status_of(const std::string& bytes) {
  const Heard heard = hear(bytes);
  CHECK(heard.state == State::kRefused);
  return heard.reply.starts_with("HTTP/1.1 ") ? std::stoi(heard.reply.substr(9)) : 0;
}

std::string raw(const char* text, std::size_t size) { return std::string(text, size); }

}  // namespace

TEST_CASE("Opening: an absolute URL becomes a request of the server's own, however it is cut",
          "[unit][agent][proxy]") {
  const std::string request =
      "POST http://Example.org:8080/a?b=1#c HTTP/1.1\r\nHost: other\r\nUser-Agent: t\r\n"
      "Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nProxy-Connection: keep-alive\r\n"
      "Proxy-Authorization: Basic x\r\nKeep-Alive: 5\r\nContent-Length: 3\r\n\r\nabcGET";
  for (std::size_t piece = 1; piece <= request.size(); ++piece) {
    INFO(piece);
    const Heard heard = hear(request, piece);
    REQUIRE(heard.state == State::kReady);
    CHECK(heard.reply.empty());
    CHECK(heard.via == EgressVia::kHttp);
    CHECK(heard.target == EgressTarget{"Example.org", 8080});
    CHECK(heard.first ==
          "POST /a?b=1 HTTP/1.1\r\nHost: Example.org:8080\r\nUser-Agent: t\r\n"
          "Content-Length: 3\r\nConnection: close\r\n\r\n");
    CHECK(heard.rest == "abcGET");
  }
}

TEST_CASE("Opening: paths, ports and addresses of URLs", "[unit][agent][proxy]") {
  const auto first_line = [](const std::string& line) {
    const Heard heard = hear(line + "\r\n\r\n");
    REQUIRE(heard.state == State::kReady);
    return heard.first.substr(0, heard.first.find('\r')) + " " + heard.target.host + " " +
           std::to_string(heard.target.port);
  };
  CHECK(first_line("GET http://a.org HTTP/1.0") == "GET / HTTP/1.0 a.org 80");
  CHECK(first_line("GET http://a.org?x HTTP/1.1") == "GET /?x HTTP/1.1 a.org 80");
  CHECK(first_line("GET HTTP://a.org:/ HTTP/1.1") == "GET / HTTP/1.1 a.org 80");
  CHECK(first_line("OPTIONS http://a.org HTTP/1.1") == "OPTIONS * HTTP/1.1 a.org 80");
  CHECK(first_line("GET http://[::1]:81/x HTTP/1.1") == "GET /x HTTP/1.1 ::1 81");
}

TEST_CASE("Opening: CONNECT names host and port, and what follows is the tunnel's",
          "[unit][agent][proxy]") {
  const Heard heard = hear("CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n\x16\x03");
  REQUIRE(heard.state == State::kReady);
  CHECK(heard.via == EgressVia::kConnect);
  CHECK(heard.target == EgressTarget{"example.org", 443});
  CHECK(heard.first.empty());
  CHECK(heard.rest == "\x16\x03");
  CHECK(hear("CONNECT [2001:db8::1]:22 HTTP/1.1\r\n\r\n").target ==
        EgressTarget{"2001:db8::1", 22});
  for (const char* bad : {"example.org", "example.org:", ":443", "a:0", "a:65536", "a:44x", "a b:1",
                          "[::1:1", "[a]:1", "::1:443", "u@a:1", "a/b:1"}) {
    INFO(bad);
    CHECK(status_of("CONNECT " + std::string(bad) + " HTTP/1.1\r\n\r\n") == 400);
  }
}

TEST_CASE("Opening: a request that two readers could read in two ways is refused",
          "[unit][agent][proxy]") {
  const auto with = [](const std::string& headers) {
    return status_of("POST http://a.org/ HTTP/1.1\r\n" + headers + "\r\n");
  };
  CHECK(with("Content-Length: 1\r\nContent-Length: 1\r\n") == 400);
  CHECK(with("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n") == 400);
  CHECK(with("Content-Length: +1\r\n") == 400);
  CHECK(with("Content-Length: 99999999999999999999999\r\n") == 400);
  CHECK(with("Transfer-Encoding: gzip, chunked\r\n") == 501);
  CHECK(with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n") == 400);
  CHECK(with("A: 1\r\n folded\r\n") == 400);
  CHECK(with("Content-Length : 1\r\n") == 400);
  CHECK(with("A: 1\nB: 2\r\n") == 400);
  CHECK(with("A: 1\rB: 2\r\n") == 400);
  CHECK(with(raw("A: \0\r\n", 6)) == 400);
  CHECK(with("no colon\r\n") == 400);
  CHECK(status_of("POST http://a.org/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n") == 501);
  const Heard kept =
      hear("GET http://a.org/ HTTP/1.1\r\nConnection: Content-Length\r\nContent-Length: 2\r\n\r\n");
  CHECK_THAT(kept.first, Catch::Contains("Content-Length: 2"));
}

TEST_CASE("Opening: what is no request to a proxy is told so", "[unit][agent][proxy]") {
  CHECK(status_of("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") == 400);
  CHECK(status_of("GET https://a.org/ HTTP/1.1\r\n\r\n") == 501);
  CHECK(status_of("GET ftp://a.org/ HTTP/1.1\r\n\r\n") == 501);
  CHECK(status_of("GET http:///x HTTP/1.1\r\n\r\n") == 400);
  CHECK(status_of("GET http://u:p@a.org/ HTTP/1.1\r\n\r\n") == 400);
  CHECK(status_of("GET http://a.org/ HTTP/2.0\r\n\r\n") == 400);
  CHECK(status_of("GET http://a.org/\r\n\r\n") == 400);
  CHECK(status_of("GET http://a.org/ x HTTP/1.1\r\n\r\n") == 400);
  CHECK(status_of("\x16\x03\x01") == 400);
  CHECK(status_of("\x04\x01") == 400);
  CHECK(status_of("GET " + std::string(40'000, 'x')) == 431);
  std::string many = "GET http://a.org/ HTTP/1.1\r\n";
  for (int i = 0; i < 300; ++i) many += "A: 1\r\n";
  CHECK(status_of(many + "\r\n") == 400);
}

TEST_CASE("Opening: SOCKS5 with a name, IPv4 and IPv6, however it is cut", "[unit][agent][proxy]") {
  const std::string hello = raw("\x05\x02\x02\x00", 4);
  const std::string to_name = raw("\x05\x01\x00\x03\x0b", 5) + "example.org" + raw("\x01\xbb", 2);
  const std::string to_v4 = raw("\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50", 10);
  const std::string to_v6 = raw("\x05\x01\x00\x04", 4) + raw("\x20\x01\x0d\xb8", 4) +
                            std::string(11, '\0') + raw("\x01\x00\x16", 3);
  for (std::size_t piece = 1; piece <= 30; ++piece) {
    INFO(piece);
    const Heard name = hear(hello + to_name + "more", piece);
    REQUIRE(name.state == State::kReady);
    CHECK(name.reply == raw("\x05\x00", 2));
    CHECK(name.via == EgressVia::kSocks);
    CHECK(name.target == EgressTarget{"example.org", 443});
    CHECK(name.rest == "more");
    CHECK(hear(hello + to_v4, piece).target == EgressTarget{"127.0.0.1", 80});
    CHECK(hear(hello + to_v6, piece).target.host == "2001:0db8:0000:0000:0000:0000:0000:0001");
  }
}

TEST_CASE("Opening: SOCKS5 that asks for more than CONNECT without a password is refused",
          "[unit][agent][proxy]") {
  const std::string hello = raw("\x05\x01\x00", 3);
  const auto answer_to = [&](const std::string& request) {
    const Heard heard = hear(hello + request);
    CHECK(heard.state == State::kRefused);
    REQUIRE(heard.reply.size() == 12);
    return static_cast<int>(heard.reply[3]);
  };
  CHECK(hear(raw("\x05\x01\x02", 3)).reply == raw("\x05\xff", 2));
  CHECK(hear(raw("\x05\x00", 2)).reply == raw("\x05\xff", 2));
  CHECK(answer_to(raw("\x05\x02\x00\x01\x01\x02\x03\x04\x00\x50", 10)) == 7);
  CHECK(answer_to(raw("\x05\x01\x00\x07\x01\x02\x03\x04\x00\x50", 10)) == 8);
  CHECK(answer_to(raw("\x04\x01\x00\x01\x01\x02\x03\x04\x00\x50", 10)) == 1);
  CHECK(answer_to(raw("\x05\x01\x00\x01\x01\x02\x03\x04\x00\x00", 10)) == 1);
  CHECK(answer_to(raw("\x05\x01\x00\x03\x00\x00\x50", 7)) == 1);
  CHECK(answer_to(raw("\x05\x01\x00\x03\x01\n\x00\x50", 8)) == 1);
}

TEST_CASE("Answers: a refusal has a text, and SOCKS5 its number", "[unit][agent][proxy]") {
  const Error forbidden(ErrorCode::kPermissionDenied, "a.org:80 is not in the allow-list");
  const std::string http = agent::refused_answer(EgressVia::kHttp, forbidden);
  CHECK_THAT(http, Catch::StartsWith("HTTP/1.1 403 Forbidden by cove (policy.proxy.allow)\r\n") &&
                       Catch::Contains("\r\nConnection: close\r\n") &&
                       Catch::EndsWith("\r\n\r\ncove: a.org:80 is not in the allow-list\n"));
  CHECK(agent::refused_answer(EgressVia::kSocks, forbidden) ==
        raw("\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00", 10));
  CHECK(agent::refused_answer(EgressVia::kSocks, Error(ErrorCode::kNotFound, ""))[1] == 4);
  CHECK_THAT(agent::refused_answer(EgressVia::kConnect, Error(ErrorCode::kFailedPrecondition, "")),
             Catch::StartsWith("HTTP/1.1 503 "));
}
