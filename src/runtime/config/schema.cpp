#include "runtime/config/schema.hpp"

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

namespace cove::runtime {
namespace {

using nlohmann::json;
using Path = std::vector<std::string>;

std::string text_of(const Path& path, const std::string& key = {}) {
  std::string text;
  for (const std::string& step : path) text += (text.empty() ? "" : ".") + step;
  if (!key.empty()) text += (text.empty() ? "" : ".") + key;
  return text.empty() ? "the document" : text;
}

/// Where the validator found something wrong: valijson gives "<root>", "[lifecycle]", "[stop]".
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
  std::string text = base::dump_json(value);
  if (text.size() > kMost) text = text.substr(0, base::cut_before(text, kMost)) + "...";
  return text;
}

/// "an integer from 1 to 64", "one of \"none\", \"host\"".
std::string expectation(const json& schema) {
  if (schema.contains("enum")) {
    std::vector<std::string> values;
    for (const json& value : schema["enum"]) values.push_back(base::dump_json(value));
    return (values.size() == 1 ? "" : "one of ") + list_of(values);
  }
  const std::string type = schema.value("type", "");
  if (type == "string") return "a text of at least one character";
  if (type == "object") return "an object";
  std::string text = type == "integer" ? "an integer" : "a number";
  // "anyOf": [{"const": 0}, {"minimum": n}] - 0 stands for the default.
  const bool or_zero = schema.contains("anyOf");
  const json& bounds = or_zero ? schema["anyOf"].back() : schema;
  if (bounds.contains("minimum")) text += " from " + base::dump_json(bounds["minimum"]);
  if (schema.contains("maximum")) text += " to " + base::dump_json(schema["maximum"]);
  if (or_zero) text += ", or 0";
  return text;
}

void explain_object(const json& schema, const json& value, const Path& path,
                    std::vector<std::string>& problems) {
  const json properties = schema.value("properties", json::object());
  std::vector<std::string> known;
  for (const auto& item : properties.items()) known.push_back(item.key());
  for (const auto& item : value.items()) {
    if (properties.contains(item.key())) continue;
    problems.push_back(text_of(path, item.key()) + " is not a key; known there: " + list_of(known));
  }
  for (const json& required : schema.value("required", json::array())) {
    const auto key = required.get<std::string>();
    if (value.contains(key)) continue;
    problems.push_back(text_of(path, key) + " is missing; it must be " +
                       expectation(properties.at(key)));
  }
}

void explain(const json& document, const json& schema, const Path& path,
             std::vector<std::string>& problems) {
  const json* value = &document;
  const json* rule = &schema;
  for (const std::string& step : path) {
    value = &value->at(step);
    rule = &rule->at("properties").at(step);
  }
  if (value->is_object() && rule->value("type", "") == "object") {
    explain_object(*rule, *value, path, problems);
    return;
  }
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

}  // namespace cove::runtime
