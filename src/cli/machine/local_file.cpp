#include "cli/machine/local_file.hpp"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/system_clock.hpp"
#include "base/system/system_error.hpp"
#include "base/text/byte_text.hpp"
#include "base/text/display_text.hpp"

namespace cove::cli {
namespace {

constexpr std::size_t kPiece = 256 * 1024;
constexpr int kLookAtStop = 100;  // ms

/// The path behind links, so that a link stays one and what it leads to is replaced, as cp does.
/// A link that leads to nothing is refused: it says nowhere whether that file was meant to be.
Result<std::string> behind_links(const std::string& path) {
  struct stat facts{};
  if (::lstat(path.c_str(), &facts) != 0) return path;
  // The kernel itself follows it first: it refuses links that strangers put into directories such
  // as /tmp, which realpath would not notice.
  if (S_ISLNK(facts.st_mode) && ::stat(path.c_str(), &facts) != 0) {
    if (errno != ENOENT) return base::system_error(errno, "follow the link " + base::quoted(path));
    return Error(ErrorCode::kFailedPrecondition,
                 base::quoted(path) +
                     " is a link that leads to nothing; remove it, or name the file itself");
  }
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? real.get() : path;
}

/// Waits until a pipe or terminal has something. The token is looked at now and then: the signal
/// behind it may have woken another thread.
Result<void> wait_readable(int fd, const CallContext& call) {
  const base::SystemClock clock;
  pollfd ready{fd, POLLIN, 0};
  for (;;) {
    COVE_TRY_VOID(call.check(clock));
    if (::poll(&ready, 1, kLookAtStop) != 0) return ok();  // an error shows when it is read
  }
}

/// Opens without waiting for whoever is at a FIFO's other end; what follows may wait.
base::UniqueFd open_at_once(const std::string& path, int flags) {
  base::UniqueFd fd(::open(path.c_str(), flags | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (fd && ::fcntl(*fd, F_SETFL, flags) != 0) return {};
  return fd;
}

}  // namespace

Result<base::UniqueFd> open_local(const std::string& path) {
  base::UniqueFd fd(path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                : open_at_once(path, O_RDONLY).release());
  if (!fd) return base::system_error(errno, "open " + base::quoted(path));
  struct stat facts{};
  if (::fstat(*fd, &facts) == 0 && S_ISDIR(facts.st_mode)) {
    return Error(ErrorCode::kFailedPrecondition,
                 base::quoted(path) + " is a directory; only files can be put");
  }
  return fd;
}

Result<Bytes> read_piece(int fd, const std::string& shown, const CallContext& call) {
  Bytes piece(kPiece);
  for (;;) {
    COVE_TRY_VOID(wait_readable(fd, call));
    const ssize_t got = ::read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::system_error(errno, "read " + shown);
    piece.resize(static_cast<std::size_t>(got));
    return piece;
  }
}

Result<std::string> read_all(int fd, const std::string& shown, std::size_t limit,
                             const CallContext& call) {
  std::string all;
  for (;;) {
    COVE_TRY(const Bytes piece, read_piece(fd, shown, call));
    if (piece.empty()) return all;
    if (piece.size() > limit - all.size()) {
      return Error(ErrorCode::kTooLarge, shown + " has more than " + std::to_string(limit >> 20U) +
                                             " MiB; put it as a file, and read that");
    }
    all.append(base::text_of(piece));
  }
}

std::string last_name(const std::string& path) {
  const std::size_t end = path.find_last_not_of('/');
  if (end == std::string::npos) return "";
  const std::size_t slash = path.rfind('/', end);
  return path.substr(slash == std::string::npos ? 0 : slash + 1,
                     end - (slash == std::string::npos ? std::string::npos : slash));
}

Result<LocalFile> LocalFile::create(const std::string& path, const std::string& name) {
  struct stat facts{};
  std::string target = path;
  const bool directory = ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
  if (directory || path.ends_with('/')) target += (path.ends_with('/') ? "" : "/") + name;
  COVE_TRY(target, behind_links(target));
  const std::string shown = base::quoted(target);
  const bool there = ::stat(target.c_str(), &facts) == 0;
  if (there && !S_ISREG(facts.st_mode)) {
    base::UniqueFd fd = open_at_once(target, O_WRONLY);
    if (!fd && errno == ENXIO) {
      return Error(ErrorCode::kFailedPrecondition, "nobody reads from the pipe " + shown);
    }
    if (!fd) return base::system_error(errno, "write " + shown);
    return LocalFile(std::move(fd), target, "");
  }
  base::SystemIds ids;
  std::string temporary =
      target.substr(0, target.rfind('/') + 1) + ".cove-" + base::random_name(ids).substr(0, 16);
  base::UniqueFd fd(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!fd) return base::system_error(errno, "write " + shown);
  LocalFile file(std::move(fd), target, std::move(temporary));
  if (there && ::fchmod(*file.fd_, facts.st_mode & 07777U) != 0) {
    return base::system_error(errno, "write " + shown);
  }
  return file;
}

LocalFile::LocalFile(LocalFile&& other) noexcept
    : fd_(std::move(other.fd_)),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})) {}

LocalFile::~LocalFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<void> LocalFile::write(ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(*fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return base::system_error(errno, "write " + base::quoted(path_));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return ok();
}

Result<void> LocalFile::commit() {
  if (temporary_.empty()) return ok();
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return base::system_error(errno, "write " + base::quoted(path_));
  }
  temporary_.clear();
  return ok();
}

}  // namespace cove::cli
