/// TreeBuilder: makes files of every kind below a directory. Throws std::system_error.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/system/unique_fd.hpp"

namespace cove::test {

class TreeBuilder {
 public:
  explicit TreeBuilder(std::string root) : root_(std::move(root)) {}

  std::string at(const std::string& path) const { return root_ + "/" + path; }

  void file(const std::string& path, std::string_view content, mode_t mode = 0644) {
    const base::UniqueFd fd(::open(at(path).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    check(
        fd && ::write(*fd, content.data(), content.size()) == static_cast<ssize_t>(content.size()),
        path);
    check(::fchmod(*fd, mode) == 0, path);
  }

  /// Writes `content` at `offset`, leaving a hole before it, and sets the size.
  void sparse(const std::string& path, std::uint64_t offset, std::string_view content,
              std::uint64_t size) {
    const base::UniqueFd fd(::open(at(path).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    check(fd && ::pwrite(*fd, content.data(), content.size(), static_cast<off_t>(offset)) ==
                    static_cast<ssize_t>(content.size()),
          path);
    check(::ftruncate(*fd, static_cast<off_t>(size)) == 0, path);
  }

  void directory(const std::string& path, mode_t mode = 0755) {
    check(::mkdir(at(path).c_str(), 0700) == 0 && ::chmod(at(path).c_str(), mode) == 0, path);
  }
  void mode(const std::string& path, mode_t mode) {
    check(::chmod(at(path).c_str(), mode) == 0, path);
  }
  void symlink(const std::string& path, const std::string& target) {
    check(::symlink(target.c_str(), at(path).c_str()) == 0, path);
  }
  void hard_link(const std::string& path, const std::string& target) {
    check(::link(at(target).c_str(), at(path).c_str()) == 0, path);
  }
  void fifo(const std::string& path, mode_t mode) {
    check(::mkfifo(at(path).c_str(), 0600) == 0 && ::chmod(at(path).c_str(), mode) == 0, path);
  }
  void socket(const std::string& path) {
    const base::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    at(path).copy(address.sun_path, sizeof address.sun_path - 1);
    check(::bind(*fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0, path);
  }
  void owner(const std::string& path, uid_t uid, gid_t gid) {
    check(::lchown(at(path).c_str(), uid, gid) == 0, path);
  }
  void time(const std::string& path, std::int64_t seconds, long nanoseconds) {
    const timespec when{seconds, nanoseconds};
    const timespec times[] = {when, when};
    check(::utimensat(AT_FDCWD, at(path).c_str(), times, AT_SYMLINK_NOFOLLOW) == 0, path);
  }
  void attribute(const std::string& path, const std::string& name, const std::string& value) {
    check(::setxattr(at(path).c_str(), name.c_str(), value.data(), value.size(), 0) == 0, path);
  }

 private:
  static void check(bool fine, const std::string& path) {
    if (!fine) throw std::system_error(errno, std::generic_category(), "make " + path);
  }

  std::string root_;
};

}  // namespace cove::test
