#include "agent/trees/tree_packer.hpp"

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "agent/files/file_facts.hpp"
#include "base/system/system_error.hpp"
#include "base/text/display_text.hpp"

namespace cove::agent {

TreePacker::TreePacker(base::UniqueFd top, std::string shown)
    : walk_(std::move(top), {}, shown), shown_(std::move(shown)) {}

Result<Bytes> TreePacker::next(std::size_t room) {
  Bytes piece;
  piece.reserve(room);
  while (piece.size() < room) {
    if (!blocks_.empty()) {
      give_blocks(piece, room);
    } else if (file_) {
      COVE_TRY_VOID(read_file(piece, room));
    } else if (!ended_) {
      COVE_TRY_VOID(advance());
    } else {
      break;
    }
  }
  return piece;
}

void TreePacker::give_blocks(Bytes& piece, std::size_t room) {
  const auto bytes = std::as_bytes(std::span(blocks_));
  const auto part = bytes.first(std::min(room - piece.size(), bytes.size()));
  piece.insert(piece.end(), part.begin(), part.end());
  blocks_.erase(0, part.size());
}

Result<void> TreePacker::advance() {
  COVE_TRY(const SortedWalk::Step step, walk_.next());
  if (step.kind == SortedWalk::Kind::kEntry) return add(step);
  if (step.kind == SortedWalk::Kind::kLeave) return ok();
  blocks_.append(2 * base::kTarBlock, '\0');
  ended_ = true;
  return ok();
}

Result<void> TreePacker::add(const SortedWalk::Step& step) {
  if (step.unreadable) return unreadable(step.path, EACCES);
  base::TarEntry entry;
  entry.path = step.path;
  entry.mode = step.facts.st_mode & 07777U;
  entry.seconds = step.facts.st_mtim.tv_sec;
  entry.nanoseconds = static_cast<std::int32_t>(step.facts.st_mtim.tv_nsec);
  switch (step.facts.st_mode & S_IFMT) {
    case S_IFDIR:
      entry.type = base::TarType::kDirectory;
      entry.path += '/';
      break;
    case S_IFLNK: {
      Result<std::string> target = link_target(step.directory, step.name);
      if (!target) return ok();  // gone, or no link any more
      entry.type = base::TarType::kSymlink;
      entry.target = *std::move(target);
      break;
    }
    case S_IFREG: {
      if (std::optional<std::string> first = links_.first_name(step.facts, step.path)) {
        entry.type = base::TarType::kHardLink;
        entry.target = *std::move(first);
        break;
      }
      return open_file(step, entry);
    }
    default: return ok();
  }
  base::append_tar_header(blocks_, entry);
  return ok();
}

Result<void> TreePacker::open_file(const SortedWalk::Step& step, base::TarEntry& entry) {
  // SAFETY: one name, no link followed; a FIFO that took the name does not block.
  base::UniqueFd file(::openat(step.directory, step.name.c_str(),
                               O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat facts{};
  if (!file && (errno == ENOENT || errno == ELOOP)) return ok();  // gone
  if (!file || ::fstat(*file, &facts) != 0) return unreadable(step.path, errno);
  if (!S_ISREG(facts.st_mode)) return ok();
  entry.size = static_cast<std::uint64_t>(facts.st_size);
  base::append_tar_header(blocks_, entry);
  left_ = entry.size;
  padding_ = base::tar_padding(entry.size);
  if (left_ > 0) file_ = std::move(file);
  return ok();
}

/// Straight into the piece: what is large is copied once.
Result<void> TreePacker::read_file(Bytes& piece, std::size_t room) {
  const std::size_t before = piece.size();
  const std::size_t most = std::min<std::uint64_t>(left_, room - before);
  piece.resize(before + most);
  ssize_t got = 0;
  do {
    got = ::read(*file_, piece.data() + before, most);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return base::system_error(errno, "read " + shown_);
  // A file that became shorter has zeros to the size that its header says.
  const std::size_t used = got == 0 ? most : static_cast<std::size_t>(got);
  piece.resize(before + used);
  left_ -= used;
  if (left_ > 0) return ok();
  blocks_.append(padding_, '\0');
  file_.reset();
  return ok();
}

Error TreePacker::unreadable(const std::string& path, int error_number) const {
  return base::system_error(error_number, "read " + base::quoted(path) + " in " + shown_);
}

}  // namespace cove::agent
