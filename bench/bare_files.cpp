#include "bare_files.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {

namespace {

constexpr char kRead = 'r';
constexpr char kWrite = 'w';
constexpr char kDone = 'd';
constexpr const char* kName = "note";

bool send_all(int socket, const void* data, std::size_t size) {
  const auto* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t sent = ::send(socket, at, size, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    at += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, void* data, std::size_t size) {
  auto* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = ::recv(socket, at, size, 0);
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

/// Inside the directory and through no link of another kind, as an agent opens everything.
int open_beneath(int directory, const char* name, std::uint64_t flags) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, directory, name, &how, sizeof how));
}

bool serve_read(int directory, Page& page) {
  const int file = open_beneath(directory, kName, O_RDONLY | O_NONBLOCK);
  struct stat facts{};
  const bool done = file >= 0 && ::fstat(file, &facts) == 0 &&
                    ::pread(file, page.data(), page.size(), 0) == static_cast<ssize_t>(page.size());
  ::close(file);
  return done;
}

bool serve_write(int directory, const Page& page) {
  struct stat facts{};
  ::fstatat(directory, kName, &facts, AT_SYMLINK_NOFOLLOW);
  const int file = ::openat(directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const bool done =
      file >= 0 && ::write(file, page.data(), page.size()) == static_cast<ssize_t>(page.size()) &&
      ::fchmod(file, 0644) == 0 &&
      ::linkat(AT_FDCWD, link.c_str(), directory, "new", AT_SYMLINK_FOLLOW) == 0 &&
      ::renameat(directory, "new", directory, kName) == 0 && ::fstat(file, &facts) == 0;
  ::close(file);
  return done;
}

[[noreturn]] void serve(int socket, int directory) {
  Page page{};
  char what = 0;
  while (receive_all(socket, &what, 1)) {
    if (what == kRead) {
      if (!serve_read(directory, page) || !send_all(socket, page.data(), page.size())) break;
    } else {
      if (!receive_all(socket, page.data(), page.size()) || !serve_write(directory, page)) break;
      if (!send_all(socket, &kDone, 1)) break;
    }
  }
  ::_exit(0);
}

}  // namespace

BareFiles::BareFiles(const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  const int opened = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int ends[2] = {-1, -1};
  if (opened < 0 || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
  server_ = ::fork();
  if (server_ < 0) std::abort();
  if (server_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close(ends[0]);
    serve(ends[1], opened);
  }
  ::close(ends[1]);
  ::close(opened);
  socket_ = ends[0];
}

BareFiles::~BareFiles() {
  ::close(socket_);
  ::waitpid(server_, nullptr, 0);
}

bool BareFiles::write(const Page& page) {
  std::array<char, 1 + sizeof(Page)> request{};
  request[0] = kWrite;
  std::copy(page.begin(), page.end(), request.begin() + 1);
  char done = 0;
  return send_all(socket_, request.data(), request.size()) && receive_all(socket_, &done, 1) &&
         done == kDone;
}

bool BareFiles::read(Page& page) {
  return send_all(socket_, &kRead, 1) && receive_all(socket_, page.data(), page.size());
}

}  // namespace bench
