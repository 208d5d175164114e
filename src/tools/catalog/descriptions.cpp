// How the tools are described to a model's maker, or to an MCP client.
#include <nlohmann/json.hpp>

#include <cove/tools.hpp>

#include "base/text/json.hpp"
#include "tools/catalog/catalog.hpp"

namespace cove {
namespace {

using nlohmann::json;
using tools::Tool;

json describe(const Tool& tool, ToolFormat format) {
  if (format == ToolFormat::kMcp) {
    return {{"name", tool.name},
            {"title", tool.title},
            {"description", tool.description},
            {"inputSchema", tool.parameters},
            {"annotations", tool.annotations}};
  }
  json plain{
      {"name", tool.name}, {"description", tool.description}, {"parameters", tool.parameters}};
  if (format == ToolFormat::kPlain) return plain;
  return {{"type", "function"}, {"function", std::move(plain)}};
}

}  // namespace

std::string tools_describe(ToolFormat format) {
  json list = json::array();
  for (const Tool& tool : tools::all_tools()) list.push_back(describe(tool, format));
  return base::dump_json_pretty(list);
}

std::vector<std::string_view> tool_names() {
  std::vector<std::string_view> names;
  for (const Tool& tool : tools::all_tools()) names.push_back(tool.name);
  return names;
}

}  // namespace cove
