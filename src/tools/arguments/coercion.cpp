#include "tools/arguments/coercion.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/text/json.hpp"

namespace cove::tools {
namespace {

using nlohmann::json;

std::optional<json> integer_in(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc() || stop != end || text.empty()) return std::nullopt;
  return json(number);
}

std::optional<json> boolean_in(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (text == "true") return json(true);
  if (text == "false") return json(false);
  return std::nullopt;
}

/// 5.0 is the integer 5, in JSON Schema too.
std::optional<json> integer_of(double number) {
  constexpr double kMost = 9007199254740992.0;  // 2^53: above, doubles are not all integers
  if (!(std::abs(number) <= kMost) || std::floor(number) != number) return std::nullopt;
  return json(static_cast<std::int64_t>(number));
}

std::optional<json> array_of(const json& value, const json& items) {
  const std::string type = items.value("type", "");
  if (value.is_string()) {
    Result<json> inner = base::parse_json(value.get_ref<const std::string&>());
    if (inner && inner->is_array()) return *std::move(inner);
    if (inner && inner->is_object() && type == "object") return json::array({*std::move(inner)});
  }
  const bool is_item =
      (type == "string" && value.is_string()) || (type == "object" && value.is_object());
  if (!is_item) return std::nullopt;
  return json::array({value});
}

struct Coerced {
  json value;
  const char* what;  // null: it is the same value
};

std::optional<Coerced> coerced(const json& value, const json& schema) {
  const std::string type = schema.value("type", "");
  std::optional<json> other;
  if (type == "integer" && value.is_string()) {
    other = integer_in(value.get_ref<const std::string&>());
    if (other) return Coerced{*std::move(other), "a text was taken as the number in it"};
  }
  if (type == "integer" && value.is_number_float()) {
    other = integer_of(value.get<double>());
    if (other) return Coerced{*std::move(other), nullptr};
  }
  if (type == "boolean" && value.is_string()) {
    other = boolean_in(value.get<std::string>());
    if (other) return Coerced{*std::move(other), "a text was taken as true or false"};
  }
  if (type == "string" && value.is_number()) {
    return Coerced{base::dump_json(value), "a number was taken as its text"};
  }
  if (type == "array" && !value.is_array()) {
    other = array_of(value, schema.at("items"));
    if (other) return Coerced{*std::move(other), "it was taken as an array"};
  }
  return std::nullopt;
}

class Coercion {
 public:
  explicit Coercion(std::vector<std::string>& notes) : notes_(notes) {}

  void take_object(json& object, const json& schema, const std::string& place) {
    const json& properties = schema.at("properties");
    const json& required = schema.at("required");
    for (const auto& [key, rule] : properties.items()) {
      const auto found = object.find(key);
      if (found == object.end()) continue;
      const bool is_required = std::find(required.begin(), required.end(), key) != required.end();
      if (found->is_null() && !is_required) {
        object.erase(found);
        note(place + key, "null was taken as not given");
        continue;
      }
      take_value(*found, rule, place + key);
    }
    for (const auto& [key, rule] : properties.items()) {
      if (rule.contains("default") && !object.contains(key)) object[key] = rule["default"];
    }
  }

 private:
  void take_value(json& value, const json& schema, const std::string& place) {
    if (std::optional<Coerced> other = coerced(value, schema)) {
      value = std::move(other->value);
      if (other->what != nullptr) note(place, other->what);
    }
    if (!value.is_array() || schema.value("type", "") != "array") return;
    const json& items = schema.at("items");
    if (items.value("type", "") != "object") return;
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (value[i].is_object())
        take_object(value[i], items, place + "[" + std::to_string(i) + "].");
    }
  }

  void note(const std::string& place, const std::string& what) {
    constexpr std::size_t kMostNotes = 8;
    if (notes_.size() < kMostNotes) notes_.push_back(place + ": " + what);
  }

  std::vector<std::string>& notes_;
};

}  // namespace

void coerce(json& object, const json& schema, std::vector<std::string>& notes) {
  Coercion(notes).take_object(object, schema, "");
}

}  // namespace cove::tools
