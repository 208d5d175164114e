#include "runtime/assembly/disk_reserve.hpp"

#include <cerrno>
#include <cstdint>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/system/unique_fd.hpp"

namespace cove::runtime {
namespace {

constexpr const char* kName = "reserve";
// A stop or a destroy writes some dozen pages of metadata, and a small file.
constexpr std::uint64_t kReserve = 2 << 20;
constexpr std::uint64_t kNearlyFull = 1 << 20;
constexpr std::uint64_t kPlenty = 4 * kReserve;

/// What this process may still write; plenty where nobody can say.
std::uint64_t free_bytes(int directory) noexcept {
  struct statvfs status{};
  if (::fstatvfs(directory, &status) != 0) return kPlenty + 1;
  return std::uint64_t{::geteuid() == 0 ? status.f_bfree : status.f_bavail} * status.f_frsize;
}

}  // namespace

bool DiskReserve::lend() const noexcept {
  return free_bytes(directory_) < kNearlyFull && ::unlinkat(directory_, kName, 0) == 0;
}

bool DiskReserve::restore() const noexcept {
  struct stat info{};
  if (::fstatat(directory_, kName, &info, AT_SYMLINK_NOFOLLOW) == 0) return true;
  if (free_bytes(directory_) < kPlenty) return false;
  const base::UniqueFd file(
      ::openat(directory_, kName, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  // A file system that cannot set room aside without writing has no reserve.
  if (file && ::fallocate(*file, 0, 0, kReserve) == 0) return true;
  if (file) ::unlinkat(directory_, kName, 0);
  return false;
}

}  // namespace cove::runtime
