#include "agent/files/directory_listing.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include <fcntl.h>

#include "agent/files/directory_stream.hpp"
#include "agent/files/file_facts.hpp"
#include "base/system/system_error.hpp"

namespace cove::agent {
namespace {

constexpr std::uint32_t kMaxEntries = 10'000;
constexpr std::size_t kMaxPageBytes = 2U << 20U;  // of names and link targets

/// The `count` smallest names after `after`, sorted: one pass that keeps only them.
Result<std::vector<std::string>> smallest_names(DirectoryStream& stream, const std::string& after,
                                                std::size_t count, const std::string& shown) {
  std::vector<std::string> heap;  // the largest in front
  for (;;) {
    const DirectoryStream::Entry entry = stream.next();
    if (entry.error_number != 0) return base::system_error(entry.error_number, "list " + shown);
    if (entry.name.empty()) break;
    if (entry.name <= after) continue;
    if (heap.size() == count) {
      if (entry.name >= heap.front()) continue;
      std::pop_heap(heap.begin(), heap.end());
      heap.back() = entry.name;
    } else {
      heap.emplace_back(entry.name);
    }
    std::push_heap(heap.begin(), heap.end());
  }
  std::sort_heap(heap.begin(), heap.end());
  return heap;
}

/// None where the entry is gone.
Result<std::optional<FileInfo>> look(int directory, const std::string& name,
                                     const std::string& shown) {
  struct stat facts{};
  if (::fstatat(directory, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return std::optional<FileInfo>();
    return base::system_error(errno, "list " + shown);
  }
  FileInfo info = info_of(facts, name);
  if (info.type == FileType::kSymlink) {
    Result<std::string> target = link_target(directory, name);
    if (!target) return std::optional<FileInfo>();  // gone, or no link any more
    info.link_target = *std::move(target);
  }
  return std::optional<FileInfo>(std::move(info));
}

}  // namespace

Result<FilePage> list_directory(base::UniqueFd directory, const ListOptions& options,
                                const std::string& shown) {
  if (options.limit == 0 || options.limit > kMaxEntries) {
    return Error(ErrorCode::kInvalidArgument,
                 "a page has 1 to 10000 entries, not " + std::to_string(options.limit));
  }
  DirectoryStream stream(std::move(directory));
  if (!stream) return base::system_error(errno, "list " + shown);
  const std::size_t limit = options.limit;
  COVE_TRY(const auto names, smallest_names(stream, options.after, limit + 1, shown));
  FilePage page;
  std::size_t bytes = 0;
  std::size_t taken = 0;
  while (taken < std::min(names.size(), limit) && bytes < kMaxPageBytes) {
    COVE_TRY(auto info, look(stream.fd(), names[taken++], shown));
    if (!info) continue;
    bytes += info->path.size() + info->link_target.size();
    page.entries.push_back(*std::move(info));
  }
  if (taken < names.size()) page.next = names[taken - 1];
  return page;
}

}  // namespace cove::agent
