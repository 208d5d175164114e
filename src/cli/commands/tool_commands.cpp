// What a model does with files, from a shell: tool, tools, read, write and edit.
#include <nlohmann/json.hpp>

#include <cove/tools.hpp>

#include "base/text/display_text.hpp"
#include "base/text/json.hpp"
#include "cli/commands/command.hpp"
#include "cli/machine/local_file.hpp"
#include "cli/output/text_fields.hpp"
#include "cli/output/texts.hpp"

namespace cove::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kMostArguments = std::size_t{16} << 20U;

/// The tool's arguments: the second operand, or stdin.
Result<std::string> arguments_of(const Invocation& invocation) {
  const auto& operands = invocation.request.operands;
  if (operands.size() > 1 && operands[1] != "-") return operands[1];
  COVE_TRY(const base::UniqueFd local, open_local("-"));
  return read_all(*local, "stdin", kMostArguments, invocation.call);
}

Result<void> tell_answer(const Invocation& invocation, const ToolResult& result) {
  if (!invocation.request.json) {
    const bool ended = result.text.empty() || result.text.back() == '\n';
    return invocation.output.out(result.text + (ended ? "" : "\n"));
  }
  COVE_TRY(json data, base::parse_json(result.data));
  const json answer{
      {"text", result.text}, {"data", std::move(data)}, {"is_error", result.is_error}};
  return invocation.output.out(base::dump_json(answer) + "\n");
}

Result<void> tell_lines(const Invocation& invocation, const LineSlice& slice) {
  const std::string& path = invocation.request.operands[0];
  const bool to_person = !invocation.request.json && invocation.output.out_is_terminal();
  COVE_TRY_VOID(check_lines(slice, path, to_person));
  if (invocation.request.json) {
    json object{{"first", slice.first},    {"lines", slice.count},
                {"next", nullptr},         {"total_lines", nullptr},
                {"cut", slice.cut},        {"content_type", slice.content_type},
                {"size", slice.info.size}, {"etag", slice.info.etag}};
    if (slice.next) object["next"] = *slice.next;
    if (slice.total_lines) object["total_lines"] = *slice.total_lines;
    set_bytes(object, "text", slice.text);
    return invocation.output.out(base::dump_json(object) + "\n");
  }
  COVE_TRY_VOID(invocation.output.out(slice.text));
  return invocation.output.err(more_lines_text(slice));
}

Result<void> tell_file(const Invocation& invocation, const FileInfo& info, json more,
                       const std::string& line) {
  if (!invocation.request.json) return invocation.output.out(line + "\n");
  more["size"] = info.size;
  more["etag"] = info.etag;
  set_bytes(more, "path", info.path);
  return invocation.output.out(base::dump_json(more) + "\n");
}

Result<EditResult> in_words_of_edit(const Result<EditResult>& result) {
  if (result) return result;
  return edit_error(result.error());
}

WriteOptions write_options(const Request& request) {
  WriteOptions options;
  options.mode = request.mode;
  options.durable = request.durable;
  options.append = request.append;
  options.if_absent = request.if_absent;
  options.if_unchanged_since = request.if_unchanged;
  return options;
}

}  // namespace

Result<int> describe_tools(const Request& request, const Output& output) {
  COVE_TRY_VOID(output.out(tools_describe(request.tool_format) + "\n"));
  return 0;
}

Result<int> run_tool(const Invocation& invocation) {
  COVE_TRY(const std::string arguments, arguments_of(invocation));
  return with_workspace(invocation, [&](const SandboxClient& client) -> Result<int> {
    COVE_TRY(const ToolResult result,
             tools_call(client, invocation.request.operands[0], arguments, {}, invocation.call));
    COVE_TRY_VOID(tell_answer(invocation, result));
    return result.is_error ? 1 : 0;
  });
}

Result<int> run_read(const Invocation& invocation) {
  const Request& request = invocation.request;
  return with_workspace(invocation, [&](const SandboxClient& client) -> Result<int> {
    COVE_TRY(const LineSlice slice,
             client.read_lines(request.operands[0], request.lines, invocation.call));
    COVE_TRY_VOID(tell_lines(invocation, slice));
    return 0;
  });
}

Result<int> run_write(const Invocation& invocation) {
  const Request& request = invocation.request;
  COVE_TRY(const base::UniqueFd local, open_local("-"));
  return with_workspace(invocation, [&](const SandboxClient& client) -> Result<int> {
    const auto source = [&] { return read_piece(*local, "stdin", invocation.call); };
    COVE_TRY(const FileInfo info,
             client.upload(request.operands[0], source, write_options(request), invocation.call));
    const std::string line = base::escaped(info.path) + ": " + size_text(info.size);
    COVE_TRY_VOID(tell_file(invocation, info, json::object(), line));
    return 0;
  });
}

Result<int> run_edit(const Invocation& invocation) {
  const Request& request = invocation.request;
  const auto& operands = request.operands;
  const std::vector<Edit> edits{{operands[1], operands[2], request.replace_all}};
  const EditOptions options{request.if_unchanged, request.durable};
  return with_workspace(invocation, [&](const SandboxClient& client) -> Result<int> {
    COVE_TRY(const EditResult result,
             in_words_of_edit(client.edit_file(operands[0], edits, options, invocation.call)));
    const EditOutcome& outcome = result.edits.front();
    const std::string line = base::escaped(result.info.path) + ": " +
                             std::to_string(outcome.replaced) + " replaced, the first in line " +
                             std::to_string(outcome.first_line);
    const json more{{"replaced", outcome.replaced}, {"first_line", outcome.first_line}};
    COVE_TRY_VOID(tell_file(invocation, result.info, more, line));
    return 0;
  });
}

}  // namespace cove::cli
