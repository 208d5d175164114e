#include "agent/edits/file_editor.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "agent/edits/text_edits.hpp"
#include "agent/files/file_facts.hpp"
#include "agent/files/file_writer.hpp"
#include "base/system/system_error.hpp"

namespace cove::agent {
namespace {

constexpr off_t kMostEdited = 64 << 20;
constexpr int kTries = 8;  // against one that changes the file all the time

struct ReadFile {
  std::string text;
  struct stat facts{};
};

Result<ReadFile> read_whole(const Place& place, const std::string& shown) {
  // SAFETY: one name of a directory that is held open, no link followed, a FIFO does not block.
  const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const base::UniqueFd fd(::openat(*place.parent, place.name.c_str(), flags));
  ReadFile file;
  if (!fd || ::fstat(*fd, &file.facts) != 0) {
    if (errno == ENOENT) return Error(ErrorCode::kNotFound, shown + " does not exist");
    if (errno == ELOOP) return Error(ErrorCode::kConflict, shown + " was changed on the way");
    return base::system_error(errno, "edit " + shown);
  }
  if (!S_ISREG(file.facts.st_mode)) return wrong_kind(shown, file.facts.st_mode, "a file");
  if (file.facts.st_size > kMostEdited) {
    return Error(ErrorCode::kTooLarge,
                 shown + " has " + std::to_string(file.facts.st_size) +
                     " bytes; files up to 64 MiB are edited: change it with a command (sed), or "
                     "write it anew");
  }
  file.text.resize(static_cast<std::size_t>(file.facts.st_size));
  std::size_t got = 0;
  while (got < file.text.size()) {
    const ssize_t bytes = ::read(*fd, file.text.data() + got, file.text.size() - got);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return base::system_error(errno, "edit " + shown);
    if (bytes == 0) break;
    got += static_cast<std::size_t>(bytes);
  }
  file.text.resize(got);
  return file;
}

}  // namespace

Result<EditResult> edit_place(const Place& place, const std::vector<Edit>& edits,
                              const EditOptions& options, const std::string& shown,
                              FileLocks& locks) {
  WriteOptions write;
  write.durable = options.durable;
  write.if_unchanged_since = options.if_unchanged_since;
  const FileLocks::Lock lock = locks.hold(*place.parent, place.name);
  for (int attempt = 1;; ++attempt) {
    COVE_TRY(ReadFile file, read_whole(place, shown));
    COVE_TRY_VOID(check_conditions(&file.facts, write, shown));
    COVE_TRY(EditedText edited, apply_edits(std::move(file.text), edits, shown));
    const ByteView content = std::as_bytes(std::span(edited.text));
    Result<FileInfo> info = replace_now(place, content, write, file.facts, shown);
    if (info) return EditResult{*std::move(info), std::move(edited.outcomes)};
    if (info.error().code() != ErrorCode::kConflict || attempt == kTries) return info.error();
  }
}

}  // namespace cove::agent
