#include "agent/files/temporary_file.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/text/hex.hpp"

namespace cove::agent {
namespace {

constexpr int kNameTries = 16;

}  // namespace

std::string temporary_name() {
  std::array<std::byte, 8> random{};
  // Cannot fail: up to 256 bytes come whole, and the pool was ready before any sandbox.
  if (::getrandom(random.data(), random.size(), 0) < 0) return ".cove-0";
  return ".cove-" + base::to_hex(random);
}

bool is_temporary_name(std::string_view name) noexcept {
  constexpr std::string_view kPrefix = ".cove-";
  constexpr std::size_t kDigits = 16;
  return name.size() == kPrefix.size() + kDigits && name.starts_with(kPrefix) &&
         name.find_first_not_of("0123456789abcdef", kPrefix.size()) == std::string_view::npos;
}

TemporaryFile::~TemporaryFile() {
  if (!name_.empty()) ::unlinkat(directory_, name_.c_str(), 0);
}

int TemporaryFile::create() {
  fd_.reset(::openat(directory_, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  if (fd_ && ::access(link().c_str(), F_OK) == 0) return 0;
  return create_named();
}

int TemporaryFile::create_named() {
  constexpr int kFlags = O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC;
  for (int i = 0; i < kNameTries; ++i) {
    std::string name = temporary_name();
    fd_.reset(::openat(directory_, name.c_str(), kFlags, 0600));
    if (fd_) {
      name_ = std::move(name);
      return 0;
    }
    if (errno != EEXIST) return errno;
  }
  return EEXIST;
}

int TemporaryFile::give_name() {
  for (int i = 0; i < kNameTries; ++i) {
    std::string name = temporary_name();
    if (::linkat(AT_FDCWD, link().c_str(), directory_, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      name_ = std::move(name);
      return 0;
    }
    if (errno != EEXIST) return errno;
  }
  return EEXIST;
}

int TemporaryFile::rename_to(const std::string& name) {
  if (name_.empty()) {
    const int error_number = give_name();
    if (error_number != 0) return error_number;
  }
  if (::renameat(directory_, name_.c_str(), directory_, name.c_str()) != 0) return errno;
  name_.clear();
  return 0;
}

int TemporaryFile::place_at(const std::string& name) {
  if (name_.empty() && link_to(name) == 0) return 0;
  return rename_to(name);
}

int TemporaryFile::link_to(const std::string& name) {
  const int from = name_.empty() ? AT_FDCWD : directory_;
  const std::string source = name_.empty() ? link() : name_;
  // The temporary name, where there is one, goes with this object.
  return ::linkat(from, source.c_str(), directory_, name.c_str(),
                  name_.empty() ? AT_SYMLINK_FOLLOW : 0) == 0
             ? 0
             : errno;
}

}  // namespace cove::agent
