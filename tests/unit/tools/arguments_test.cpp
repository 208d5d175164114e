#include "tools/arguments/arguments.hpp"

#include <catch2/catch.hpp>

using namespace cove;
using cove::tools::read_arguments;
using nlohmann::json;

namespace {

const json kSchema = json::parse(R"({
  "type": "object", "required": ["path"], "additionalProperties": false,
  "properties": {
    "path": {"type": "string", "minLength": 1},
    "count": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
    "all": {"type": "boolean", "default": false},
    "names": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string"}},
    "entries": {"type": "array", "minItems": 1, "maxItems": 2, "items": {
      "type": "object", "required": ["id"], "additionalProperties": false,
      "properties": {"id": {"type": "integer"}}}}
  }})");

tools::Arguments read(const std::string& text) { return read_arguments(text, kSchema).value(); }

std::string refusal(const std::string& text) {
  const auto refused = read_arguments(text, kSchema);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kInvalidArgument);
  return refused.error().message();
}

}  // namespace

TEST_CASE("Tool arguments: what is right is taken without a note, with its defaults",
          "[unit][tools]") {
  const auto arguments = read(R"({"path": "a", "count": 5.0})");
  CHECK(arguments.object == json({{"path", "a"}, {"count", 5}, {"all", false}}));
  CHECK(arguments.notes.empty());
}

TEST_CASE("Tool arguments: what can only be meant in one way is taken, and said", "[unit][tools]") {
  const auto arguments = read(R"({"path": 7, "count": "4", "all": "TRUE", "names": "x",
                                  "entries": "[{\"id\": \"1\"}]"})");
  CHECK(arguments.object == json({{"path", "7"},
                                  {"count", 4},
                                  {"all", true},
                                  {"names", {"x"}},
                                  {"entries", {{{"id", 1}}}}}));
  CHECK(arguments.notes ==
        std::vector<std::string>{
            "all: a text was taken as true or false", "count: a text was taken as the number in it",
            "entries: it was taken as an array",
            "entries[0].id: a text was taken as the number in it",
            "names: it was taken as an array", "path: a number was taken as its text"});
}

TEST_CASE("Tool arguments: null is no value, but for what is required", "[unit][tools]") {
  const auto arguments = read(R"({"path": "a", "count": null})");
  CHECK(arguments.object.at("count") == 3);
  CHECK(arguments.notes == std::vector<std::string>{"count: null was taken as not given"});
  CHECK(refusal(R"({"path": null})") == "path must be a text of at least one character, not null");
}

TEST_CASE("Tool arguments: a text that is almost JSON is put right, and never completed",
          "[unit][tools]") {
  CHECK(read("```json\n{\"path\": \"a\",}\n```").notes.size() == 2);
  CHECK(read("{\"path\": \"a\nb,]\"}").object.at("path") == "a\nb,]");
  CHECK(read(R"("{\"path\": \"a\"}")").object.at("path") == "a");
  CHECK(refusal(R"({"path": "a)").starts_with("the arguments are not valid JSON"));
  CHECK(refusal(R"({"path": "a", "names": ["x")").starts_with("the arguments are not valid JSON"));
  CHECK(refusal("[]") == "the arguments are no JSON object");
  CHECK(refusal("") == "path is missing; it must be a text of at least one character");
}

TEST_CASE("Tool arguments: everything that is wrong is said at once, by its place",
          "[unit][tools]") {
  CHECK_THAT(refusal(R"({"paht": "a", "count": 10})"),
             Catch::Contains("paht is not a key; known there: all, count, entries, names, path") &&
                 Catch::Contains("path is missing") &&
                 Catch::Contains("count must be an integer from 1 to 9, not 10"));
  CHECK(refusal(R"({"path": "a", "entries": [{"id": 1}, {"id": "x"}]})") ==
        "entries[1].id must be an integer, not \"x\"");
  CHECK(refusal(R"({"path": "a", "names": []})") ==
        "names must be an array of 1 to 2 texts, not []");
}

TEST_CASE("Tool arguments: more than 16 MiB are refused", "[unit][tools]") {
  const auto refused = read_arguments(std::string((16U << 20U) + 1, ' '), kSchema);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::kTooLarge);
}
