#include "wire/search_request.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "wire/cbor.hpp"
#include "wire/path_fields.hpp"

namespace cove::wire {
namespace {

using nlohmann::json;
using FileTime = std::chrono::sys_time<std::chrono::nanoseconds>;

constexpr std::size_t kMostProblems = 16;
constexpr std::size_t kLongestProblem = 1024;  // bytes of a path or of a message

json list_of(const std::vector<std::string>& texts) {
  json list = json::array();
  for (const std::string& text : texts) list.push_back(byte_string(text));
  return list;
}

void write_start(json& map, const SearchStart& start) {
  put_path(map, start.path);
  map["credit"] = start.credit;
  if (start.time) map["time_ms"] = std::max<std::int64_t>(start.time->count(), 0);
}

SearchStart read_start(Fields& fields) {
  constexpr std::uint64_t kLongest = 1ULL << 40;  // some 34 years of milliseconds
  SearchStart start;
  start.path = read_path(fields);
  start.credit = fields.number("credit");
  if (fields.has("time_ms")) {
    start.time = std::chrono::milliseconds(std::min(fields.number("time_ms"), kLongest));
  }
  return start;
}

void write_number(json& map, const char* name, const std::optional<std::uint64_t>& number) {
  if (number) map[name] = *number;
}

std::optional<std::uint64_t> read_number(Fields& fields, const char* name) {
  if (!fields.has(name)) return std::nullopt;
  return fields.number(name);
}

void write_time(json& map, const char* name, const std::optional<FileTime>& time) {
  if (time) map[name] = time->time_since_epoch().count();
}

std::optional<FileTime> read_time(Fields& fields, const char* name) {
  if (!fields.has(name)) return std::nullopt;
  return FileTime(std::chrono::nanoseconds(fields.signed_number(name)));
}

std::string shortened(const std::string& text) { return text.substr(0, kLongestProblem); }

json to_fields(const SearchProblem& problem) {
  return {{"path", byte_string(shortened(problem.path))},
          {"code", static_cast<std::int32_t>(problem.code)},
          {"message", byte_string(shortened(problem.message))}};
}

SearchProblem read_problem(Fields& fields) {
  SearchProblem problem;
  problem.path = shortened(fields.bytes("path"));
  problem.message = shortened(fields.bytes("message"));
  const auto code = fields.small("code");
  // A newer agent's code is the machinery's refusal to this host.
  problem.code = code >= 1 && code <= 16 ? static_cast<ErrorCode>(code) : ErrorCode::kProvider;
  return problem;
}

}  // namespace

json to_fields(const GrepRequest& request) {
  const GrepQuery& query = request.query;
  json map = {{"pattern", byte_string(query.pattern)},  {"literal", query.literal},
              {"ignore_case", query.ignore_case},       {"whole_word", query.whole_word},
              {"before", query.context_before},         {"after", query.context_after},
              {"include", list_of(query.include)},      {"exclude", list_of(query.exclude)},
              {"ignore_files", query.use_ignore_files}, {"hidden", query.hidden},
              {"line_bytes", query.max_line_bytes}};
  write_start(map, request.start);
  write_number(map, "file_bytes", query.max_file_bytes);
  write_number(map, "limit", query.limit);
  return map;
}

GrepRequest read_grep(Fields& fields) {
  GrepRequest request{read_start(fields), {}};
  GrepQuery& query = request.query;
  query.pattern = fields.bytes("pattern");
  query.literal = fields.flag("literal");
  query.ignore_case = fields.flag("ignore_case");
  query.whole_word = fields.flag("whole_word");
  query.context_before = fields.small("before");
  query.context_after = fields.small("after");
  query.include = fields.byte_list("include");
  query.exclude = fields.byte_list("exclude");
  query.use_ignore_files = fields.flag("ignore_files", true);
  query.hidden = fields.flag("hidden");
  query.max_line_bytes = fields.small("line_bytes", query.max_line_bytes);
  query.max_file_bytes = read_number(fields, "file_bytes");
  query.limit = read_number(fields, "limit");
  return request;
}

json to_fields(const FindRequest& request) {
  const FindQuery& query = request.query;
  json map = {{"glob", byte_string(query.glob)},        {"exclude", list_of(query.exclude)},
              {"ignore_files", query.use_ignore_files}, {"hidden", query.hidden},
              {"newest_first", query.newest_first},     {"facts", query.facts}};
  write_start(map, request.start);
  if (query.type) map["type"] = static_cast<unsigned>(*query.type);
  if (query.max_depth) map["depth"] = *query.max_depth;
  write_number(map, "min_size", query.min_size);
  write_number(map, "max_size", query.max_size);
  write_time(map, "modified_from", query.modified_from);
  write_time(map, "modified_until", query.modified_until);
  write_number(map, "limit", query.limit);
  return map;
}

FindRequest read_find(Fields& fields) {
  FindRequest request{read_start(fields), {}};
  FindQuery& query = request.query;
  query.glob = fields.bytes("glob");
  query.exclude = fields.byte_list("exclude");
  query.use_ignore_files = fields.flag("ignore_files", true);
  query.hidden = fields.flag("hidden");
  query.newest_first = fields.flag("newest_first");
  query.facts = fields.flag("facts");
  const auto type = fields.small("type");
  if (type > 4) fields.fail("type is not 1 to 4");
  if (type >= 1 && type <= 4) query.type = static_cast<FileType>(type);
  if (fields.has("depth")) query.max_depth = fields.small("depth");
  query.min_size = read_number(fields, "min_size");
  query.max_size = read_number(fields, "max_size");
  query.modified_from = read_time(fields, "modified_from");
  query.modified_until = read_time(fields, "modified_until");
  query.limit = read_number(fields, "limit");
  return request;
}

Bytes encode_search_summary(const SearchSummary& summary) {
  json problems = json::array();
  for (const SearchProblem& problem : summary.problems) {
    if (problems.size() == kMostProblems) break;
    problems.push_back(to_fields(problem));
  }
  return encode_cbor({{"ended", static_cast<unsigned>(summary.ended)},
                      {"matches", summary.matches},
                      {"searched", summary.files_searched},
                      {"matched", summary.files_matched},
                      {"binary", summary.files_binary},
                      {"too_large", summary.files_too_large},
                      {"problem_count", summary.problem_count},
                      {"problems", std::move(problems)}});
}

Result<SearchSummary> parse_search_summary(ByteView payload) {
  COVE_TRY(const auto map, decode_cbor(payload));
  Fields fields(map);
  SearchSummary summary;
  const auto ended = fields.small("ended");
  if (ended < 1 || ended > 4) fields.fail("ended is not 1 to 4");
  summary.ended = static_cast<SearchEnd>(ended);
  summary.matches = fields.number("matches");
  summary.files_searched = fields.number("searched");
  summary.files_matched = fields.number("matched");
  summary.files_binary = fields.number("binary");
  summary.files_too_large = fields.number("too_large");
  summary.problem_count = fields.number("problem_count");
  if (const json* const problems = fields.list("problems"); problems != nullptr) {
    for (const auto& entry : *problems) {
      if (summary.problems.size() == kMostProblems) break;
      Fields inner(entry);
      summary.problems.push_back(read_problem(inner));
      adopt(fields, inner);
    }
  }
  COVE_TRY_VOID(fields.result());
  return summary;
}

}  // namespace cove::wire
