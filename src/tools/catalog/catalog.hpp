/// The tools that there are: what is said of each, and what it does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "tools/calls/tool_call.hpp"

namespace cove::tools {

struct Tool {
  std::string name;
  std::string title;
  std::string description;
  nlohmann::json annotations;  ///< MCP's hints
  nlohmann::json parameters;   ///< JSON Schema
  ToolRun run;
};

/// In the order in which they are described. Lives as long as the process.
const std::vector<Tool>& all_tools();

/// Null: there is none of that name.
const Tool* find_tool(std::string_view name);

}  // namespace cove::tools
