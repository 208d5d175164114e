#include "snapshot/tree/tree_writer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/system/beneath.hpp"
#include "snapshot/tree/guarded_open.hpp"
#include "snapshot/tree/tree_reader.hpp"

namespace cove::snapshot {
namespace {

constexpr std::size_t kBlock = 4096;

Error refusal(const std::string& path, const char* why) {
  return {ErrorCode::kIntegrity, "archive entry " + shown(path) + " " + why};
}

std::array<timespec, 2> times_of(const Attributes& attributes) {
  timespec modified{};
  modified.tv_sec = attributes.mtime;
  modified.tv_nsec = static_cast<long>(attributes.mtime_nanoseconds);
  return {modified, modified};
}

bool is_zero(ByteView bytes) {
  static constexpr std::array<std::byte, kBlock> kZeros{};
  return std::memcmp(bytes.data(), kZeros.data(), bytes.size()) == 0;
}

std::string last_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

Result<void> CountingSink::entry(const Entry& entry, std::size_t) {
  if (!entry.path.empty()) ++found_.entries;
  if (found_.entries > expected_.entries) {
    return Error(ErrorCode::kIntegrity, "the archive has more than the " +
                                            std::to_string(expected_.entries) +
                                            " entries that its manifest says");
  }
  return {};
}

Result<void> CountingSink::data(std::uint64_t, ByteView bytes) {
  found_.content_bytes += bytes.size();
  if (found_.content_bytes > expected_.content_bytes) {
    return Error(ErrorCode::kIntegrity, "the archive has more than the " +
                                            std::to_string(expected_.content_bytes) +
                                            " bytes of content that its manifest says");
  }
  return {};
}

Result<void> CountingSink::finish() {
  if (found_.entries == expected_.entries && found_.content_bytes == expected_.content_bytes) {
    return {};
  }
  return Error(ErrorCode::kIntegrity, "the archive has " + std::to_string(found_.entries) +
                                          " entries and " + std::to_string(found_.content_bytes) +
                                          " bytes of content, its manifest says " +
                                          std::to_string(expected_.entries) + " and " +
                                          std::to_string(expected_.content_bytes));
}

Result<TreeWriter> TreeWriter::open(int volume, const IdMapping& ids,
                                    const ArchiveTotals& expected) {
  if (!ids.single && ids.count == 0) {
    return Error(ErrorCode::kInvalidArgument, "the volume's mapping of ids is empty");
  }
  COVE_TRY(DirectoryChain chain, DirectoryChain::open(volume));
  COVE_TRY(const int root, chain.fd());
  COVE_TRY(const std::string name, NameReader().next(root));
  if (!name.empty()) {
    return Error(ErrorCode::kFailedPrecondition,
                 "the workspace to restore into is not empty: it has " + shown(name));
  }
  return TreeWriter(std::move(chain), ids, expected);
}

Result<void> TreeWriter::entry(const Entry& entry, std::size_t above) {
  COVE_TRY_VOID(counter_.entry(entry, above));
  current_ = entry;
  COVE_TRY_VOID(check_owner());
  if (entry.path.empty()) {
    levels_.push_back(entry.attributes);
    return {};
  }
  while (chain_.depth() > above) {
    COVE_TRY_VOID(leave());
  }
  return make(last_name(entry.path));
}

Result<void> TreeWriter::check_owner() const {
  const Attributes& attributes = current_.attributes;
  if (ids_.single || (attributes.uid < ids_.count && attributes.gid < ids_.count)) return {};
  return refusal(current_.path, "has an owner outside of the sandbox's ids");
}

Result<void> TreeWriter::make(const std::string& name) {
  if (current_.type == EntryType::kDirectory) return make_directory(name);
  if (current_.type == EntryType::kHardLink) return make_hard_link(name);
  COVE_TRY(const int directory, chain_.fd());
  int error = 0;
  if (current_.type == EntryType::kFile) {
    auto opened = base::open_in_volume(directory, name.c_str(),
                                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    error = opened.error_number;
    file_ = std::move(opened.fd);
  } else if (current_.type == EntryType::kSymlink) {
    error = ::symlinkat(current_.target.c_str(), directory, name.c_str()) == 0 ? 0 : errno;
  } else {
    error = ::mknodat(directory, name.c_str(), S_IFIFO | 0600, 0) == 0 ? 0 : errno;
  }
  if (error == EEXIST) return refusal(current_.path, "comes twice");
  if (error != 0) return failure_at(error, "make", current_.path);
  return current_.type == EntryType::kFile ? ok() : set_owner(directory, name);
}

Result<void> TreeWriter::make_directory(const std::string& name) {
  COVE_TRY(const int parent, chain_.fd());
  if (::mkdirat(parent, name.c_str(), 0700) != 0) {
    if (errno == EEXIST) return refusal(current_.path, "comes twice");
    return failure_at(errno, "make directory", current_.path);
  }
  COVE_TRY(const int error, chain_.push(name));
  if (error != 0) return failure_at(error, "open directory", current_.path);
  levels_.push_back(current_.attributes);
  return {};
}

Result<void> TreeWriter::make_hard_link(const std::string& name) {
  const std::size_t slash = current_.target.rfind('/');
  const std::string above = slash == std::string::npos ? "" : current_.target.substr(0, slash);
  const Result<base::UniqueFd> from = chain_.open_below(above);
  COVE_TRY(const int directory, chain_.fd());
  if (!from && from.error().code() == ErrorCode::kQuotaExceeded) return from.error();
  const std::string target = last_name(current_.target);
  struct stat status{};
  if (!from || ::fstatat(**from, target.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
      S_ISDIR(status.st_mode)) {
    return refusal(current_.path, "is a hard link to something that no earlier entry is");
  }
  if (::linkat(**from, target.c_str(), directory, name.c_str(), 0) == 0) return {};
  if (errno == EEXIST) return refusal(current_.path, "comes twice");
  return failure_at(errno, "link", current_.path);
}

/// Owner, mode and time of what is not opened: a link or a FIFO, made by us a moment ago.
Result<void> TreeWriter::set_owner(int directory, const std::string& name) {
  const Attributes& attributes = current_.attributes;
  if (!ids_.single && ::fchownat(directory, name.c_str(), attributes.uid + ids_.offset,
                                 attributes.gid + ids_.offset, AT_SYMLINK_NOFOLLOW) != 0) {
    return failure_at(errno, "set the owner of", current_.path);
  }
  if (current_.type == EntryType::kFifo &&
      ::fchmodat(directory, name.c_str(), attributes.mode, 0) != 0) {
    return failure_at(errno, "set the mode of", current_.path);
  }
  const auto times = times_of(attributes);
  if (::utimensat(directory, name.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) != 0) {
    return failure_at(errno, "set the time of", current_.path);
  }
  return {};
}

Result<void> TreeWriter::set_attributes(int file, const Attributes& attributes,
                                        const std::string& path) const {
  if (!ids_.single &&
      ::fchown(file, attributes.uid + ids_.offset, attributes.gid + ids_.offset) != 0) {
    return failure_at(errno, "set the owner of", path);
  }
  for (const Xattr& xattr : attributes.xattrs) {
    if (::fsetxattr(file, xattr.name.c_str(), xattr.value.data(), xattr.value.size(), 0) != 0) {
      return failure_at(errno, "set an attribute of", path);
    }
  }
  // After the owner, whose change takes setuid and setgid away.
  if (::fchmod(file, attributes.mode) != 0) return failure_at(errno, "set the mode of", path);
  const auto times = times_of(attributes);
  if (::futimens(file, times.data()) != 0) return failure_at(errno, "set the time of", path);
  return {};
}

Result<void> TreeWriter::data(std::uint64_t offset, ByteView bytes) {
  COVE_TRY_VOID(counter_.data(offset, bytes));
  if (!current_.sparse) return write_at(offset, bytes);
  // Where a file had too many holes for the list, the smallest came as zeros: holes again.
  while (!bytes.empty()) {
    const std::size_t size =
        std::min(bytes.size(), kBlock - static_cast<std::size_t>(offset % kBlock));
    const ByteView block = bytes.first(size);
    if (!is_zero(block)) {
      COVE_TRY_VOID(write_at(offset, block));
    }
    offset += size;
    bytes = bytes.subspan(size);
  }
  return {};
}

Result<void> TreeWriter::write_at(std::uint64_t offset, ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(*file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failure_at(errno, "write", current_.path);
    offset += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> TreeWriter::entry_end() {
  if (current_.type != EntryType::kFile) return {};
  // Also where a hole ends the file.
  if (::ftruncate(*file_, static_cast<off_t>(current_.size)) != 0) {
    return failure_at(errno, "set the size of", current_.path);
  }
  COVE_TRY_VOID(set_attributes(*file_, current_.attributes, current_.path));
  file_.reset();
  return {};
}

Result<void> TreeWriter::leave() {
  COVE_TRY(const int directory, chain_.fd());
  COVE_TRY_VOID(set_attributes(directory, levels_.back(), chain_.path()));
  levels_.pop_back();
  chain_.pop();
  return {};
}

Result<void> TreeWriter::finish() {
  while (chain_.depth() > 0) {
    COVE_TRY_VOID(leave());
  }
  COVE_TRY(const int root, chain_.fd());
  COVE_TRY_VOID(set_attributes(root, levels_.back(), chain_.path()));
  return counter_.finish();
}

}  // namespace cove::snapshot
