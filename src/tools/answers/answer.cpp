#include "tools/answers/answer.hpp"

#include <algorithm>
#include <optional>

#include "base/text/json.hpp"

namespace cove::tools {
namespace {

using nlohmann::json;

constexpr const char* kHint = "hint";

std::optional<std::string> own_hint(const Error& error) {
  for (const auto& [key, value] : error.context()) {
    if (key == kHint) return value;
  }
  return std::nullopt;
}

std::string try_again(const Error& error) {
  if (!error.retry_after()) return "Try the same call again.";
  const auto seconds = (error.retry_after()->count() + 999) / 1000;
  return "Try the same call again in " + std::to_string(seconds) + " s.";
}

std::string hint_of(const Error& error) {
  if (auto hint = own_hint(error)) return *std::move(hint);
  switch (error.code()) {
    case ErrorCode::kNotFound: return "Look for it with sandbox_find or sandbox_ls.";
    case ErrorCode::kPathEscape:
      return "Only paths below /workspace can be used; relative ones start at the session's "
             "directory.";
    case ErrorCode::kConflict: return "Read the file again, and decide again.";
    case ErrorCode::kUnavailable: return try_again(error);
    case ErrorCode::kQuotaExceeded: return "Remove what is not needed, and try again.";
    case ErrorCode::kTimeout:
    case ErrorCode::kCancelled:
      return "It is not known whether it was done: look before you repeat.";
    case ErrorCode::kIntegrity:
    case ErrorCode::kProvider:
    case ErrorCode::kInternal: return "This is a fault of the sandbox, not of the call.";
    default: return "";
  }
}

}  // namespace

Error with_hint(const Error& error, const std::string& hint) {
  return own_hint(error) ? error : error.with_context(kHint, hint);
}

json error_data(const Error& error) {
  json data{{"code", std::string(name_of(error.code()))}, {"message", error.message()}};
  if (error.retry_after()) data["retry_after_ms"] = error.retry_after()->count();
  if (std::string hint = hint_of(error); !hint.empty()) data["hint"] = std::move(hint);
  return data;
}

std::string error_text(const Error& error) {
  const std::string hint = hint_of(error);
  return error.message() + (hint.empty() ? "" : "\n" + hint);
}

Answer error_answer(const Error& error) {
  Answer answer;
  answer.text = "Error: " + error_text(error);
  answer.data["error"] = error_data(error);
  answer.is_error = true;
  return answer;
}

ToolResult result_of(Answer answer, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) answer.notices.push_back("Arguments: " + note);
  ToolResult result;
  result.text = std::move(answer.text);
  for (const std::string& notice : answer.notices) {
    if (!result.text.empty()) result.text += result.text.back() == '\n' ? "\n" : "\n\n";
    result.text += "[" + notice + "]";
  }
  if (!notes.empty()) answer.data["notes"] = notes;
  result.data = base::dump_json(answer.data);
  result.is_error = answer.is_error;
  return result;
}

}  // namespace cove::tools
