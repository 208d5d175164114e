#include "agent/files/file_facts.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <limits>
#include <utility>

#include <unistd.h>

#include "base/system/system_error.hpp"

namespace cove::agent {
namespace {

using std::chrono::nanoseconds;

constexpr std::int64_t kSecond = 1'000'000'000;

FileType type_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG: return FileType::kRegular;
    case S_IFDIR: return FileType::kDirectory;
    case S_IFLNK: return FileType::kSymlink;
    default: return FileType::kOther;
  }
}

std::chrono::sys_time<nanoseconds> time_of(const timespec& time) {
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max() / kSecond - 1;
  if (time.tv_sec > kLast) return std::chrono::sys_time<nanoseconds>::max();
  if (time.tv_sec < -kLast) return std::chrono::sys_time<nanoseconds>::min();
  return std::chrono::sys_time<nanoseconds>(nanoseconds(time.tv_sec * kSecond + time.tv_nsec));
}

}  // namespace

FileInfo bare_info_of(const struct stat& facts, std::string path) {
  FileInfo info;
  info.path = std::move(path);
  info.type = type_of(facts.st_mode);
  info.size = static_cast<std::uint64_t>(facts.st_size);
  info.mode = facts.st_mode & 07777U;
  info.modified = time_of(facts.st_mtim);
  return info;
}

FileInfo info_of(const struct stat& facts, std::string path) {
  FileInfo info = bare_info_of(facts, std::move(path));
  info.etag = etag_of(facts);
  return info;
}

std::string etag_of(const struct stat& facts) {
  std::array<char, 120> text{};
  const auto number = [](auto value) { return static_cast<unsigned long long>(value); };
  const int length = std::snprintf(text.data(), text.size(), "%llx-%llx-%llx.%llx-%llx.%llx",
                                   number(facts.st_ino), number(facts.st_size),
                                   number(facts.st_mtim.tv_sec), number(facts.st_mtim.tv_nsec),
                                   number(facts.st_ctim.tv_sec), number(facts.st_ctim.tv_nsec));
  return {text.data(), static_cast<std::size_t>(std::max(length, 0))};
}

Result<std::string> link_target(int fd, const std::string& name) {
  std::string target(PATH_MAX, '\0');
  const ssize_t length = ::readlinkat(fd, name.c_str(), target.data(), target.size());
  if (length < 0) return base::system_error(errno, "read a link");
  target.resize(static_cast<std::size_t>(length));
  return target;
}

std::string kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG: return "a file";
    case S_IFDIR: return "a directory";
    case S_IFLNK: return "a link";
    case S_IFIFO: return "a FIFO";
    case S_IFSOCK: return "a socket";
    default: return "a device";
  }
}

Error wrong_kind(const std::string& shown, mode_t mode, const std::string& expected) {
  return {ErrorCode::kFailedPrecondition, shown + " is " + kind_of(mode) + ", not " + expected};
}

}  // namespace cove::agent
