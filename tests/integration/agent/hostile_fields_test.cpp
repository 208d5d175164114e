// Each field of each answer with each wrong value: one of another type breaks the protocol, and a
// strange one at least ends the call.
#include <functional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "support/fixtures/hostile_agent.hpp"
#include "wire/cbor.hpp"

using namespace cove;
using nlohmann::json;
using test::Attack;
using test::Attacker;
using test::Fate;
using test::HostCall;
using test::Said;
using wire::FrameType;

namespace {

using Place = json::json_pointer;

/// Where there are values in `value`, at any depth.
void add_places(const json& value, const Place& at, std::vector<Place>& places) {
  if (!value.is_structured()) return;
  for (auto item = value.begin(); item != value.end(); ++item) {
    const Place inner = value.is_object()
                            ? at / item.key()
                            : at / static_cast<std::size_t>(std::distance(value.begin(), item));
    places.push_back(inner);
    add_places(*item, inner, places);
  }
}

/// Integers are one kind, with and without a sign.
int kind_of(const json& value) {
  return value.is_number_integer() ? -1 : static_cast<int>(value.type());
}

std::vector<json> wrong_values() {
  return {
      nullptr,  // missing
      -1,
      1ULL << 63U,
      UINT64_MAX,
      INT64_MIN,
      1e300,
      true,
      "text",
      wire::byte_string("../../etc"),
      wire::byte_string("/etc"),
      wire::byte_string(std::string("a\0b", 3)),
      wire::byte_string(std::string(50'000, 'x')),
      wire::byte_string("\xff\xfe"),
      json::array(),
      json::array({json::array()}),
      json::object(),
  };
}

std::string shown(const json& value) {
  return value.dump(-1, ' ', true, json::error_handler_t::replace).substr(0, 60);
}

void say_honestly(const Attacker& at, const std::function<void(test::Script&)>& change) {
  at.hear_upload();
  test::Script script = at.call.honest(at.request);
  change(script);
  for (const Said& said : script) at.say(said);
}

/// What an honest agent says to the call; ids in it are of one play only.
test::Script honest_script(const HostCall& call, std::string& wrong) {
  base::IoLoop loop;
  test::HostOfHostile host(loop);
  test::Script script;
  const auto part = [&](const Attacker& at) {
    say_honestly(at, [&](const test::Script& honest) { script = honest; });
  };
  const auto error = host.play(call, part, {});
  if (error) wrong += std::string(call.name) + " with an honest agent: " + error->message() + "\n";
  return script;
}

Attack attack_of(std::size_t said, const Place& place, const json& value, Fate fate) {
  const std::string name = place.to_string() + " = " + shown(value);
  return {name, fate, [=](const Attacker& at) {
            say_honestly(at, [&](test::Script& script) {
              json map = wire::decode_cbor(script[said].payload).value();
              map[place] = value;
              script[said].payload = wire::encode_cbor(map);
            });
          }};
}

std::vector<Attack> attacks_on(const test::Script& script) {
  std::vector<Attack> attacks;
  for (std::size_t said = 0; said < script.size(); ++said) {
    const auto map = wire::decode_cbor(script[said].payload);
    if (!map) continue;  // bytes of a file, or what a search packs
    std::vector<Place> places;
    add_places(*map, Place(), places);
    for (const Place& place : places) {
      for (const json& value : wrong_values()) {
        const bool may_be = value.is_null() || kind_of(value) == kind_of((*map)[place]);
        attacks.push_back(attack_of(said, place, value, may_be ? Fate::kEither : Fate::kProvider));
      }
    }
  }
  return attacks;
}

std::string try_fields(const std::vector<HostCall>& calls) {
  std::string wrong;
  std::size_t tried = 0;
  for (const HostCall& call : calls) {
    for (const Attack& attack : attacks_on(honest_script(call, wrong))) {
      wrong += test::try_one(call, attack);
      ++tried;
    }
  }
  return tried > 10 ? wrong : wrong + "nothing was tried\n";
}

}  // namespace

TEST_CASE("Guest: a wrong field of what is said of commands ends with a provider error",
          "[integration][guest][security]") {
  CHECK(try_fields(test::command_calls()) == "");
}

TEST_CASE("Guest: a wrong field of what is said of files ends with a provider error",
          "[integration][guest][security]") {
  CHECK(try_fields(test::file_calls()) == "");
}

TEST_CASE("Guest: a wrong field of what is said of trees and searches ends with a provider error",
          "[integration][guest][security]") {
  CHECK(try_fields(test::tree_calls()) == "");
  CHECK(try_fields(test::search_calls()) == "");
}
