// sandbox_read_file, sandbox_write_file and sandbox_ls.
#include <algorithm>
#include <span>

#include "base/text/utf8.hpp"
#include "client/file_calls.hpp"
#include "tools/answers/counted.hpp"
#include "tools/answers/extract.hpp"
#include "tools/answers/names.hpp"
#include "tools/calls/runs.hpp"

namespace cove::tools {
namespace {

using nlohmann::json;

constexpr std::string_view kOddBytes =
    "Bytes that are no UTF-8 are shown as \\xNN; to edit such a file, use a command";

bool is_text(std::string_view content_type) {
  return content_type.starts_with("text/") && content_type.find("utf-16") == std::string_view::npos;
}

std::string advice_for(std::string_view content_type, const std::string& word) {
  if (content_type.starts_with("text/")) {
    return "Turn it into UTF-8 first: sandbox_shell with: iconv -f UTF-16 -t UTF-8 " + word +
           " > FILE";
  }
  if (content_type.starts_with("image/") || content_type == "application/pdf") {
    return "Show it to the user with sandbox_get_file_url, or look into it with a program in "
           "sandbox_shell.";
  }
  return "Look into it with a program in sandbox_shell, such as: xxd " + word + " | head";
}

/// What a file that is no text is.
Answer binary_answer(const ToolCall& tool, const LineSlice& slice) {
  Answer answer;
  const std::string type =
      slice.content_type.starts_with("text/") ? "UTF-16 text" : slice.content_type;
  answer.text = shown_name(tool.path()) + " is " + type + ", " +
                counted(slice.info.size, "byte", "bytes") + "; it cannot be shown as text.";
  answer.notices.push_back(advice_for(slice.content_type, shell_word(tool.path())));
  return answer;
}

std::string of_total(const LineSlice& slice) {
  return slice.total_lines ? " of " + std::to_string(*slice.total_lines) : "";
}

/// A single line of which only the beginning fits.
std::string cut_line_notice(const ToolCall& tool, const LineSlice& slice, std::size_t shown,
                            bool goes_on) {
  // Less than an answer's bytes: a character that a step cuts is shown as its bytes in both.
  constexpr std::size_t kStep = 50'000;
  std::string text = "Line " + std::to_string(slice.first) + of_total(slice) +
                     " is too long; only its "
                     "beginning is shown. To go on in it: " +
                     "sandbox_shell with: tail -c +" + std::to_string(slice.offset + shown + 1) +
                     " " + shell_word(tool.path()) + " | head -c " + std::to_string(kStep) +
                     ", and so on in steps of " + std::to_string(kStep) + ".";
  if (goes_on) text += " Use offset=" + std::to_string(slice.first + 1) + " for the next line.";
  return text;
}

/// How to get the lines from `next` on.
std::string more_notice(const LineSlice& slice, std::uint64_t shown_lines, std::uint64_t next,
                        std::uint64_t wanted) {
  const std::string go_on = " Use offset=" + std::to_string(next) + " to continue.";
  if (shown_lines == wanted && slice.total_lines) {
    return counted(*slice.total_lines - next + 1, "more line", "more lines") + " in file." + go_on;
  }
  const std::string range = "Showing lines " + std::to_string(slice.first) + "-" +
                            std::to_string(next - 1) + of_total(slice);
  const bool by_lines = shown_lines == wanted || shown_lines == kMostLines;
  return range + (by_lines ? "." : " (" + std::to_string(kMostBytes) + " byte limit).") + go_on;
}

Result<void> check_offset(const LineSlice& slice) {
  if (slice.count > 0 || slice.info.size == 0) return ok();
  const std::uint64_t total = slice.total_lines.value_or(0);
  return Error(ErrorCode::kInvalidArgument, "offset " + std::to_string(slice.first) +
                                                " is beyond end of file (" +
                                                counted(total, "line", "lines") + " total)")
      .with_context("hint", total == 1 ? "Leave offset out: it has one line."
                                       : "Use an offset from 1 to " + std::to_string(total) + ".");
}

struct ShownLines {
  std::string text;
  std::uint64_t lines = 0;
  bool odd = false;       ///< bytes that are no UTF-8
  bool cut = false;       ///< the only line goes on
  std::size_t bytes = 0;  ///< of the file, behind `text`
};

/// The slice's text as UTF-8. Marks for odd bytes make it longer, so that fewer lines may fit, or
/// only the beginning of one.
ShownLines shown_lines(const LineSlice& slice) {
  constexpr std::size_t kMark = 4;  // \xNN
  ShownLines shown;
  shown.odd = !base::is_utf8(slice.text);
  shown.cut = slice.cut;
  for (std::string_view rest = slice.text; !rest.empty();) {
    std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
    std::string marked = base::marked_utf8(line);
    if (shown.text.size() + marked.size() > kMostBytes) {
      if (shown.lines > 0) break;
      shown.cut = true;
      line = line.substr(0, base::cut_before(line, kMostBytes / kMark));
      marked = base::marked_utf8(line);
    }
    shown.text += marked;
    shown.bytes += line.size();
    ++shown.lines;
    if (shown.cut) break;
    rest.remove_prefix(line.size());
  }
  return shown;
}

void set_file(json& data, const FileInfo& info) {
  data["size"] = info.size;
  data["etag"] = info.etag;
}

Answer text_answer(const ToolCall& tool, const LineSlice& slice) {
  Answer answer;
  ShownLines shown = shown_lines(slice);
  const bool left_some = shown.lines < slice.count;
  const std::uint64_t next =
      left_some ? slice.first + shown.lines : slice.next.value_or(slice.first + slice.count);
  if (shown.odd) answer.notices.emplace_back(kOddBytes);
  if (shown.cut) {
    const bool goes_on = left_some || slice.next.has_value();
    answer.notices.push_back(cut_line_notice(tool, slice, shown.bytes, goes_on));
  } else if (left_some || slice.next) {
    const std::uint64_t wanted = std::min<std::uint64_t>(tool.number("limit"), kMostLines);
    answer.notices.push_back(more_notice(slice, shown.lines, next, wanted));
  }
  if (slice.info.size == 0) answer.notices.emplace_back("The file is empty.");
  answer.data["content"] = shown.text;
  answer.data["first_line"] = slice.first;
  answer.data["lines"] = shown.lines;
  answer.data["next_offset"] = left_some || slice.next ? json(next) : json();
  answer.data["total_lines"] = slice.total_lines ? json(*slice.total_lines) : json();
  answer.text = std::move(shown.text);
  return answer;
}

std::string ls_notice(const ToolCall& tool, std::size_t shown, std::uint64_t limit,
                      const std::string& last) {
  constexpr std::uint64_t kMostEntries = 5000;
  std::string text = counted(shown, "entry", "entries") + " limit reached. ";
  if (shown == limit && limit < kMostEntries) {
    text += "Use limit=" + std::to_string(std::min(limit * 2, kMostEntries)) + " for more, or ";
  } else {
    text += "Use ";
  }
  text += "after=" + json(base::name_text(last)).dump() + " to continue.";
  const bool is_first = tool.arguments.value("after", "").empty();
  return text + (is_first ? " To look for a name, use sandbox_find." : "");
}

const char* type_name(FileType type) {
  switch (type) {
    case FileType::kRegular: return "file";
    case FileType::kDirectory: return "directory";
    case FileType::kSymlink: return "symlink";
    case FileType::kOther: break;
  }
  return "other";
}

json entry_data(const FileInfo& info) {
  json data{
      {"name", base::name_text(info.path)}, {"type", type_name(info.type)}, {"size", info.size}};
  if (info.type == FileType::kSymlink) data["link_target"] = base::name_text(info.link_target);
  return data;
}

}  // namespace

Task<Result<Answer>> run_read_file(const ToolCall& tool, const CallContext& call) {
  client::ReadLinesCall ask;
  ask.path = tool.place();
  ask.range.first = tool.number("offset");
  ask.range.count = std::min<std::uint64_t>(tool.number("limit"), kMostLines);
  ask.range.max_bytes = kMostBytes;
  COVE_CO_TRY(const LineSlice slice, co_await client::ask_call(tool.link, ask, call));
  const bool readable = is_text(slice.content_type) || slice.info.size == 0;
  if (readable) COVE_CO_TRY_VOID(check_offset(slice));
  Answer answer = readable ? text_answer(tool, slice) : binary_answer(tool, slice);
  answer.data["path"] = base::name_text(tool.path());
  answer.data["content_type"] = slice.content_type;
  set_file(answer.data, slice.info);
  co_return answer;
}

Task<Result<Answer>> run_write_file(const ToolCall& tool, const CallContext& call) {
  const std::string content = tool.text("content");
  client::WriteCall ask;
  ask.path = tool.place();
  ask.content = std::as_bytes(std::span(content));
  COVE_CO_TRY(const FileInfo info, co_await client::ask_call(tool.link, ask, call));
  Answer answer;
  answer.text = "File written successfully: " + shown_name(tool.path()) + " (" +
                counted(info.size, "byte", "bytes") + ")";
  answer.data["path"] = base::name_text(tool.path());
  set_file(answer.data, info);
  co_return answer;
}

Task<Result<Answer>> run_ls(const ToolCall& tool, const CallContext& call) {
  client::ListCall ask;
  ask.path = tool.place();
  ask.options.limit = static_cast<std::uint32_t>(tool.number("limit"));
  ask.options.after = base::name_bytes(tool.arguments.value("after", ""));
  COVE_CO_TRY(const FilePage page, co_await client::ask_call(tool.link, ask, call));
  Answer answer;
  BoundedLines lines;
  json entries = json::array();
  for (const FileInfo& info : page.entries) {
    const char* mark = info.type == FileType::kDirectory ? "/" : "";
    if (!lines.add(shown_name(info.path) + mark)) break;
    entries.push_back(entry_data(info));
  }
  const bool more = lines.full() || !page.next.empty();
  answer.data["next_after"] = nullptr;
  if (more) {
    const std::string& last = page.entries[lines.count() - 1].path;
    answer.notices.push_back(ls_notice(tool, lines.count(), tool.number("limit"), last));
    answer.data["next_after"] = base::name_text(last);
  }
  answer.text = std::move(lines).take();
  if (answer.text.empty()) {
    answer.text = ask.options.after.empty() ? "(empty directory)" : "(no more entries)";
  }
  answer.data["path"] = base::name_text(tool.path());
  answer.data["entries"] = std::move(entries);
  co_return answer;
}

}  // namespace cove::tools
