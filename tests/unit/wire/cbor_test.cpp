#include "wire/cbor.hpp"

#include <random>

#include <catch2/catch.hpp>

#include "wire/fields.hpp"
#include "wire/frame.hpp"

using cove::Bytes;
using cove::ErrorCode;
using cove::wire::byte_string;
using cove::wire::decode_cbor;
using cove::wire::encode_cbor;
using cove::wire::Fields;
using nlohmann::json;

namespace {

Bytes bytes_of(std::initializer_list<unsigned> values) {
  Bytes bytes;
  for (const unsigned value : values) bytes.push_back(std::byte(value));
  return bytes;
}

bool refused(const Bytes& bytes) {
  const auto value = decode_cbor(bytes);
  return !value && value.error().code() == ErrorCode::kIntegrity;
}

/// `depth` arrays of one element, around a number.
Bytes nested(std::size_t depth) {
  Bytes bytes(depth, std::byte{0x81});
  bytes.push_back(std::byte{0x01});
  return bytes;
}

}  // namespace

TEST_CASE("CBOR: what is encoded decodes to the same", "[unit][wire]") {
  const json value = {{"number", 18446744073709551615ULL},
                      {"negative", -5},
                      {"bytes", byte_string(std::string("\xff\0\x80", 3))},
                      {"list", {1, true, nullptr, "text"}},
                      {"map", {{"inner", 2.5}}}};
  CHECK(decode_cbor(encode_cbor(value)).value() == value);
}

TEST_CASE("CBOR: a bomb of 60,000 nested arrays is refused before the decoder sees it",
          "[unit][wire]") {
  CHECK(refused(nested(60'000)));
  CHECK(refused(nested(17)));
  CHECK(decode_cbor(nested(16)));
  Bytes maps;
  for (int i = 0; i < 20'000; ++i) {
    maps.push_back(std::byte{0xA1});
    maps.push_back(std::byte{0x60});
  }
  maps.push_back(std::byte{0x01});
  CHECK(refused(maps));
}

TEST_CASE("CBOR: lengths that are not there are refused without reserving", "[unit][wire]") {
  CHECK(refused(bytes_of({0x9B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF})));
  CHECK(refused(bytes_of({0xBB, 0x80, 0, 0, 0, 0, 0, 0, 0})));
  CHECK(refused(bytes_of({0x5B, 0, 0, 0, 1, 0, 0, 0, 0})));
  CHECK(refused(bytes_of({0x9A, 0x00, 0x10, 0x00, 0x00, 0x01})));
  CHECK(refused(bytes_of({0x61})));
  CHECK(refused(bytes_of({0x19, 0x01})));
  CHECK(refused(Bytes()));
}

TEST_CASE("CBOR: what this protocol does not use is refused", "[unit][wire]") {
  CHECK(refused(bytes_of({0x9F, 0x01, 0xFF})));        // indefinite length
  CHECK(refused(bytes_of({0x7F, 0x61, 0x61, 0xFF})));  // of a text
  CHECK(refused(bytes_of({0xC0, 0x01})));              // a tag
  CHECK(refused(bytes_of({0xA1, 0x01, 0x02})));        // a key that is a number
  CHECK(refused(bytes_of({0xF7})));                    // undefined
  CHECK(refused(bytes_of({0x01, 0x01})));              // two items
  CHECK(refused(bytes_of({0x3B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF})));
  CHECK(refused(bytes_of({0x1C})));  // reserved
  CHECK(refused(Bytes(cove::wire::kMaxControlBytes + 1, std::byte{0x01})));
}

TEST_CASE("CBOR: every prefix of a message is refused", "[unit][wire]") {
  const Bytes whole = encode_cbor({{"a", {1, 2, 3}}, {"b", byte_string("xyz")}, {"c", -70000}});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK(refused(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))));
  }
}

TEST_CASE("CBOR: random bytes never do more than fail", "[unit][wire]") {
  std::mt19937 random(11);
  for (int round = 0; round < 20'000; ++round) {
    Bytes bytes(random() % 64);
    for (auto& byte : bytes) byte = std::byte(random() & 0xFF);
    if (const auto value = decode_cbor(bytes)) Fields(*value).number("x");
  }
  SUCCEED();
}

TEST_CASE("Fields: unknown ones are passed over and missing ones have defaults", "[unit][wire]") {
  const json map = {{"size", 5U}, {"a field of the next version", {1, 2}}};
  Fields fields(map);
  CHECK(fields.number("size") == 5);
  CHECK(fields.number("other", 9) == 9);
  CHECK(fields.text("name").empty());
  CHECK(fields.result());
}

TEST_CASE("Fields: a wrong type makes the message wrong and is named", "[unit][wire]") {
  const json map = {{"size", "five"}, {"small", 1ULL << 40}, {"list", {1}}, {"neg", -1}};
  const auto wrong = [&](auto read) {
    Fields fields(map);
    read(fields);
    return fields.result().error().message();
  };
  CHECK(wrong([](Fields& f) { f.number("size"); }).find("size") != std::string::npos);
  CHECK(wrong([](Fields& f) { f.small("small"); }).find("small") != std::string::npos);
  CHECK(wrong([](Fields& f) { f.byte_list("list"); }).find("list") != std::string::npos);
  CHECK(wrong([](Fields& f) { f.number("neg"); }).find("neg") != std::string::npos);
  const json list = json::array();
  CHECK_FALSE(Fields(list).result());
}
