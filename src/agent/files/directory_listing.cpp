#include "agent/files/directory_listing.hpp"

#include <algorithm>
#include <utility>

#include "agent/files/file_facts.hpp"
#include "agent/files/sorted_walk.hpp"

namespace cove::agent {
namespace {

constexpr std::uint32_t kMaxEntries = 10'000;
constexpr std::size_t kMaxPageBytes = 2U << 20U;  // of names and link targets

/// None where the entry is gone, or no link any more.
std::optional<FileInfo> describe(const SortedWalk::Step& step) {
  FileInfo info = info_of(step.facts, step.path);
  info.unreadable = step.unreadable;
  if (info.type != FileType::kSymlink) return info;
  Result<std::string> target = link_target(step.directory, step.name);
  if (!target) return std::nullopt;
  info.link_target = *std::move(target);
  return info;
}

}  // namespace

Result<FilePage> list_directory(base::UniqueFd directory, const ListOptions& options,
                                const std::string& shown) {
  if (options.limit == 0 || options.limit > kMaxEntries) {
    return Error(ErrorCode::kInvalidArgument,
                 "a page has 1 to 10000 entries, not " + std::to_string(options.limit));
  }
  SortedWalk walk(std::move(directory),
                  {.depth = options.depth, .after = options.after, .chunk = options.limit + 1U},
                  shown);
  COVE_TRY_VOID(walk.start());
  FilePage page;
  std::size_t bytes = 0;
  std::string last;
  for (;;) {
    COVE_TRY(const SortedWalk::Step step, walk.next());
    if (step.kind == SortedWalk::Kind::kEnd) return page;
    if (step.kind == SortedWalk::Kind::kLeave) continue;
    if (page.entries.size() == options.limit || bytes >= kMaxPageBytes) {
      page.next = last;
      return page;
    }
    last = step.path;
    std::optional<FileInfo> info = describe(step);
    if (!info) continue;
    bytes += info->path.size() + info->link_target.size();
    page.entries.push_back(*std::move(info));
  }
}

}  // namespace cove::agent
