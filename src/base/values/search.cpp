#include <string>

#include <cove/search.hpp>

namespace cove {
namespace {

constexpr std::uint32_t kMostContext = 1'000;
constexpr std::uint32_t kLeastLine = 16;
constexpr std::uint32_t kMostLine = 65'536;
constexpr std::size_t kMostTextBytes = 32 * 1024;  // of pattern and globs: they fit one message
constexpr std::uint64_t kMostNewest = 10'000;

Error wrong(const std::string& what) { return {ErrorCode::kInvalidArgument, what}; }

std::size_t size_of(const std::vector<std::string>& globs) {
  std::size_t sum = 0;
  for (const auto& glob : globs) sum += glob.size() + 8;
  return sum;
}

Result<void> check_limit(const std::optional<std::uint64_t>& limit) {
  if (limit && *limit == 0) return wrong("a limit is at least 1");
  return ok();
}

}  // namespace

Result<void> check(const GrepQuery& query) {
  if (query.pattern.empty()) return wrong("the pattern is empty");
  if (query.context_before > kMostContext || query.context_after > kMostContext) {
    return wrong("context is at most 1000 lines on each side");
  }
  if (query.max_line_bytes < kLeastLine || query.max_line_bytes > kMostLine) {
    return wrong("max_line_bytes is 16 to 65536, not " + std::to_string(query.max_line_bytes));
  }
  if (query.pattern.size() + size_of(query.include) + size_of(query.exclude) > kMostTextBytes) {
    return wrong("pattern and globs have more than 32 KiB together");
  }
  return check_limit(query.limit);
}

Result<void> check(const FindQuery& query) {
  if (query.glob.size() + size_of(query.exclude) > kMostTextBytes) {
    return wrong("the globs have more than 32 KiB together");
  }
  if (query.min_size && query.max_size && *query.min_size > *query.max_size) {
    return wrong("min_size is greater than max_size: no file can be found");
  }
  if (query.modified_from && query.modified_until &&
      *query.modified_from >= *query.modified_until) {
    return wrong("modified_from is not before modified_until: no file can be found");
  }
  if (query.is_sized() && query.type && *query.type != FileType::kRegular) {
    return wrong("only regular files have a size to filter by");
  }
  if (query.max_depth && *query.max_depth == 0) return wrong("max_depth is at least 1");
  if (query.newest_first && (!query.limit || *query.limit > kMostNewest)) {
    return wrong("newest_first needs a limit of at most 10000");
  }
  return check_limit(query.limit);
}

}  // namespace cove
