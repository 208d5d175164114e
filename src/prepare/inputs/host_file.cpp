#include "prepare/inputs/host_file.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/system_error.hpp"
#include "base/system/unique_fd.hpp"
#include "base/text/display_text.hpp"

namespace cove::prepare {
namespace {

constexpr std::size_t kPiece = 256 * 1024;

struct OpenedHostFile {
  base::UniqueFd fd;
  struct stat facts{};
};

Result<OpenedHostFile> open_file(const std::string& path) {
  const std::string shown = base::quoted(path);
  if (path.find('\0') != std::string::npos) {
    return Error(ErrorCode::kInvalidArgument, "the path " + shown + " has a NUL byte");
  }
  // SAFETY: the host's own path; no link at its end is followed and no FIFO is waited for.
  const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  OpenedHostFile file{base::UniqueFd(::open(path.c_str(), flags)), {}};
  if (!file.fd && errno == ELOOP) {
    return Error(ErrorCode::kInvalidArgument, shown + " is a link; name the file itself");
  }
  if (!file.fd || ::fstat(*file.fd, &file.facts) != 0) {
    return base::system_error(errno, "open " + shown);
  }
  if (!S_ISREG(file.facts.st_mode)) {
    return Error(ErrorCode::kInvalidArgument, shown + " is no regular file");
  }
  return file;
}

std::string time_text(const timespec& time) {
  return std::to_string(time.tv_sec) + "." + std::to_string(time.tv_nsec);
}

Result<Bytes> read_piece(int fd) {
  Bytes bytes(kPiece);
  ssize_t got = 0;
  do {
    got = ::read(fd, bytes.data(), bytes.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0) return base::system_error(errno, "read the host's file");
  bytes.resize(static_cast<std::size_t>(got));
  return bytes;
}

class HostFileSource final : public ByteSource {
 public:
  HostFileSource(base::UniqueFd fd, base::BlockingExecutor& executor, Scheduler& scheduler)
      : fd_(std::move(fd)), executor_(executor), scheduler_(scheduler) {}

  Task<Result<Bytes>> next(const CallContext& /*call*/) override {
    const int fd = *fd_;
    const auto read = [fd] { return read_piece(fd); };
    co_return co_await base::offload(executor_, scheduler_, read);
  }

 private:
  base::UniqueFd fd_;
  base::BlockingExecutor& executor_;
  Scheduler& scheduler_;
};

}  // namespace

Result<HostFileFacts> look_at_host_file(const std::string& path) {
  COVE_TRY(const OpenedHostFile file, open_file(path));
  const struct stat& facts = file.facts;
  return HostFileFacts{static_cast<std::uint64_t>(facts.st_size),
                       std::to_string(facts.st_dev) + "/" + std::to_string(facts.st_ino) + "/" +
                           std::to_string(facts.st_size) + "/" + time_text(facts.st_mtim) + "/" +
                           time_text(facts.st_ctim)};
}

Task<Result<std::unique_ptr<ByteSource>>> open_host_file(std::string path,
                                                         base::BlockingExecutor& executor,
                                                         Scheduler& scheduler) {
  const auto open = [&path] { return open_file(path); };
  COVE_CO_TRY(OpenedHostFile file, co_await base::offload(executor, scheduler, open));
  co_return std::unique_ptr<ByteSource>(
      std::make_unique<HostFileSource>(std::move(file.fd), executor, scheduler));
}

}  // namespace cove::prepare
