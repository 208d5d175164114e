#include "base/text/name_text.hpp"

#include <catch2/catch.hpp>

#include "base/text/utf8.hpp"

using cove::base::is_utf8;
using cove::base::name_bytes;
using cove::base::name_text;

TEST_CASE("NameText: a name that is UTF-8 stays as it is", "[unit][base]") {
  for (const std::string name : {"a.txt", "数据.csv", "line\nbreak", R"(C:\temp)", R"(\x)",
                                 R"(\x1)", R"(\xg0)", R"(\\)", "tab\t", "\xF0\x9F\x98\x80"}) {
    CHECK(name_text(name) == name);
    CHECK(name_bytes(name) == name);
  }
}

TEST_CASE("NameText: a byte that is no UTF-8 is escaped and comes back", "[unit][base]") {
  CHECK(name_text("caf\xe9.txt") == R"(caf\xe9.txt)");
  CHECK(name_bytes(R"(caf\xe9.txt)") == "caf\xe9.txt");
  CHECK(name_text("\xe6\x95") == R"(\xe6\x95)");
  CHECK(name_bytes(R"(\xFF)") == "\xff");
}

TEST_CASE("NameText: a backslash that would be read as an escape is escaped", "[unit][base]") {
  CHECK(name_text(R"(a\xe9)") == R"(a\x5cxe9)");
  CHECK(name_bytes(R"(a\x5cxe9)") == R"(a\xe9)");
  CHECK(name_text("\\\xff") == R"(\\xff)");
  CHECK(name_bytes(R"(\\xff)") == "\\\xff");
}

TEST_CASE("NameText: every short name of the bytes that matter round-trips to distinct UTF-8",
          "[unit][base]") {
  const std::string alphabet = "\\x5c\xff\xe9\x80g";
  std::string name;
  std::size_t wrong = 0;
  for (std::size_t number = 0; number < 8U * 8 * 8 * 8 * 8 * 8; ++number) {
    name.clear();
    for (std::size_t rest = number; rest > 0; rest /= 8) name += alphabet[rest % 8];
    const std::string text = name_text(name);
    if (name_bytes(text) != name || !is_utf8(text)) ++wrong;
  }
  CHECK(wrong == 0);
}
