#include "agent/exec/spill.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/next_entry.hpp"
#include "base/system/system_error.hpp"
#include "base/text/hex.hpp"

namespace cove::agent {
namespace {

/// More than an agent before us can have left; the rest is the sandbox's own business.
constexpr std::size_t kMostTakenOver = 4096;
constexpr std::size_t kIdDigits = 32;
constexpr const char* kDirectory = "/.cove/spill/";

/// `<32 hex>.out` or `.err`: what this made, and nothing else is ever deleted.
bool is_ours(std::string_view name) {
  return name.size() == kIdDigits + 4 && base::is_hex(name.substr(0, kIdDigits), kIdDigits) &&
         (name.ends_with(".out") || name.ends_with(".err"));
}

/// A directory below one, made where it is missing; never through a link.
Result<base::UniqueFd> enter(int parent, const char* name) {
  if (::mkdirat(parent, name, 0755) != 0 && errno != EEXIST) {
    return base::system_error(errno, std::string("make '") + name + "'");
  }
  base::UniqueFd fd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return base::system_error(errno, std::string("open '") + name + "'");
  return fd;
}

struct CloseDir {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

}  // namespace

SpillFile::SpillFile(SpillStore& store, std::string name, base::UniqueFd fd)
    : store_(&store), name_(std::move(name)), fd_(std::move(fd)) {}

SpillFile::~SpillFile() {
  if (store_ != nullptr) store_->closed(name_);
}

void SpillFile::append(std::string_view bytes) {
  if (!fd_) return;
  bytes = bytes.substr(0, static_cast<std::size_t>(store_->limits_.file_bytes - size_));
  if (bytes.empty() || !store_->make_room(bytes.size(), name_)) return;
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(*fd_, bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (written < 0 && errno == EINTR) continue;
    // A file with a hole in it would be a lie.
    if (written <= 0) return remove();
    size_ += static_cast<std::uint64_t>(written);
    store_->grew(name_, static_cast<std::uint64_t>(written));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string SpillFile::read(std::uint64_t offset, std::size_t limit) const {
  if (!fd_ || offset >= size_) return {};
  std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>(limit, size_ - offset)), '\0');
  const ssize_t got = ::pread(*fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

std::string SpillFile::path() const {
  return fd_ ? store_->home_ + kDirectory + name_ : std::string();
}

void SpillFile::remove() {
  fd_.reset();
  size_ = 0;
  if (store_ != nullptr) store_->remove(name_);
}

SpillStore::SpillStore(std::string home, SpillLimits limits)
    : home_(std::move(home)), limits_(limits) {}

SpillStore::~SpillStore() {
  for (const Entry& entry : entries_) {
    if (entry.open != nullptr) entry.open->store_ = nullptr;
  }
}

Result<std::unique_ptr<SpillFile>> SpillStore::create(const std::string& name) {
  COVE_TRY_VOID(open_directory());
  base::UniqueFd fd(::openat(*directory_, name.c_str(),
                             O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!fd && errno == ENOENT) {
    // The sandbox removed the directory: its files are gone with it.
    directory_.reset();
    COVE_TRY_VOID(open_directory());
    fd.reset(::openat(*directory_, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                      0644));
  }
  if (!fd) return base::system_error(errno, "make the spill file '" + name + "'");
  auto file = std::make_unique<SpillFile>(*this, name, std::move(fd));
  entries_.push_back({name, 0, file.get()});
  return file;
}

Result<void> SpillStore::open_directory() {
  if (directory_) return ok();
  const base::UniqueFd home(::open(home_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!home) return base::system_error(errno, "open '" + home_ + "'");
  COVE_TRY(const base::UniqueFd cove, enter(*home, ".cove"));
  COVE_TRY(directory_, enter(*cove, "spill"));
  take_over_old();
  return ok();
}

/// What agents before this one left counts too.
void SpillStore::take_over_old() {
  const int copy = ::openat(*directory_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, CloseDir> list(copy < 0 ? nullptr : ::fdopendir(copy));
  if (!list) return;
  std::vector<std::pair<timespec, Entry>> found;
  while (const dirent* entry = base::next_entry(list.get())) {
    struct stat facts{};
    const bool known = std::any_of(entries_.begin(), entries_.end(),
                                   [&](const Entry& held) { return held.name == entry->d_name; });
    if (known || !is_ours(entry->d_name) || found.size() == kMostTakenOver) continue;
    if (::fstatat(*directory_, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(facts.st_mode)) continue;
    found.push_back(
        {facts.st_mtim, {entry->d_name, static_cast<std::uint64_t>(facts.st_size), nullptr}});
  }
  std::sort(found.begin(), found.end(), [](const auto& left, const auto& right) {
    return std::pair(left.first.tv_sec, left.first.tv_nsec) >
           std::pair(right.first.tv_sec, right.first.tv_nsec);
  });
  for (auto& [time, entry] : found) {
    total_ += entry.bytes;
    entries_.push_front(std::move(entry));
  }
}

/// The oldest go, but not the one that is being written.
bool SpillStore::make_room(std::uint64_t bytes, const std::string& except) {
  for (auto at = entries_.begin(); total_ + bytes > limits_.total_bytes && at != entries_.end();) {
    const Entry entry = *at++;
    if (entry.name == except) continue;
    if (entry.open != nullptr) {
      entry.open->remove();
    } else {
      remove(entry.name);
    }
  }
  return total_ + bytes <= limits_.total_bytes;
}

void SpillStore::grew(const std::string& name, std::uint64_t bytes) {
  total_ += bytes;
  for (Entry& entry : entries_) {
    if (entry.name == name) entry.bytes += bytes;
  }
}

void SpillStore::closed(const std::string& name) {
  for (Entry& entry : entries_) {
    if (entry.name == name) entry.open = nullptr;
  }
}

void SpillStore::remove(const std::string& name) {
  ::unlinkat(*directory_, name.c_str(), 0);
  for (auto at = entries_.begin(); at != entries_.end(); ++at) {
    if (at->name != name) continue;
    total_ -= at->bytes;
    entries_.erase(at);
    return;
  }
}

}  // namespace cove::agent
