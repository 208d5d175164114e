/// Searching a workspace: lines that match a pattern (grep) and names that match a glob (find).
///
///     auto found = client.grep("src", {.pattern = "def [a-z_]+\\(self", .include = {"*.py"}});
///     auto tests = client.find(".", {.glob = "**/*_test.{cc,cpp}", .newest_first = true});
///
/// Both walk depth first, in the order of the names' bytes within each directory, and give what
/// they find in that order, the first before the walk is over. Links are not followed, other file
/// systems not entered, FIFOs and devices not opened; `.git` is always passed over.
///
/// Globs are bytes. `*` and `?` stop at `/`; `**` as a whole part of a path stands for any number
/// of directories; `[a-z]`, `[!a-z]`; `{one,two}`; `\` makes the next byte plain. A glob without
/// `/` is held against the last name, one with `/` against the path below the searched directory.
///
/// Ignore rules are those of `.gitignore`, `.ignore` and `.coveignore`, from /workspace down, in
/// git's syntax, with or without a git repository. What a later one of these kinds says counts more
/// than what an earlier one does; within one kind an inner directory's counts more. They do not
/// hide the directory that is searched itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <cove/error.hpp>
#include <cove/files.hpp>
#include <cove/result.hpp>

namespace cove {

/// Which lines are wanted.
struct GrepQuery {
  /// RE2's syntax, or plain bytes where `literal`; held against one line at a time, without its
  /// line end. A wrong one is kInvalidArgument and says where.
  std::string pattern;
  bool literal = false;
  bool ignore_case = false;  ///< of ASCII letters in an ASCII literal, else as Unicode folds
  bool whole_word = false;   ///< no letter, digit or `_` right before or after a match

  std::uint32_t context_before = 0;  ///< lines, at most 1,000
  std::uint32_t context_after = 0;   ///< lines, at most 1,000

  std::vector<std::string> include;  ///< globs; only files that match one. None = all files
  std::vector<std::string> exclude;  ///< globs of files and directories to pass over
  bool use_ignore_files = true;
  bool hidden = false;                          ///< also what begins with `.`
  std::optional<std::uint64_t> max_file_bytes;  ///< larger files are passed over and counted

  /// Matching lines after which the walk stops. None = all; only where results are given away as
  /// they come. A call that collects them takes at most 10,000.
  std::optional<std::uint64_t> limit = 100;

  /// Of a longer line only a part is given, with its first match in view. 16 to 65,536.
  std::uint32_t max_line_bytes = 500;
};

/// A run of bytes within a line's text.
struct TextSpan {
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
};

/// How a file's bytes were read. What is not UTF-16 is searched as the bytes that it is.
enum class TextEncoding : std::uint8_t {
  kBytes = 1,
  kUtf16Le = 2,  ///< by its byte order mark; text and columns are of its UTF-8 form
  kUtf16Be = 3,
};

/// A matching line, or a line beside one.
struct GrepLine {
  std::string path;          ///< bytes, below the searched directory; of a single file its name
  std::uint64_t line = 0;    ///< from 1
  std::uint64_t column = 0;  ///< bytes, from 1, where the first match begins; 0 = a context line
  std::string text;          ///< bytes, without the line end
  std::vector<TextSpan> submatches;  ///< the matches within `text`, at most 64
  bool is_context = false;
  bool cut = false;               ///< `text` is a part of the line
  std::uint64_t text_offset = 0;  ///< bytes of the line before `text`
  TextEncoding encoding = TextEncoding::kBytes;
};

/// Which names are wanted.
struct FindQuery {
  std::string glob;                  ///< empty = everything
  std::optional<FileType> type;      ///< none = of every type
  std::vector<std::string> exclude;  ///< globs of files and directories to pass over

  /// Bytes, both included; where one is set, only regular files are found. A min_size of 0 is none.
  std::optional<std::uint64_t> min_size;
  std::optional<std::uint64_t> max_size;

  /// Last changed at or after, and before.
  std::optional<std::chrono::sys_time<std::chrono::nanoseconds>> modified_from;
  std::optional<std::chrono::sys_time<std::chrono::nanoseconds>> modified_until;

  bool use_ignore_files = true;
  bool hidden = false;                     ///< also what begins with `.`
  std::optional<std::uint32_t> max_depth;  ///< 1 = the directory's own entries

  /// Entries after which the walk stops. None = all; only where results are given away as they
  /// come and not `newest_first`. A call that collects them takes at most 10,000.
  std::optional<std::uint64_t> limit = 1000;

  /// The `limit` newest in all, newest first, those of one age in the order of their paths' bytes:
  /// comes after the walk. Needs a limit of at most 10,000.
  bool newest_first = false;

  bool facts = false;  ///< size, mode and times too; they cost a system call each

  /// Whether a size is asked for, and so only regular files are found.
  bool is_sized() const noexcept { return min_size.value_or(0) > 0 || max_size.has_value(); }
};

/// Something found.
struct FindEntry {
  std::string path;  ///< bytes, below the searched directory
  FileType type = FileType::kOther;

  /// What else is said of it; its own `path` is empty. None where the query asks for no facts.
  std::optional<FileInfo> facts;
};

/// Why a search ended.
enum class SearchEnd : std::uint8_t {
  kComplete = 1,
  kLimit = 2,      ///< there may be more: the limit was reached
  kDeadline = 3,   ///< the call's deadline passed: what was found by then
  kCancelled = 4,  ///< the call was cancelled: what was found by then
};

/// A file or directory that could not be read.
struct SearchProblem {
  std::string path;
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
};

/// How a search ended, and what it went through.
struct SearchSummary {
  SearchEnd ended = SearchEnd::kComplete;
  std::uint64_t matches = 0;         ///< matching lines or entries given
  std::uint64_t files_searched = 0;  ///< of find: entries looked at
  std::uint64_t files_matched = 0;   ///< with at least one match
  std::uint64_t files_binary = 0;    ///< passed over: a NUL byte where text was searched
  std::uint64_t files_too_large = 0;
  std::uint64_t problem_count = 0;
  std::vector<SearchProblem> problems;  ///< the first 16
};

/// The lines of a grep, and how it ended.
struct GrepResult {
  std::vector<GrepLine> lines;
  SearchSummary summary;
};

/// The entries of a find, and how it ended.
struct FindResult {
  std::vector<FindEntry> entries;
  SearchSummary summary;
};

/// kInvalidArgument: a number out of its range, an empty pattern, or filters that exclude each
/// other. (What is wrong in a pattern or a glob is found by the guest.)
Result<void> check(const GrepQuery& query);
Result<void> check(const FindQuery& query);

}  // namespace cove
