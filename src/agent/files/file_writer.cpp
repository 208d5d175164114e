#include "agent/files/file_writer.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include "agent/files/file_facts.hpp"
#include "base/system/system_error.hpp"
#include "base/text/hex.hpp"

namespace cove::agent {
namespace {

constexpr mode_t kDefaultMode = 0644;
constexpr int kNameTries = 16;

std::string temporary_name() {
  std::array<std::byte, 8> random{};
  // Cannot fail: up to 256 bytes come whole, and the pool was ready before any sandbox.
  if (::getrandom(random.data(), random.size(), 0) < 0) return ".cove-0";
  return ".cove-" + base::to_hex(random);
}

/// A file that has no name yet, or a `.cove-<random>` one where the file system or a missing /proc
/// leaves no other way. Without `rename_to` nothing of it stays; where the process is killed, only
/// the named kind does.
class TemporaryFile {
 public:
  explicit TemporaryFile(int directory) : directory_(directory) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!name_.empty()) ::unlinkat(directory_, name_.c_str(), 0);
  }

  /// Each returns 0 or the system's error number.
  int create();
  int rename_to(const std::string& name);

  int fd() const noexcept { return *fd_; }

 private:
  std::string link() const { return "/proc/self/fd/" + std::to_string(*fd_); }
  int create_named();
  int give_name();

  int directory_;
  base::UniqueFd fd_;
  std::string name_;  // in the directory; empty = none
};

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

class ReplacingWriter final : public FileWriter {
 public:
  ReplacingWriter(Place place, const WriteOptions& options, std::string shown)
      : place_(std::move(place)),
        durable_(options.durable),
        shown_(std::move(shown)),
        file_(*place_.parent) {
    const mode_t old = place_.object ? place_.facts.st_mode & 07777U : kDefaultMode;
    mode_ = options.mode.value_or(old);
  }

  Result<void> open() {
    const int error_number = file_.create();
    return error_number == 0 ? ok() : Result<void>(failed(error_number));
  }

  Result<void> write(ByteView bytes) override;
  Result<FileInfo> commit() override;

 private:
  Result<void> check_usable() const;
  int finish() const;
  int sync_directory() const;
  Error failed(int error_number) const {
    return base::system_error(error_number, "write " + shown_);
  }

  Place place_;
  bool durable_;
  std::string shown_;
  TemporaryFile file_;  // after place_: it works in the directory that place_ holds
  mode_t mode_ = kDefaultMode;
  bool over_ = false;  // committed, or a write failed
};

Result<void> ReplacingWriter::check_usable() const {
  if (!over_) return ok();
  return Error(ErrorCode::kFailedPrecondition, "the writing of " + shown_ + " is over");
}

Result<void> ReplacingWriter::write(ByteView bytes) {
  COVE_TRY_VOID(check_usable());
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.fd(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      over_ = true;
      return failed(errno);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return ok();
}

Result<FileInfo> ReplacingWriter::commit() {
  COVE_TRY_VOID(check_usable());
  over_ = true;
  struct stat facts{};
  // What stands there now may not be what stood there at the start; a rename would replace a FIFO.
  if (::fstatat(*place_.parent, place_.name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
      !S_ISREG(facts.st_mode) && !S_ISLNK(facts.st_mode)) {
    return wrong_kind(shown_, facts.st_mode, "a file");
  }
  int error_number = finish();
  if (error_number == 0) error_number = file_.rename_to(place_.name);
  if (error_number == 0 && durable_) error_number = sync_directory();
  if (error_number == 0 && ::fstat(file_.fd(), &facts) != 0) error_number = errno;
  if (error_number != 0) return failed(error_number);
  return info_of(facts, place_.below);
}

int ReplacingWriter::finish() const {
  if (::fchmod(file_.fd(), mode_) != 0) return errno;
  return durable_ && ::fsync(file_.fd()) != 0 ? errno : 0;
}

int ReplacingWriter::sync_directory() const {
  const base::UniqueFd directory(::openat(*place_.parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return directory && ::fsync(*directory) == 0 ? 0 : errno;
}

}  // namespace

Result<std::unique_ptr<FileWriter>> begin_replacing(Place place, const WriteOptions& options,
                                                    std::string shown) {
  if (options.mode.value_or(0) > 07777U) {
    return Error(ErrorCode::kInvalidArgument, "a mode has at most the bits 07777");
  }
  if (place.object && !S_ISREG(place.facts.st_mode)) {
    return wrong_kind(shown, place.facts.st_mode, "a file");
  }
  auto writer = std::make_unique<ReplacingWriter>(std::move(place), options, std::move(shown));
  COVE_TRY_VOID(writer->open());
  return std::unique_ptr<FileWriter>(std::move(writer));
}

}  // namespace cove::agent
