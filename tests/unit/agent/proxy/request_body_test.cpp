#include "agent/proxy/request_body.hpp"

#include <string>

#include <catch2/catch.hpp>

using cove::agent::RequestBody;

namespace {

/// How many bytes are taken, given `piece` at a time.
std::size_t taken(RequestBody body, const std::string& bytes, std::size_t piece) {
  std::size_t all = 0;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    all += body.take(std::string_view(bytes).substr(at, piece));
  }
  return all;
}

}  // namespace

TEST_CASE("RequestBody: none and a counted one end where they should", "[unit][agent][proxy]") {
  RequestBody none;
  CHECK(none.is_over());
  CHECK(none.take("GET") == 0);
  CHECK(RequestBody::of_length(0).is_over());
  RequestBody counted = RequestBody::of_length(5);
  CHECK(counted.take("abc") == 3);
  CHECK_FALSE(counted.is_over());
  CHECK(counted.take("deGET") == 2);
  CHECK(counted.is_over());
}

TEST_CASE("RequestBody: chunks end behind their trailers, however they are cut",
          "[unit][agent][proxy]") {
  for (const std::string chunks :
       {"0\r\n\r\n", "3\r\nabc\r\n0\r\n\r\n", "A;x=\"y\"\r\n0123456789\r\n0000\r\nT: 1\r\n\r\n",
        "1 \r\nx\r\n0\r\n\r\n"}) {
    const std::string text = chunks + "GET / HTTP/1.1";
    for (std::size_t piece = 1; piece <= text.size(); ++piece) {
      INFO(chunks << " by " << piece);
      CHECK(taken(RequestBody::chunked(), text, piece) == chunks.size());
    }
  }
}

TEST_CASE("RequestBody: framing that two readers could read in two ways is a fault",
          "[unit][agent][proxy]") {
  for (const std::string bad :
       {"\r\n", "x\r\n", "-1\r\n", "+1\r\n", "0x1\r\n", "1\r\nab\r\n", "1\r\na\n0\r\n\r\n",
        "1\r\na\r\r\n", "FFFFFFFFFFFFFFFF\r\n", ";\r\n"}) {
    INFO(bad);
    RequestBody body = RequestBody::chunked();
    body.take(bad);
    CHECK(body.is_broken());
    CHECK(body.take("0\r\n\r\n") == 0);
  }
}

TEST_CASE("RequestBody: endless extensions and trailers are a fault", "[unit][agent][proxy]") {
  RequestBody extension = RequestBody::chunked();
  extension.take("1;" + std::string(20'000, 'x'));
  CHECK(extension.is_broken());
  RequestBody trailers = RequestBody::chunked();
  trailers.take("0\r\n");
  for (int i = 0; i < 2000; ++i) trailers.take("Name: value\r\n");
  CHECK(trailers.is_broken());
  // What many chunks have between them does not add up.
  RequestBody many = RequestBody::chunked();
  for (int i = 0; i < 20'000; ++i) many.take("1\r\nx\r\n");
  CHECK_FALSE(many.is_broken());
}
