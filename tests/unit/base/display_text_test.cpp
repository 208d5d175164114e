#include "base/text/display_text.hpp"

#include <catch2/catch.hpp>

using cove::base::escaped;
using cove::base::quoted;

TEST_CASE("Display text: what could steer a terminal is written as an escape",
          "[unit][base][security]") {
  CHECK(escaped("plain caf\xC3\xA9 \xE6\x95\xB0 \xF0\x9F\x98\x80") ==
        "plain caf\xC3\xA9 \xE6\x95\xB0 \xF0\x9F\x98\x80");
  CHECK(escaped("a\nb\tc\rd") == "a\\nb\\tc\\rd");
  CHECK(escaped("\x1B[2J\x7F") == "\\x1b[2J\\x7f");
  CHECK(escaped("\xFFx\xC3") == "\\xffx\\xc3");
  CHECK(escaped("back\\slash") == "back\\\\slash");
  CHECK(escaped("\xC2\x9B") == "\\xc2\\x9b");           // a C1 control
  CHECK(escaped("\xE2\x80\xAE") == "\\xe2\\x80\\xae");  // right-to-left override
  CHECK(escaped(std::string_view("\0", 1)) == "\\x00");
}

TEST_CASE("Display text: a very long text keeps its ends", "[unit][base]") {
  CHECK(quoted("x") == "'x'");
  const std::string shown = quoted("begin" + std::string(5000, 'x') + "end");
  CHECK(shown.size() < 300);
  CHECK(shown.substr(0, 6) == "'begin");
  CHECK(shown.substr(shown.size() - 4) == "end'");
}
