#include "tools/arguments/arguments.hpp"

#include "base/text/json_schema.hpp"
#include "tools/arguments/coercion.hpp"
#include "tools/arguments/lenient_json.hpp"

namespace cove::tools {
namespace {

constexpr std::size_t kMostText = std::size_t{16} << 20U;

std::string parameters_of(const nlohmann::json& schema) {
  std::string text;
  for (const auto& [key, rule] : schema.at("properties").items()) {
    bool is_required = false;
    for (const auto& name : schema.at("required")) is_required = is_required || name == key;
    text += (text.empty() ? "" : ", ") + key + (is_required ? " (required)" : "");
  }
  return text.empty() ? "The tool takes no parameters: send {}." : "Parameters: " + text + ".";
}

}  // namespace

Result<Arguments> read_arguments(std::string_view text, const nlohmann::json& schema) {
  if (text.size() > kMostText) {
    return Error(ErrorCode::kTooLarge, "the arguments have " + std::to_string(text.size()) +
                                           " bytes; at most 16 MiB are taken at once");
  }
  Arguments arguments;
  COVE_TRY(arguments.object, parse_leniently(text, arguments.notes));
  coerce(arguments.object, schema, arguments.notes);
  const Result<void> checked = base::check_against_schema(arguments.object, schema);
  if (!checked) return checked.error().with_context("hint", parameters_of(schema));
  return arguments;
}

}  // namespace cove::tools
