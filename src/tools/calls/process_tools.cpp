// sandbox_process_start, _list, _output, _write and _stop.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <span>

#include <cove/process.hpp>

#include "base/text/byte_text.hpp"
#include "base/text/display_text.hpp"
#include "base/text/utf8.hpp"
#include "client/command_environment.hpp"
#include "client/process_calls.hpp"
#include "tools/answers/counted.hpp"
#include "tools/answers/extract.hpp"
#include "tools/answers/outcome_text.hpp"
#include "tools/calls/runs.hpp"

namespace cove::tools {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kMostWriting{30};

ProcessId id_of(const ToolCall& tool) { return ProcessId(tool.text("id")); }

Error advised(const Error& error) {
  if (error.code() == ErrorCode::kNotFound) {
    return with_hint(error, "See sandbox_process_list for the processes that there are.");
  }
  if (error.code() == ErrorCode::kFailedPrecondition) {
    return with_hint(error,
                     "See sandbox_process_list for what runs, and start it again where it "
                     "has ended.");
  }
  return error;
}

std::string state_of(const ProcessInfo& info) {
  return info.end ? outcome_text(info.end->outcome) : "running";
}

json data_of(const ProcessInfo& info) {
  json data{{"id", info.id.str()},
            {"name", info.name},
            {"command", base::marked_utf8(info.command)},
            {"running", !info.end.has_value()},
            {"started_at_ms", info.started_at.time_since_epoch().count()},
            {"output_bytes", info.out_bytes},
            {"stdin_open", info.stdin_open}};
  if (info.end) set_ending(data, *info.end);
  return data;
}

/// One line for each: id, state, name, command.
std::string row_of(const ProcessInfo& info) {
  const std::string name = info.name.empty() ? "-" : base::escaped(info.name);
  return info.id.str() + "  " + state_of(info) + "  " + name + "  " +
         base::harmless(base::marked_utf8(info.command));
}

/// Which part of the output is read: without an offset the end of what is known of.
OutputRequest request_of(const ToolCall& tool, const std::optional<ProcessInfo>& info) {
  OutputRequest request;
  const std::uint64_t size = info ? info->out_bytes : 0;
  const std::uint64_t end_begin = size - std::min<std::uint64_t>(size, kMostBytes);
  request.offset = tool.arguments.value("offset", end_begin);
  request.limit = kMostBytes;
  request.wait_for = std::chrono::seconds(tool.number("wait"));
  return request;
}

struct ShownOutput {
  std::string text;
  std::uint64_t offset = 0;  ///< of the first byte shown
  std::uint64_t next = 0;    ///< of the first byte not shown behind it
};

/// Of the bytes as much as fits: of the end of the output the last lines, else the first.
ShownOutput shown_output(const OutputSlice& slice, bool is_end) {
  const std::string_view bytes = base::text_of(slice.bytes);
  ShownOutput shown{{}, slice.offset, slice.next};
  // Marks make four bytes of one: a quarter fits whatever the bytes are.
  const bool odd = !base::is_utf8(bytes) && bytes.size() > kMostBytes / 4;
  std::string_view part = is_end ? tail_of(bytes) : head_of(bytes);
  if (odd && is_end && part.size() > kMostBytes / 4) {
    part = part.substr(base::cut_after(part, part.size() - kMostBytes / 4));
  }
  if (odd && !is_end) part = part.substr(0, base::cut_before(part, kMostBytes / 4));
  if (is_end) shown.offset = slice.next - part.size();
  if (!is_end) shown.next = slice.offset + part.size();
  shown.text = base::marked_utf8(part);
  return shown;
}

std::string progress_notice(const ProcessInfo& info, const ShownOutput& shown, bool at_end) {
  const std::string range = "Bytes " + std::to_string(shown.offset) + " to " +
                            std::to_string(shown.next) + " of the output. ";
  const std::string state = info.end ? "The process " + state_of(info) : "The process is running";
  if (at_end) {
    return range + state +
           (shown.offset == 0 ? "; this is all it wrote." : "; this is the end of what it wrote.");
  }
  return range + state + ". Use offset=" + std::to_string(shown.next) + " to continue" +
         (info.end ? "." : ", with wait to wait for more.");
}

ExecSpec spec_of(const ToolCall& tool) {
  ExecSpec spec;
  spec.shell_line = tool.text("command");
  spec.merge_output = true;
  spec.output.spill = true;
  return spec;
}

Task<Result<ProcessInfo>> find(const ToolCall& tool, const CallContext& call) {
  const client::FindProcessCall ask{id_of(tool)};
  Result<ProcessInfo> info = co_await client::ask_call(tool.link, ask, call);
  if (!info) co_return advised(info.error());
  co_return info;
}

/// What an output is shown with: what is known of the process, as new as the output.
struct LookedAt {
  ProcessInfo info;
  OutputSlice slice;
};

/// Whether what was known before the output was read tells of it.
bool is_as_new(const ProcessInfo& info, const OutputSlice& slice) {
  if (info.end) return true;
  return !slice.at_end && slice.next <= info.out_bytes;
}

/// Reads the output, and asks for the process as seldom as that allows: without an offset before
/// it, for where the end is; after it where it was not asked yet, or went on meanwhile.
Task<Result<LookedAt>> look_at_output(const ToolCall& tool, const CallContext& call) {
  std::optional<ProcessInfo> info;
  if (!tool.arguments.contains("offset")) {
    COVE_CO_TRY(info, co_await find(tool, call));
  }
  const client::ProcessOutputCall ask{id_of(tool), request_of(tool, info)};
  Result<OutputSlice> slice = co_await client::ask_call(tool.link, ask, call);
  if (!slice) co_return advised(slice.error());
  if (!info || !is_as_new(*info, *slice)) {
    COVE_CO_TRY(info, co_await find(tool, call));
  }
  co_return LookedAt{*std::move(info), *std::move(slice)};
}

/// How many bytes went before the call was over; none: that is not known.
std::optional<std::size_t> written_in(const Error& error) {
  for (const auto& [key, value] : error.context()) {
    if (key == "written") return std::strtoull(value.c_str(), nullptr, 10);
  }
  return std::nullopt;
}

/// Writes for as long as one call may wait; the result is how many bytes went.
Task<Result<std::size_t>> written_of(const ToolCall& tool, const std::string& input,
                                     const CallContext& call) {
  const Instant own_end = tool.link.clock().now() + kMostWriting;
  const bool is_own = !call.deadline || own_end < *call.deadline;
  const CallContext bounded = call.until(own_end);
  const client::WriteStdinCall ask{id_of(tool), std::as_bytes(std::span(input))};
  const Result<void> result = co_await client::ask_call(tool.link, ask, bounded);
  if (result) co_return input.size();
  const Error& error = result.error();
  const std::optional<std::size_t> written = written_in(error);
  if (error.code() == ErrorCode::kTimeout && is_own && written) co_return *written;
  co_return advised(error);
}

/// What a process leaves unread is not lost for the model: it knows where to go on.
Answer half_written(const ToolCall& tool, std::size_t written, std::size_t size) {
  Answer answer;
  answer.text = std::to_string(written) + " of " + counted(size, "byte", "bytes") +
                " written; the process does not read its stdin; send the rest later";
  if (tool.flag("close")) answer.notices.emplace_back("Its stdin is not closed.");
  answer.data["written"] = written;
  answer.data["closed"] = false;
  return answer;
}

}  // namespace

Task<Result<Answer>> run_process_start(const ToolCall& tool, const CallContext& call) {
  client::StartProcessCall ask{tool.session, client::in_environment(tool.link, spec_of(tool)), {}};
  ask.options.name = tool.arguments.value("name", "");
  ask.options.keep_alive = std::chrono::seconds(tool.number("keepAlive"));
  COVE_CO_TRY(const ProcessInfo info, co_await client::ask_call(tool.link, ask, call));
  Answer answer;
  answer.text = "Process started: " + info.id.str();
  answer.notices.push_back("Read its output with sandbox_process_output, id=" + info.id.str());
  answer.data["process"] = data_of(info);
  co_return answer;
}

Task<Result<Answer>> run_process_list(const ToolCall& tool, const CallContext& call) {
  const client::ListProcessesCall ask;
  COVE_CO_TRY(const auto infos, co_await client::ask_call(tool.link, ask, call));
  Answer answer;
  std::string rows;
  answer.data["processes"] = json::array();
  for (const ProcessInfo& info : infos) {
    rows += row_of(info) + "\n";
    answer.data["processes"].push_back(data_of(info));
  }
  // The newest are last, and wanted first.
  const std::string_view shown = tail_of(rows);
  if (shown.size() < rows.size()) {
    answer.notices.push_back("Showing the last " + std::to_string(count_lines(shown)) + " of " +
                             std::to_string(infos.size()) + " processes");
  }
  answer.text = infos.empty() ? "No processes" : std::string(shown);
  co_return answer;
}

Task<Result<Answer>> run_process_output(const ToolCall& tool, const CallContext& call) {
  COVE_CO_TRY(const LookedAt looked, co_await look_at_output(tool, call));
  const OutputSlice& slice = looked.slice;
  const ShownOutput shown = shown_output(slice, !tool.arguments.contains("offset"));
  const bool at_end = slice.at_end && shown.next == slice.next;
  Answer answer;
  answer.text = shown.text.empty() ? "(no output)" : shown.text;
  if (slice.gone > 0) {
    answer.notices.push_back(counted(slice.gone, "byte before these was let go of and is lost",
                                     "bytes before these were let go of and are lost"));
  }
  answer.notices.push_back(progress_notice(looked.info, shown, at_end));
  if (!tool.arguments.contains("offset") && shown.offset > 0) {
    answer.notices.emplace_back("Use offset=0 for its beginning, as far as it is kept.");
  }
  answer.data["process"] = data_of(looked.info);
  answer.data["output"] = shown.text;
  answer.data["offset"] = shown.offset;
  answer.data["next_offset"] = shown.next;
  answer.data["gone"] = slice.gone;
  answer.data["at_end"] = at_end;
  co_return answer;
}

Task<Result<Answer>> run_process_write(const ToolCall& tool, const CallContext& call) {
  const std::string input = tool.text("input");
  if (input.empty() && !tool.flag("close")) {
    co_return Error(ErrorCode::kInvalidArgument, "there is nothing to write")
        .with_context("hint", "Give input, or set close to end its stdin.");
  }
  std::size_t written = input.size();
  if (!input.empty()) {
    COVE_CO_TRY(written, co_await written_of(tool, input, call));
  }
  if (written < input.size()) co_return half_written(tool, written, input.size());
  if (tool.flag("close")) {
    const client::CloseStdinCall ask{id_of(tool)};
    const Result<void> closed = co_await client::ask_call(tool.link, ask, call);
    if (!closed) co_return advised(closed.error());
  }
  Answer answer;
  answer.text = counted(written, "byte", "bytes") + " written" +
                (tool.flag("close") ? ", and its stdin is closed" : "");
  answer.data["written"] = written;
  answer.data["closed"] = tool.flag("close");
  co_return answer;
}

Task<Result<Answer>> run_process_stop(const ToolCall& tool, const CallContext& call) {
  const client::EndProcessCall ask{id_of(tool)};
  const Result<ProcessInfo> info = co_await client::ask_call(tool.link, ask, call);
  if (!info) co_return advised(info.error());
  Answer answer;
  answer.text = "The process " + state_of(*info) + ".";
  answer.data["process"] = data_of(*info);
  co_return answer;
}

}  // namespace cove::tools
