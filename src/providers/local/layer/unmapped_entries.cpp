#include "providers/local/layer/unmapped_entries.hpp"

#include <cerrno>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

#include "base/system/system_error.hpp"
#include "providers/local/small_files.hpp"

namespace cove::local {

namespace {

using Found = Result<std::optional<UnmappedEntry>>;

/// What is below one top directory, on its own file system.
class Walk {
 public:
  Walk(const OverlaidDirectory& directory, dev_t device, const IsMapped& is_mapped)
      : directory_(directory), device_(device), is_mapped_(is_mapped) {}

  Found run() {
    while (!pending_.empty()) {
      const std::string path = std::move(pending_.back());
      pending_.pop_back();
      COVE_TRY(auto found, look_into(path));
      if (found) return found;
    }
    return Found(std::nullopt);
  }

 private:
  Found look_into(const std::string& path) {
    const auto opened = open_directory(*directory_.lower, path);
    // What went or is closed is passed by.
    if (!opened) return is_exhausted(opened.error()) ? Found(opened.error()) : Found(std::nullopt);
    COVE_TRY(const auto names, names_in(**opened));
    for (const std::string& name : names) {
      struct stat info{};
      if (::fstatat(**opened, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 ||
          info.st_dev != device_) {
        continue;
      }
      std::string below = path;
      below.append("/").append(name);
      if (!is_mapped_(info.st_uid, info.st_gid)) {
        const std::string shown = directory_.name + below.substr(1);  // without the "."
        return Found(UnmappedEntry{shown, info.st_uid, info.st_gid});
      }
      if (S_ISDIR(info.st_mode)) pending_.push_back(std::move(below));
    }
    return Found(std::nullopt);
  }

  const OverlaidDirectory& directory_;
  dev_t device_;
  const IsMapped& is_mapped_;
  std::vector<std::string> pending_{"."};
};

Result<struct stat> facts_of(const OverlaidDirectory& directory) {
  struct stat info{};
  if (::fstat(*directory.lower, &info) == 0) return info;
  return base::system_error(errno, "inspect a system directory");
}

}  // namespace

Found unmapped_top(const SystemBase& base, const IsMapped& is_mapped) {
  for (const OverlaidDirectory& directory : base.overlaid) {
    COVE_TRY(const struct stat info, facts_of(directory));
    if (!is_mapped(info.st_uid, info.st_gid)) {
      return Found(UnmappedEntry{directory.name, info.st_uid, info.st_gid});
    }
  }
  return Found(std::nullopt);
}

Found unmapped_entry(const SystemBase& base, const IsMapped& is_mapped) {
  COVE_TRY(auto top, unmapped_top(base, is_mapped));
  if (top) return top;
  for (const OverlaidDirectory& directory : base.overlaid) {
    COVE_TRY(const struct stat info, facts_of(directory));
    COVE_TRY(auto found, Walk(directory, info.st_dev, is_mapped).run());
    if (found) return found;
  }
  return Found(std::nullopt);
}

}  // namespace cove::local
