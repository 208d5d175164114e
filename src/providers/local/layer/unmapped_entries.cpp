#include "providers/local/layer/unmapped_entries.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>

#include "base/system/system_error.hpp"
#include "base/system/unique_fd.hpp"
#include "providers/local/small_files.hpp"

namespace cove::local {

using base::UniqueFd;

namespace {

constexpr int kMaxDepth = 64;

using Found = Result<std::optional<UnmappedEntry>>;

/// A machine that is out of something says nothing of the tree; what went or is closed is passed
/// by.
bool is_of_machine(const Error& error) { return error.code() == ErrorCode::kQuotaExceeded; }

class Walk {
 public:
  Walk(const IsMapped& is_mapped, dev_t device) : is_mapped_(is_mapped), device_(device) {}

  Found visit(int directory, const std::string& prefix, int depth) {
    const auto names = names_in(directory);
    if (!names) return is_of_machine(names.error()) ? Found(names.error()) : Found(std::nullopt);
    for (const std::string& name : *names) {
      COVE_TRY(auto found, look(directory, prefix, name, depth));
      if (found) return found;
    }
    return Found(std::nullopt);
  }

 private:
  Found look(int directory, const std::string& prefix, const std::string& name, int depth) {
    struct stat info{};
    if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        info.st_dev != device_) {
      return Found(std::nullopt);
    }
    if (!is_mapped_(info.st_uid, info.st_gid)) {
      return Found(UnmappedEntry{prefix + name, info.st_uid, info.st_gid});
    }
    if (!S_ISDIR(info.st_mode) || depth == kMaxDepth) return Found(std::nullopt);
    const auto child = open_directory(directory, name);
    if (!child) return is_of_machine(child.error()) ? Found(child.error()) : Found(std::nullopt);
    return visit(**child, prefix + name + "/", depth + 1);
  }

  const IsMapped& is_mapped_;
  dev_t device_;
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
    const auto opened = open_directory(*directory.lower, ".");
    if (!opened && is_of_machine(opened.error())) return opened.error();
    if (!opened) continue;
    COVE_TRY(auto found, Walk(is_mapped, info.st_dev).visit(**opened, directory.name + "/", 0));
    if (found) return found;
  }
  return Found(std::nullopt);
}

}  // namespace cove::local
