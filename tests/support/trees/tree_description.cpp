#include "support/trees/tree_description.hpp"

#include <algorithm>
#include <cerrno>
#include <sstream>
#include <system_error>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/sha256.hpp"
#include "base/system/unique_fd.hpp"

namespace cove::test {
namespace {

[[noreturn]] void fail(const std::string& path) {
  throw std::system_error(errno, std::generic_category(), "describe " + path);
}

class Describer {
 public:
  explicit Describer(const DescribeOptions& options) : options_(options) {}

  void directory(base::UniqueFd fd, const std::string& path) {
    struct stat status{};
    if (::fstat(*fd, &status) != 0) fail(path);
    found[path] = "dir " + common(status) + xattrs(*fd);
    std::vector<std::string> names;
    DIR* const entries = ::fdopendir(::dup(*fd));
    if (entries == nullptr) fail(path);
    while (const dirent* const entry = ::readdir(entries)) names.emplace_back(entry->d_name);
    ::closedir(entries);
    std::sort(names.begin(), names.end());
    for (const auto& name : names) {
      if (name != "." && name != "..") one(*fd, name, path.empty() ? name : path + "/" + name);
    }
  }

  std::map<std::string, std::string> found;

 private:
  void one(int parent, const std::string& name, const std::string& path) {
    struct stat status{};
    if (::fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) fail(path);
    base::UniqueFd fd;
    if (S_ISDIR(status.st_mode) || S_ISREG(status.st_mode)) {
      fd.reset(::openat(parent, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
      if (!fd) fail(path);
    }
    if (S_ISDIR(status.st_mode)) return directory(std::move(fd), path);
    std::string text = common(status) + group(status, path);
    if (S_ISREG(status.st_mode)) text = "file " + text + content(*fd, status) + xattrs(*fd);
    if (S_ISLNK(status.st_mode)) text = "link " + text + target(parent, name);
    if (S_ISFIFO(status.st_mode)) text = "fifo " + text;
    if (S_ISSOCK(status.st_mode)) text = "socket " + text;
    if (S_ISCHR(status.st_mode)) text = "device " + text;
    found[path] = text;
  }

  std::string common(const struct stat& status) const {
    std::ostringstream out;
    out << std::oct << (status.st_mode & 07777U) << std::dec;
    if (options_.with_owners) {
      out << " " << status.st_uid - options_.id_offset << ":" << status.st_gid - options_.id_offset;
    }
    out << " " << status.st_mtim.tv_sec << "+" << status.st_mtim.tv_nsec;
    return out.str();
  }

  std::string group(const struct stat& status, const std::string& path) {
    if (status.st_nlink < 2) return "";
    const auto [first, is_new] = groups_.try_emplace(status.st_ino, path);
    return " same as " + first->second;
  }

  static std::string content(int fd, const struct stat& status) {
    base::Sha256 hash;
    std::vector<char> buffer(1 << 20);
    std::ostringstream out;
    out << " " << status.st_size << " bytes";
    for (off_t at = 0; at < status.st_size;) {
      const off_t data = ::lseek(fd, at, SEEK_DATA);
      if (data < 0) break;
      const off_t hole = ::lseek(fd, data, SEEK_HOLE);
      out << " [" << data << "," << hole << ")";
      for (off_t from = data; from < hole;) {
        const auto want = std::min(buffer.size(), static_cast<std::size_t>(hole - from));
        const auto size = ::pread(fd, buffer.data(), want, from);
        if (size <= 0) break;
        hash.update(std::string_view(buffer.data(), static_cast<std::size_t>(size)));
        from += size;
      }
      at = hole;
    }
    return out.str() + " " + hash.hex().substr(0, 16);
  }

  static std::string target(int parent, const std::string& name) {
    std::vector<char> text(8192);
    const auto size = ::readlinkat(parent, name.c_str(), text.data(), text.size());
    if (size < 0) fail(name);
    return " -> " + std::string(text.data(), static_cast<std::size_t>(size));
  }

  static std::string xattrs(int fd) {
    std::vector<char> names(65536);
    const auto size = ::flistxattr(fd, names.data(), names.size());
    std::map<std::string, std::string> sorted;
    for (ssize_t at = 0; at < size;) {
      const std::string name(names.data() + at);
      at += static_cast<ssize_t>(name.size()) + 1;
      if (!name.starts_with("user.")) continue;
      std::vector<char> value(65536);
      const auto length = ::fgetxattr(fd, name.c_str(), value.data(), value.size());
      sorted[name] = std::string(value.data(), static_cast<std::size_t>(length));
    }
    std::string text;
    for (const auto& [name, value] : sorted) text += " " + name + "=" + value;
    return text;
  }

  DescribeOptions options_;
  std::map<ino_t, std::string> groups_;
};

}  // namespace

std::map<std::string, std::string> describe_tree(const std::string& directory,
                                                 const DescribeOptions& options) {
  base::UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) fail(directory);
  Describer describer(options);
  describer.directory(std::move(fd), "");
  return std::move(describer.found);
}

}  // namespace cove::test
