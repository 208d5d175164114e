#include "agent/search/walk/found.hpp"

#include <utility>

#include "wire/search_batch.hpp"

namespace cove::agent {
namespace {

constexpr std::size_t kKeptProblems = 16;

}  // namespace

void shorten(FoundSegment& segment, std::uint64_t matches) {
  segment.bytes.resize(segment.cuts[static_cast<std::size_t>(matches - 1)]);
  segment.matches = static_cast<std::uint32_t>(matches);
  if (segment.kind == FoundSegment::Kind::kLines) wire::LinePacker::mend(segment.bytes);
}

void add_counts(SearchSummary& sum, SearchSummary&& more) {
  sum.files_searched += more.files_searched;
  sum.files_matched += more.files_matched;
  sum.files_binary += more.files_binary;
  sum.files_too_large += more.files_too_large;
  sum.problem_count += more.problem_count;
  for (SearchProblem& problem : more.problems) {
    if (sum.problems.size() == kKeptProblems) break;
    sum.problems.push_back(std::move(problem));
  }
}

void add_problem(SearchSummary& counts, std::string path, const Error& error) {
  ++counts.problem_count;
  if (counts.problems.size() == kKeptProblems) return;
  counts.problems.push_back({std::move(path), error.code(), error.message()});
}

}  // namespace cove::agent
