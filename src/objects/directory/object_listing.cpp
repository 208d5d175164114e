// The paged list of an ObjectTree. Keys are listed as S3 does, by their bytes: `a`, `a-b`, `a/c`,
// `a0`. Within one directory that is the order of its names with `/` after those of directories.
#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/system/beneath.hpp"
#include "base/system/next_entry.hpp"
#include "base/system/system_error.hpp"
#include "objects/directory/object_tree.hpp"

namespace cove::objects {
namespace {

/// A directory on the way: its key prefix, its path, and what is still to be visited of it.
struct Level {
  std::string prefix;               // "cove/v1/"
  std::string path;                 // "cove+/v1+"; empty = the root
  std::vector<std::string> tokens;  // names, with `/` after directories; next one at the back
  bool is_empty = true;             // it holds nothing at all
};

struct Range {
  const std::string& prefix;
  const std::string& after;

  /// Whether `full`, a key or a prefix that ends in `/`, has something of the range.
  bool contains(const std::string& full) const {
    if (full.back() != '/') return full > after && full.starts_with(prefix);
    return (full > after || after.starts_with(full)) &&
           (full.starts_with(prefix) || prefix.starts_with(full));
  }
};

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

/// The token of one directory entry, or nothing where it is none of ours (lost+found, `tmp~`).
std::optional<std::string> token_of(int directory, const dirent& entry) {
  std::string name = entry.d_name;
  unsigned char type = entry.d_type;
  if (type == DT_UNKNOWN) {
    struct stat status{};
    if (::fstatat(directory, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
    type = S_ISDIR(status.st_mode) ? DT_DIR : S_ISREG(status.st_mode) ? DT_REG : DT_UNKNOWN;
  }
  const bool is_directory = type == DT_DIR && name.back() == kDirectoryMark;
  if (is_directory) name.pop_back();
  if ((!is_directory && type != DT_REG) || !validate(ObjectKey(name))) return std::nullopt;
  if (is_directory) name += '/';
  return name;
}

/// Reads one directory; where it is gone meanwhile, it has nothing.
Result<void> read_level(int root, const Range& range, Level& level) {
  auto opened = base::open_in_volume(root, level.path.empty() ? "." : level.path.c_str(),
                                     O_RDONLY | O_DIRECTORY);
  if (!opened.fd && opened.error_number == ENOENT) return {};
  if (!opened.fd)
    return base::system_error(opened.error_number, "open objects '" + level.prefix + "'");
  const std::unique_ptr<DIR, CloseDirectory> entries(::fdopendir(*opened.fd));
  if (entries == nullptr) return base::system_error(errno, "list objects '" + level.prefix + "'");
  const int directory = opened.fd.release();
  for (;;) {
    const dirent* const entry = base::next_entry(entries.get());
    if (entry == nullptr) break;
    const std::string_view name(entry->d_name);
    if (name != "." && name != "..") level.is_empty = false;
    auto token = token_of(directory, *entry);
    if (token && range.contains(level.prefix + *token)) level.tokens.push_back(std::move(*token));
  }
  if (errno != 0) return base::system_error(errno, "list objects '" + level.prefix + "'");
  std::sort(level.tokens.begin(), level.tokens.end(), std::greater<>());
  return {};
}

}  // namespace

Result<ObjectPage> ObjectTree::list(const std::string& prefix, const std::string& after,
                                    std::uint32_t limit) const {
  const Range range{prefix, after};
  ObjectPage page;
  std::vector<Level> levels(1);
  COVE_TRY_VOID(read_level(*root_, range, levels.back()));
  while (!levels.empty()) {
    if (levels.back().tokens.empty()) {
      levels.pop_back();
      continue;
    }
    std::string token = std::move(levels.back().tokens.back());
    levels.back().tokens.pop_back();
    const std::string full = levels.back().prefix + token;
    if (token.back() == '/') {
      token.back() = kDirectoryMark;
      const std::string& parent = levels.back().path;
      levels.push_back({full, parent.empty() ? token : parent + "/" + token, {}});
      COVE_TRY_VOID(read_level(*root_, range, levels.back()));
      // Whoever made it, or took the last object out of it, died before the next step.
      if (levels.back().is_empty) prune(levels.back().path);
      continue;
    }
    Result<ObjectInfo> info = stat(ObjectKey(full));
    if (!info && info.error().code() == ErrorCode::kNotFound) continue;  // removed meanwhile
    if (!info) return info.error();
    if (page.objects.size() == limit) {
      page.next = page.objects.back().key.str();
      return page;
    }
    page.objects.push_back(*std::move(info));
  }
  return page;
}

}  // namespace cove::objects
