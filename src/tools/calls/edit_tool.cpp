// sandbox_edit_file: exact replacements in files, each with a result of its own.
#include <algorithm>

#include "client/file_calls.hpp"
#include "tools/answers/names.hpp"
#include "tools/calls/runs.hpp"

namespace cove::tools {
namespace {

using nlohmann::json;

std::vector<FileEdit> edits_of(const json& entries) {
  std::vector<FileEdit> edits;
  for (const json& entry : entries) {
    FileEdit edit;
    edit.path = base::name_bytes(entry.at("path").get<std::string>());
    edit.edits.push_back({entry.at("oldContent").get<std::string>(),
                          entry.at("newContent").get<std::string>(),
                          entry.at("replaceAll").get<bool>()});
    edits.push_back(std::move(edit));
  }
  return edits;
}

void replace_words(std::string& text, std::string_view words, std::string_view others) {
  for (std::size_t at = text.find(words); at != std::string::npos;
       at = text.find(words, at + others.size())) {
    text.replace(at, words.size(), others);
  }
}

/// The message in the words of this tool's parameters.
std::string told(const Error& error) {
  std::string message = error_text(error);
  replace_words(message, "old_text is ", "oldContent is ");
  replace_words(message, " where old_text has '", " where oldContent has '");
  replace_words(message, "or set replace_all", "or set replaceAll");
  return message;
}

Error advised(const Error& error, const std::string& path) {
  if (error.code() == ErrorCode::kNotFound) {
    return with_hint(error, "Look for it with sandbox_find, or make it with sandbox_write_file.");
  }
  if (!error.message().starts_with("old_text is not in ")) return error;
  if (error.message().find(", which is UTF-16: ") != std::string::npos) {
    return with_hint(error,
                     "Turn it into UTF-8 first: sandbox_shell with: iconv -f UTF-16 -t UTF-8 " +
                         shell_word(path) + " > FILE");
  }
  if (error.code() == ErrorCode::kFailedPrecondition) {
    return with_hint(error, "Read the file with sandbox_read_file and copy the text exactly.");
  }
  return error;
}

/// The paths of the entries that are, or are not, done; each once, in order.
std::string paths_of(const std::vector<FileEdit>& edits,
                     const std::vector<Result<EditResult>>& results, bool done) {
  std::string text;
  std::vector<std::string> named;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    const bool is_new = std::find(named.begin(), named.end(), edits[i].path) == named.end();
    if (results[i].has_value() != done || !is_new) continue;
    named.push_back(edits[i].path);
    text += (text.empty() ? "" : ", ") + shown_name(edits[i].path);
  }
  return text;
}

json entry_data(const FileEdit& edit, const Result<EditResult>& result) {
  json data{{"path", base::name_text(edit.path)}};
  if (!result) {
    data["error"] = error_data(advised(result.error(), edit.path));
    return data;
  }
  data["replaced"] = result->edits.front().replaced;
  data["first_line"] = result->edits.front().first_line;
  data["size"] = result->info.size;
  data["etag"] = result->info.etag;
  return data;
}

std::string failures_of(const std::vector<FileEdit>& edits,
                        const std::vector<Result<EditResult>>& results) {
  std::string text = "Error: nothing was changed in " + paths_of(edits, results, false) + ".";
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (results[i]) continue;
    text += "\nentry " + std::to_string(i + 1) + ": " +
            told(advised(results[i].error(), edits[i].path));
  }
  if (const std::string done = paths_of(edits, results, true); !done.empty()) {
    text += "\nFiles edited successfully: " + done;
  }
  return text;
}

}  // namespace

Task<Result<Answer>> run_edit_file(const ToolCall& tool, const CallContext& call) {
  const std::vector<FileEdit> edits = edits_of(tool.arguments.at("entries"));
  COVE_CO_TRY(const auto results, co_await client::edit_many(tool.link, tool.session, edits, call));
  Answer answer;
  json entries = json::array();
  for (std::size_t i = 0; i < edits.size(); ++i) {
    answer.is_error = answer.is_error || !results[i];
    entries.push_back(entry_data(edits[i], results[i]));
  }
  answer.text = answer.is_error ? failures_of(edits, results)
                                : "Files edited successfully: " + paths_of(edits, results, true);
  answer.data["entries"] = std::move(entries);
  co_return answer;
}

}  // namespace cove::tools
