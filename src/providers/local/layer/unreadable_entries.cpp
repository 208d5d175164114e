#include "providers/local/layer/unreadable_entries.hpp"

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

class Walk {
 public:
  Walk(dev_t device, std::vector<UnreadableEntry>& found) : device_(device), found_(found) {}

  Result<void> visit(int directory, const std::string& prefix, int depth) {
    COVE_TRY(const auto names, names_in(directory));
    for (const std::string& name : names) COVE_TRY_VOID(look(directory, prefix, name, depth));
    return ok();
  }

 private:
  Result<void> look(int directory, const std::string& prefix, const std::string& name, int depth) {
    struct stat info{};
    if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return ok();
    const bool is_directory = S_ISDIR(info.st_mode);
    if (info.st_dev != device_ || (!is_directory && !S_ISREG(info.st_mode))) return ok();
    const mode_t needed = is_directory ? S_IROTH | S_IXOTH : S_IROTH;
    if ((info.st_mode & needed) != needed) {
      found_.push_back(
          {prefix + name, is_directory, info.st_mode & 07777, info.st_uid, info.st_gid});
      return ok();
    }
    if (!is_directory || depth == kMaxDepth) return ok();
    const auto child = open_directory(directory, name);
    if (!child) {
      // It went, or became something else: only a machine that is out of something is an error.
      return is_exhausted(child.error()) ? Result<void>(child.error()) : ok();
    }
    return visit(**child, prefix + name + "/", depth + 1);
  }

  dev_t device_;
  std::vector<UnreadableEntry>& found_;
};

}  // namespace

Result<std::vector<UnreadableEntry>> unreadable_entries(int directory) {
  std::vector<UnreadableEntry> found;
  struct stat info{};
  COVE_TRY(const UniqueFd top, open_directory(directory, "."));
  if (::fstat(*top, &info) != 0) return base::system_error(errno, "inspect a system directory");
  COVE_TRY_VOID(Walk(info.st_dev, found).visit(*top, "", 0));
  return found;
}

}  // namespace cove::local
