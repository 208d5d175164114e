#include "agent/files/file_writer.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "agent/files/file_facts.hpp"
#include "agent/files/temporary_file.hpp"
#include "base/system/system_error.hpp"

namespace cove::agent {
namespace {

constexpr mode_t kDefaultMode = 0644;
constexpr std::size_t kMostAppended = 16U << 20U;
constexpr int kMaxRaces = 64;  // how often a name may come and go

Error failed_to_write(int error_number, const std::string& shown) {
  if (error_number == EEXIST) return {ErrorCode::kAlreadyExists, shown + " exists already"};
  return base::system_error(error_number, "write " + shown);
}

/// Returns 0 or the system's error number.
int write_all(int fd, ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

int sync_directory(int directory) {
  const base::UniqueFd readable(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return readable && ::fsync(*readable) == 0 ? 0 : errno;
}

/// What has the name now. False: nothing has.
Result<bool> look(const Place& place, struct stat& facts, const std::string& shown) {
  if (::fstatat(*place.parent, place.name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0) return true;
  if (errno == ENOENT) return false;
  return base::system_error(errno, "write " + shown);
}

mode_t mode_for(const Place& place, const WriteOptions& options) {
  const mode_t old = place.object ? place.facts.st_mode & 07777U : kDefaultMode;
  return options.mode.value_or(old);
}

/// Puts a file that is whole in its place. Returns 0 or the system's error number.
int put_in_place(TemporaryFile& file, const Place& place, mode_t mode,
                 const WriteOptions& options) {
  if (::fchmod(file.fd(), mode) != 0) return errno;
  if (options.durable && ::fsync(file.fd()) != 0) return errno;
  const int error_number =
      options.if_absent ? file.link_to(place.name) : file.rename_to(place.name);
  if (error_number != 0) return error_number;
  return options.durable ? sync_directory(*place.parent) : 0;
}

/// A writer of either kind: what is the same for both.
class PlacedWriter : public FileWriter {
 protected:
  PlacedWriter(Place place, WriteOptions options, std::string shown, FileLocks& locks)
      : place_(std::move(place)),
        options_(std::move(options)),
        shown_(std::move(shown)),
        locks_(locks) {}

  Result<void> begin_use() const {
    if (!over_) return ok();
    return Error(ErrorCode::kFailedPrecondition, "the writing of " + shown_ + " is over");
  }

  /// What stands there now may not be what stood there at the start; a rename would replace a FIFO.
  Result<void> check_place() const {
    struct stat facts{};
    COVE_TRY(const bool exists, look(place_, facts, shown_));
    COVE_TRY_VOID(check_conditions(exists ? &facts : nullptr, options_, shown_));
    if (!exists || S_ISREG(facts.st_mode) || S_ISLNK(facts.st_mode)) return ok();
    return wrong_kind(shown_, facts.st_mode, "a file");
  }

  Error failed(int error_number) const { return failed_to_write(error_number, shown_); }

  Place place_;
  WriteOptions options_;
  std::string shown_;
  FileLocks& locks_;
  bool over_ = false;  // committed, or a write failed
};

class ReplacingWriter final : public PlacedWriter {
 public:
  ReplacingWriter(Place place, const WriteOptions& options, std::string shown, FileLocks& locks)
      : PlacedWriter(std::move(place), options, std::move(shown), locks),
        file_(*place_.parent),
        mode_(mode_for(place_, options_)) {}

  Result<void> open() {
    const int error_number = file_.create();
    return error_number == 0 ? ok() : Result<void>(failed(error_number));
  }

  Result<void> write(ByteView bytes) override;
  Result<FileInfo> commit() override;

 private:
  TemporaryFile file_;  // after place_: it works in the directory that place_ holds
  mode_t mode_;
};

Result<void> ReplacingWriter::write(ByteView bytes) {
  COVE_TRY_VOID(begin_use());
  const int error_number = write_all(file_.fd(), bytes);
  if (error_number == 0) return ok();
  over_ = true;
  return failed(error_number);
}

Result<FileInfo> ReplacingWriter::commit() {
  COVE_TRY_VOID(begin_use());
  over_ = true;
  const FileLocks::Lock lock = locks_.hold(*place_.parent, place_.name);
  COVE_TRY_VOID(check_place());
  struct stat facts{};
  int error_number = put_in_place(file_, place_, mode_, options_);
  if (error_number == 0 && ::fstat(file_.fd(), &facts) != 0) error_number = errno;
  if (error_number != 0) return failed(error_number);
  return info_of(facts, place_.below);
}

/// Keeps what is to be added until the commit, so that it is one write.
class AppendingWriter final : public PlacedWriter {
 public:
  AppendingWriter(Place place, const WriteOptions& options, std::string shown, FileLocks& locks)
      : PlacedWriter(std::move(place), options, std::move(shown), locks) {}

  Result<void> write(ByteView bytes) override;
  Result<FileInfo> commit() override;

 private:
  struct Opened {
    base::UniqueFd fd;
    bool created = false;
    struct stat before{};
  };

  Result<Opened> open() const;
  Result<FileInfo> append_to(const Opened& file) const;

  Bytes content_;
};

Result<void> AppendingWriter::write(ByteView bytes) {
  COVE_TRY_VOID(begin_use());
  if (content_.size() + bytes.size() > kMostAppended) {
    over_ = true;
    return Error(ErrorCode::kTooLarge, "more than 16 MiB to append to " + shown_ +
                                           "; append it in several calls, or write the whole file");
  }
  content_.insert(content_.end(), bytes.begin(), bytes.end());
  return ok();
}

Result<FileInfo> AppendingWriter::commit() {
  COVE_TRY_VOID(begin_use());
  over_ = true;
  const FileLocks::Lock lock = locks_.hold(*place_.parent, place_.name);
  COVE_TRY_VOID(check_place());
  COVE_TRY(const Opened file, open());
  Result<FileInfo> info = append_to(file);
  if (info && options_.durable) {
    const int error_number = ::fsync(*file.fd) == 0 ? sync_directory(*place_.parent) : errno;
    if (error_number != 0) return failed(error_number);
  }
  return info;
}

Result<AppendingWriter::Opened> AppendingWriter::open() const {
  constexpr int kFlags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  for (int race = 0; race < kMaxRaces; ++race) {
    Opened opened;
    // SAFETY: one name of a directory that is held open, no link followed; NONBLOCK for a FIFO that
    // took the name just now.
    opened.fd.reset(::openat(*place_.parent, place_.name.c_str(), kFlags));
    if (!opened.fd && errno == ENOENT) {
      opened.created = true;
      opened.fd.reset(
          ::openat(*place_.parent, place_.name.c_str(), kFlags | O_CREAT | O_EXCL, 0600));
      if (!opened.fd && errno == EEXIST) continue;
    }
    if (!opened.fd || ::fstat(*opened.fd, &opened.before) != 0) {
      if (errno == ELOOP) break;
      return failed(errno);
    }
    if (!S_ISREG(opened.before.st_mode)) return wrong_kind(shown_, opened.before.st_mode, "a file");
    return opened;
  }
  return Error(ErrorCode::kConflict, shown_ + " was changed on the way");
}

Result<FileInfo> AppendingWriter::append_to(const Opened& file) const {
  const mode_t mode = options_.mode.value_or(kDefaultMode);
  int error_number = 0;
  if ((file.created || options_.mode) && ::fchmod(*file.fd, mode) != 0) error_number = errno;
  if (error_number == 0) error_number = write_all(*file.fd, content_);
  struct stat facts{};
  if (::fstat(*file.fd, &facts) != 0) return failed(errno);
  if (error_number == 0) return info_of(facts, place_.below);
  // A part of it may be there. Others may have added theirs behind it: then that stays as it is.
  const off_t grown = facts.st_size - file.before.st_size;
  if (grown > 0 && grown < static_cast<off_t>(content_.size()) &&
      ::ftruncate(*file.fd, file.before.st_size) != 0) {
    return base::system_error(errno, "take back what was appended to " + shown_);
  }
  if (file.created) ::unlinkat(*place_.parent, place_.name.c_str(), 0);
  return failed(error_number);
}

}  // namespace

Result<void> check_conditions(const struct stat* facts, const WriteOptions& options,
                              const std::string& shown) {
  if (options.if_absent && facts != nullptr) {
    return Error(ErrorCode::kAlreadyExists, shown + " exists already");
  }
  if (!options.if_unchanged_since) return ok();
  const std::string found = facts == nullptr ? "" : etag_of(*facts);
  if (found == *options.if_unchanged_since) return ok();
  const std::string now = facts == nullptr ? "does not exist any more" : "has the etag " + found;
  return Error(ErrorCode::kConflict, shown + " was changed: it " + now + ", not " +
                                         *options.if_unchanged_since +
                                         "; read it again and decide again");
}

Result<std::unique_ptr<FileWriter>> begin_writing(Place place, const WriteOptions& options,
                                                  std::string shown, FileLocks& locks) {
  if (options.mode.value_or(0) > 07777U) {
    return Error(ErrorCode::kInvalidArgument, "a mode has at most the bits 07777");
  }
  COVE_TRY_VOID(check_conditions(place.object ? &place.facts : nullptr, options, shown));
  if (place.object && !S_ISREG(place.facts.st_mode)) {
    return wrong_kind(shown, place.facts.st_mode, "a file");
  }
  if (options.append) {
    return std::unique_ptr<FileWriter>(
        std::make_unique<AppendingWriter>(std::move(place), options, std::move(shown), locks));
  }
  auto writer =
      std::make_unique<ReplacingWriter>(std::move(place), options, std::move(shown), locks);
  COVE_TRY_VOID(writer->open());
  return std::unique_ptr<FileWriter>(std::move(writer));
}

Result<FileInfo> replace_now(const Place& place, ByteView content, const WriteOptions& options,
                             const struct stat& was, const std::string& shown) {
  TemporaryFile file(*place.parent);
  int error_number = file.create();
  if (error_number == 0) error_number = write_all(file.fd(), content);
  if (error_number != 0) return failed_to_write(error_number, shown);
  struct stat facts{};
  COVE_TRY(const bool exists, look(place, facts, shown));
  if (!exists || etag_of(facts) != etag_of(was)) {
    return Error(ErrorCode::kConflict, shown + " was changed while it was edited; read it again");
  }
  error_number = put_in_place(file, place, was.st_mode & 07777U, options);
  if (error_number == 0 && ::fstat(file.fd(), &facts) != 0) error_number = errno;
  if (error_number != 0) return failed_to_write(error_number, shown);
  return info_of(facts, place.below);
}

}  // namespace cove::agent
