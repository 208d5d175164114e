#include "cli/arguments/values.hpp"

#include <algorithm>
#include <utility>

#include "base/text/display_text.hpp"

namespace cove::cli {

Error usage_error(const std::string& what, const std::string& command) {
  return {ErrorCode::kInvalidArgument,
          what + "; see: cove " + (command.empty() ? "" : command + " ") + "--help"};
}

Result<void> take_env(const std::vector<std::string>& pairs, const std::string& command,
                      Request& request) {
  for (const std::string& pair : pairs) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      return usage_error("--env wants NAME=VALUE, not " + base::quoted(pair), command);
    }
    request.env[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return ok();
}

Result<void> take_mode(const std::optional<std::string>& given, Request& request) {
  if (!given) return ok();
  const std::string& text = *given;
  std::uint32_t mode = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, mode, 8);
  if (failure != std::errc() || stop != end || mode > 07777U) {
    return usage_error("--mode wants octal digits such as 0755, not " + base::quoted(text), "");
  }
  request.mode = mode;
  return ok();
}

Result<void> take_type(const std::optional<std::string>& given, FindQuery& query) {
  if (!given) return ok();
  const std::string& text = *given;
  constexpr std::pair<std::string_view, FileType> kTypes[] = {{"file", FileType::kRegular},
                                                              {"directory", FileType::kDirectory},
                                                              {"symlink", FileType::kSymlink},
                                                              {"other", FileType::kOther}};
  for (const auto& [name, type] : kTypes) {
    if (text == name) query.type = type;
  }
  if (query.type) return ok();
  return usage_error("--type wants file, directory, symlink or other, not " + base::quoted(text),
                     "find");
}

Result<void> take_format(const std::optional<std::string>& given, Request& request) {
  if (!given || given == "openai") return ok();
  const std::string& text = *given;
  if (text == "mcp") request.tool_format = ToolFormat::kMcp;
  if (text == "plain") request.tool_format = ToolFormat::kPlain;
  if (request.tool_format != ToolFormat::kOpenAi) return ok();
  return usage_error("--format wants openai, mcp or plain, not " + base::quoted(text), "tools");
}

Result<void> take_mirrors(const std::vector<std::string>& pairs, Mirrors& mirrors) {
  const std::pair<std::string_view, std::string Mirrors::*> known[] = {
      {"npm", &Mirrors::npm},          {"pypi", &Mirrors::pypi},
      {"apt", &Mirrors::apt},          {"go", &Mirrors::go},
      {"cargo", &Mirrors::cargo},      {"maven", &Mirrors::maven},
      {"rubygems", &Mirrors::rubygems}};
  for (const std::string& pair : pairs) {
    const std::size_t equals = std::min(pair.find('='), pair.size());
    bool taken = false;
    for (const auto& [name, field] : known) {
      if (pair.substr(0, equals) != name || equals == pair.size()) continue;
      mirrors.*field = pair.substr(equals + 1);
      taken = true;
    }
    if (taken) continue;
    return usage_error("--mirror wants npm, pypi, apt, go, cargo, maven or rubygems and =URL",
                       "prepare");
  }
  return ok();
}

}  // namespace cove::cli
