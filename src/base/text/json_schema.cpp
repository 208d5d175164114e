#include "base/text/json_schema.hpp"

#include <algorithm>
#include <exception>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "base/text/json.hpp"
#include "base/text/utf8.hpp"

namespace cove::base {
namespace {

using nlohmann::json;
using Path = std::vector<std::string>;

bool is_index(const std::string& step) {
  return !step.empty() && step.find_first_not_of("0123456789") == std::string::npos;
}

/// "entries[1].path"
std::string text_of(const Path& path, const std::string& key = {}) {
  std::string text;
  for (const std::string& step : path) {
    if (is_index(step)) {
      text += "[" + step + "]";
    } else {
      text += (text.empty() ? "" : ".") + step;
    }
  }
  if (!key.empty()) text += (text.empty() ? "" : ".") + key;
  return text.empty() ? "the document" : text;
}

/// Where the validator found something wrong: valijson gives "<root>", "[entries]", "[1]".
std::set<Path> wrong_places(valijson::ValidationResults& results) {
  std::set<Path> places;
  valijson::ValidationResults::Error error;
  while (results.popError(error)) {
    Path path;
    for (const std::string& step : error.context) {
      if (step.size() > 2 && step.front() == '[') path.push_back(step.substr(1, step.size() - 2));
    }
    places.insert(std::move(path));
  }
  return places;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string shortened(const json& value) {
  constexpr std::size_t kMost = 60;
  std::string text = dump_json(value);
  if (text.size() > kMost) text = text.substr(0, cut_before(text, kMost)) + "...";
  return text;
}

/// The types that a rule allows: one name, or a list of them.
std::vector<std::string> types_of(const json& schema) {
  const json type = schema.value("type", json());
  if (type.is_string()) return {type.get<std::string>()};
  return type.is_array() ? type.get<std::vector<std::string>>() : std::vector<std::string>();
}

bool allows(const json& schema, const char* type) {
  const auto types = types_of(schema);
  return std::find(types.begin(), types.end(), type) != types.end();
}

/// "an integer from 1 to 64"
std::string number_expectation(const json& schema) {
  std::string text = schema.value("type", "") == "integer" ? "an integer" : "a number";
  // "anyOf": [{"const": 0}, {"minimum": n}] - 0 stands for the default.
  const bool or_zero = schema.contains("anyOf");
  const json& bounds = or_zero ? schema["anyOf"].back() : schema;
  if (bounds.contains("minimum")) text += " from " + dump_json(bounds["minimum"]);
  if (schema.contains("maximum")) text += " to " + dump_json(schema["maximum"]);
  if (or_zero) text += ", or 0";
  return text;
}

/// "an array of 1 to 100 objects"
std::string array_expectation(const json& schema) {
  std::string text = "an array of ";
  if (schema.contains("maxItems")) {
    text += dump_json(schema.value("minItems", json(0))) + " to " + dump_json(schema["maxItems"]);
    text += " ";
  }
  std::vector<std::string> kinds;
  if (allows(schema["items"], "string")) kinds.emplace_back("texts");
  if (allows(schema["items"], "integer")) kinds.emplace_back("integers");
  if (allows(schema["items"], "object")) kinds.emplace_back("objects");
  return text + (kinds.size() == 2 ? kinds[0] + " or " + kinds[1] : list_of(kinds));
}

/// "an integer from 1 to 64", "one of \"none\", \"host\"".
// NOLINTNEXTLINE(misc-no-recursion): once, for each of two types
std::string expectation(const json& schema) {
  if (schema.contains("enum")) {
    std::vector<std::string> values;
    for (const json& value : schema["enum"]) values.push_back(dump_json(value));
    return (values.size() == 1 ? "" : "one of ") + list_of(values);
  }
  const std::vector<std::string> types = types_of(schema);
  if (types.size() == 2) {
    return expectation({{"type", types[0]}}) + " or " + expectation({{"type", types[1]}});
  }
  const std::string type = types.empty() ? std::string() : types.front();
  if (type == "string") {
    return schema.contains("minLength") ? "a text of at least one character" : "a text";
  }
  if (type == "object") return "an object";
  if (type == "boolean") return "true or false";
  return type == "array" ? array_expectation(schema) : number_expectation(schema);
}

/// The rule of a member: its own, or that of every member that has none. Null: it may not be there.
const json* rule_of(const json& schema, const std::string& key) {
  const auto properties = schema.find("properties");
  if (properties != schema.end() && properties->contains(key)) return &properties->at(key);
  const auto others = schema.find("additionalProperties");
  return others != schema.end() && others->is_object() ? &*others : nullptr;
}

void explain_object(const json& schema, const json& value, const Path& path,
                    std::vector<std::string>& problems) {
  const json properties = schema.value("properties", json::object());
  std::vector<std::string> known;
  for (const auto& item : properties.items()) known.push_back(item.key());
  for (const auto& item : value.items()) {
    if (rule_of(schema, item.key()) != nullptr) continue;
    problems.push_back(text_of(path, item.key()) + " is not a key; known there: " + list_of(known));
  }
  for (const json& required : schema.value("required", json::array())) {
    const auto key = required.get<std::string>();
    if (value.contains(key)) continue;
    problems.push_back(text_of(path, key) + " is missing; it must be " +
                       expectation(properties.at(key)));
  }
}

/// An array of the right length is named only because something in it is wrong.
bool is_wrong_inside(const json& schema, const json& value) {
  if (!value.is_array() || !allows(schema, "array")) return false;
  return value.size() >= schema.value("minItems", std::size_t{0}) &&
         value.size() <= schema.value("maxItems", value.size());
}

void explain(const json& document, const json& schema, const Path& path,
             std::vector<std::string>& problems) {
  const json* value = &document;
  const json* rule = &schema;
  for (const std::string& step : path) {
    const bool in_array = value->is_array();
    rule = in_array ? &rule->at("items") : rule_of(*rule, step);
    if (rule == nullptr) return;  // its parent says that it is not known
    value = in_array ? &value->at(std::stoull(step)) : &value->at(step);
  }
  if (value->is_object() && allows(*rule, "object")) {
    explain_object(*rule, *value, path, problems);
    return;
  }
  if (is_wrong_inside(*rule, *value)) return;
  problems.push_back(text_of(path) + " must be " + expectation(*rule) + ", not " +
                     shortened(*value));
}

Result<void> check(const json& document, const json& schema_document) {
  valijson::Schema schema;
  valijson::SchemaParser parser;
  parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(schema_document), schema);
  valijson::Validator validator(valijson::Validator::kStrongTypes);
  valijson::ValidationResults results;
  if (validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(document), &results)) {
    return ok();
  }
  std::vector<std::string> problems;
  for (const Path& path : wrong_places(results)) explain(document, schema_document, path, problems);
  if (problems.empty()) return Error(ErrorCode::kInternal, "the schema's refusal has no reason");
  std::string text;
  for (const std::string& problem : problems) text += (text.empty() ? "" : "; ") + problem;
  return Error(ErrorCode::kInvalidArgument, std::move(text));
}

}  // namespace

Result<void> check_against_schema(const json& document, const json& schema) {
  try {
    return check(document, schema);
  } catch (const std::exception& e) {
    return Error(ErrorCode::kInternal, std::string("checking against a JSON Schema: ") + e.what());
  }
}

}  // namespace cove::base
