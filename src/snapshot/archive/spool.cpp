#include "snapshot/archive/spool.hpp"

#include <cerrno>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/system/system_error.hpp"

namespace cove::snapshot {
namespace {

constexpr std::size_t kPiece = 256 * 1024;

class SpoolSource final : public ByteSource {
 public:
  SpoolSource(int file, base::BlockingExecutor& executor, Scheduler& scheduler)
      : file_(file), executor_(executor), scheduler_(scheduler) {}

  Task<Result<Bytes>> next(const CallContext& call) override {
    if (call.stop.stop_requested()) {
      co_return Error(ErrorCode::kCancelled, "the call was cancelled");
    }
    const auto read = [this] { return read_piece(); };
    co_return co_await base::offload(executor_, scheduler_, read);
  }

 private:
  Result<Bytes> read_piece() {
    Bytes piece(kPiece);
    for (;;) {
      const ssize_t size = ::pread(file_, piece.data(), piece.size(), at_);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) return base::system_error(errno, "read a spooled snapshot");
      piece.resize(static_cast<std::size_t>(size));
      at_ += size;
      return piece;
    }
  }

  int file_;
  off_t at_ = 0;
  base::BlockingExecutor& executor_;
  Scheduler& scheduler_;
};

}  // namespace

Result<Spool> Spool::create(const std::string& directory) {
  base::UniqueFd file(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file) return Spool(std::move(file));
  if (errno != EOPNOTSUPP && errno != EISDIR) {
    return base::system_error(errno, "spool a snapshot in '" + directory + "'");
  }
  // A file system without O_TMPFILE: a name for a moment.
  std::string name = directory + "/spool-XXXXXX";
  file.reset(::mkostemp(name.data(), O_CLOEXEC));
  if (!file || ::unlink(name.c_str()) != 0) {
    return base::system_error(errno, "spool a snapshot in '" + directory + "'");
  }
  return Spool(std::move(file));
}

Result<void> Spool::append(ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(*file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return base::system_error(errno, "spool a snapshot");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

std::unique_ptr<ByteSource> Spool::read(base::BlockingExecutor& executor,
                                        Scheduler& scheduler) const {
  return std::make_unique<SpoolSource>(*file_, executor, scheduler);
}

}  // namespace cove::snapshot
