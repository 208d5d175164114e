// What `read` and `edit` say besides a file's own text.
#include <utility>

#include "base/text/display_text.hpp"
#include "cli/output/texts.hpp"

namespace cove::cli {
namespace {

bool is_text(std::string_view content_type) {
  return content_type.starts_with("text/") && content_type.find("utf-16") == std::string_view::npos;
}

}  // namespace

Result<void> check_lines(const LineSlice& slice, const std::string& path, bool to_terminal) {
  if (slice.info.size == 0) return ok();
  if (to_terminal && !is_text(slice.content_type)) {
    return Error(ErrorCode::kFailedPrecondition,
                 base::quoted(path) + " is " + slice.content_type +
                     ", which is not shown on a terminal; to save it: cove get");
  }
  if (slice.count > 0) return ok();
  const std::uint64_t total = slice.total_lines.value_or(0);
  return Error(ErrorCode::kInvalidArgument, "offset " + std::to_string(slice.first) +
                                                " is beyond the end of " + base::quoted(path) +
                                                ", which has " + std::to_string(total) +
                                                (total == 1 ? " line" : " lines"));
}

std::string more_lines_text(const LineSlice& slice) {
  const std::string next = slice.next ? "--offset " + std::to_string(*slice.next) : std::string();
  if (slice.cut) {
    return "cove: line " + std::to_string(slice.first) + " goes on behind byte " +
           std::to_string(slice.offset + slice.text.size()) +
           " of the file; cove get has all of it" +
           (slice.next ? "; more lines follow: go on with " + next : "") + "\n";
  }
  return slice.next ? "cove: there is more; go on with " + next + "\n" : "";
}

Error edit_error(const Error& error) {
  std::string message = error.message();
  const std::pair<std::string_view, std::string_view> words[] = {
      {"old_text is ", "OLD is "},
      {" where old_text has '", " where OLD has '"},
      {"or set replace_all", "or give --all"}};
  for (const auto& [word, other] : words) {
    for (std::size_t at = message.find(word); at != std::string::npos;
         at = message.find(word, at + other.size())) {
      message.replace(at, word.size(), other);
    }
  }
  Error told(error.code(), std::move(message));
  if (error.retry_after()) told = told.with_retry_after(*error.retry_after());
  for (const auto& [key, value] : error.context()) told = told.with_context(key, value);
  return told;
}

}  // namespace cove::cli
