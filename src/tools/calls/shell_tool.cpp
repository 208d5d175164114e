// sandbox_shell: a command, and the end of its output.
#include <algorithm>
#include <chrono>

#include "base/text/utf8.hpp"
#include "client/exec_calls.hpp"
#include "tools/answers/counted.hpp"
#include "tools/answers/extract.hpp"
#include "tools/answers/outcome_text.hpp"
#include "tools/calls/runs.hpp"

namespace cove::tools {
namespace {

constexpr std::uint64_t kMostSpilled = 64ULL << 20U;  // of one output, in a file in the sandbox

ExecSpec spec_of(const ToolCall& tool) {
  ExecSpec spec;
  spec.shell_line = tool.text("command");
  spec.timeout = std::chrono::seconds(tool.number("timeout"));
  spec.merge_output = true;
  spec.output.head_bytes = 0;
  spec.output.tail_bytes = kMostBytes;
  spec.output.tail_lines = kMostLines;
  spec.output.spill = true;
  return spec;
}

/// Says that the output is only the end of it, and where the whole is.
std::string cut_notice(const StreamOutput& out, std::string_view shown) {
  const std::uint64_t lines = count_lines(shown);
  std::string text = "Showing last " + (lines == 1 ? "line" : std::to_string(lines) + " lines") +
                     " (" + std::to_string(shown.size()) + " of " +
                     counted(out.total_bytes, "byte", "bytes") + "). ";
  if (out.spill_path.empty()) {
    return text +
           "The rest was not kept: run it again with its output into a file, and read that "
           "with sandbox_read_file.";
  }
  if (out.total_bytes > kMostSpilled) text += "Its first 64 MiB are in a file. ";
  return text + "Full output: " + out.spill_path +
         " - read it with sandbox_read_file, or search it with sandbox_grep.";
}

std::string ending_notice(const ExecResult& result, std::uint64_t timeout) {
  const std::string ended = "Command " + outcome_text(result.outcome);
  if (std::holds_alternative<TimedOut>(result.outcome)) {
    const std::int64_t seconds = std::min<std::int64_t>(
        static_cast<std::int64_t>(timeout), (result.duration.count() + 999'999) / 1'000'000);
    return ended + " after " + counted(static_cast<std::uint64_t>(seconds), "second", "seconds") +
           " and was ended; its output until then is above. Give a larger timeout (at most "
           "600), or start it with sandbox_process_start.";
  }
  return ended;
}

/// The end of the output that fits when each byte that is no UTF-8 is marked by four.
std::string_view shown_part(std::string_view output) {
  const std::string_view end = tail_of(output);
  if (base::marked_utf8(end).size() <= kMostBytes) return end;
  return end.substr(base::cut_after(end, end.size() - std::min(end.size(), kMostBytes / 4)));
}

}  // namespace

Task<Result<Answer>> run_shell(const ToolCall& tool, const CallContext& call) {
  const ExecSpec spec = spec_of(tool);
  COVE_CO_TRY(const ExecResult result,
              co_await client::run_command(tool.link, tool.session, spec, call));
  const std::string output = result.out.head + result.out.tail;
  const std::string_view shown = shown_part(output);
  const std::string text = base::marked_utf8(shown);
  Answer answer;
  answer.text = text.empty() ? "(no output)" : text;
  if (result.out.dropped_bytes > 0 || shown.size() < output.size()) {
    answer.notices.push_back(cut_notice(result.out, shown));
  }
  if (!result.succeeded()) answer.notices.push_back(ending_notice(result, tool.number("timeout")));
  answer.is_error = !ran_to_its_end(result.outcome);
  set_ending(answer.data, result);
  answer.data["output"] = text;
  answer.data["output_bytes"] = result.out.total_bytes;
  answer.data["dropped_bytes"] = result.out.dropped_bytes;
  answer.data["output_file"] = nullptr;
  if (!result.out.spill_path.empty()) answer.data["output_file"] = result.out.spill_path;
  co_return answer;
}

}  // namespace cove::tools
