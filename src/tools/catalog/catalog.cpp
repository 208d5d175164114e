#include "tools/catalog/catalog.hpp"

#include <algorithm>
#include <map>

#include "base/text/json.hpp"
#include "tools/calls/runs.hpp"
#include "tools/catalog/tool_texts.hpp"

namespace cove::tools {
namespace {

using nlohmann::json;

const std::map<std::string_view, ToolRun>& runs() {
  // Never freed: a destructor would be an exit handler of the host's process.
  static const auto* const kRuns = new std::map<std::string_view, ToolRun>{
      {"sandbox_shell", run_shell},
      {"sandbox_read_file", run_read_file},
      {"sandbox_write_file", run_write_file},
      {"sandbox_edit_file", run_edit_file},
      {"sandbox_grep", run_grep},
      {"sandbox_find", run_find},
      {"sandbox_ls", run_ls},
      {"sandbox_get_file_url", run_get_file_url},
      {"sandbox_process_start", run_process_start},
      {"sandbox_process_list", run_process_list},
      {"sandbox_process_output", run_process_output},
      {"sandbox_process_write", run_process_write},
      {"sandbox_process_stop", run_process_stop},
  };
  return *kRuns;
}

void add_tools(std::string_view text, std::vector<Tool>& tools) {
  // Ours, so it can be read: a test holds each description to a run.
  const json list = base::parse_json(text).value();
  for (const json& entry : list) {
    const auto name = entry.at("name").get<std::string>();
    tools.push_back({name, entry.at("title"), entry.at("description"), entry.at("annotations"),
                     entry.at("parameters"), runs().at(name)});
  }
}

}  // namespace

const std::vector<Tool>& all_tools() {
  static const auto* const kTools = [] {
    auto* tools = new std::vector<Tool>;
    add_tools(tool_text(), *tools);
    return tools;
  }();
  return *kTools;
}

const Tool* find_tool(std::string_view name) {
  const auto& tools = all_tools();
  const auto found =
      std::find_if(tools.begin(), tools.end(), [&](const Tool& tool) { return tool.name == name; });
  return found == tools.end() ? nullptr : &*found;
}

}  // namespace cove::tools
