/// Answer: what a tool has to say, before it is a ToolResult.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <cove/tools.hpp>

namespace cove::tools {

struct Answer {
  std::string text;                  ///< UTF-8, without notices
  std::vector<std::string> notices;  ///< what is missing, and how to get it
  nlohmann::json data = nlohmann::json::object();
  bool is_error = false;
};

/// What the error says, and what the model can do: the error's own `hint`, else one by its code.
Answer error_answer(const Error& error);

/// {"code", "message", "retry_after_ms", "hint"}
nlohmann::json error_data(const Error& error);

/// "<message>\n<hint>"
std::string error_text(const Error& error);

/// `error` with a hint of its own, unless it has one.
Error with_hint(const Error& error, const std::string& hint);

/// The answer as it is given away; `notes` are about the arguments.
ToolResult result_of(Answer answer, const std::vector<std::string>& notes);

}  // namespace cove::tools
