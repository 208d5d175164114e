#include "providers/local/volume/uid_ranges.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <iterator>
#include <optional>
#include <sstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/system_error.hpp"
#include "providers/local/root_powers.hpp"
#include "providers/local/small_files.hpp"

namespace cove::local {

using base::system_error;
using base::UniqueFd;

namespace {

/// The directory of ranges while its lock is held.
struct LockedRanges {
  UniqueFd directory;
  UniqueFd lock;
};

Error with_remedy(const Error& error, const std::string& path) {
  // No room, or no descriptors: that says it, and the directory is right.
  if (error.code() == ErrorCode::kQuotaExceeded) return error;
  return Error(ErrorCode::kProvider,
               "no host uid range can be given out: '" + path +
                   "' must be a directory that root can write, on a disk that outlives a reboot")
      .with_cause(error);
}

Result<LockedRanges> open_locked(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return with_remedy(system_error(errno, "make directory '" + path + "'"), path);
  }
  LockedRanges ranges;
  ranges.directory.reset(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!ranges.directory) return with_remedy(system_error(errno, "open '" + path + "'"), path);
  struct stat info{};
  if (::fstat(*ranges.directory, &info) != 0 || info.st_uid != ::geteuid() ||
      (info.st_mode & 022) != 0) {
    return Error(ErrorCode::kPermissionDenied, "'" + path + "' can be written by others");
  }
  ranges.lock.reset(
      ::openat(*ranges.directory, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!ranges.lock) return with_remedy(system_error(errno, "open the lock"), path);
  // Held for some file operations only, by root only: waiting is short.
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  while (::fcntl(*ranges.lock, F_OFD_SETLKW, &whole) != 0) {
    if (errno != EINTR) return with_remedy(system_error(errno, "take the lock"), path);
  }
  return ranges;
}

std::string text_of(const RangeHolder& holder) {
  return holder.state_name + "\n" + holder.volume + "\n" + holder.state_path + "\n";
}

/// The first two lines: a state directory may have moved since.
bool is_holder(const std::string& text, const RangeHolder& holder) {
  return text.starts_with(holder.state_name + "\n" + holder.volume + "\n");
}

/// The lines of a range's file.
std::optional<RangeHolder> parse_holder(const std::string& text) {
  std::istringstream lines(text);
  RangeHolder holder;
  if (!std::getline(lines, holder.state_name) || !std::getline(lines, holder.volume) ||
      !std::getline(lines, holder.state_path)) {
    return std::nullopt;
  }
  return holder;
}

/// True where the volume that holds a range is not where it was, or its state directory is not: it
/// was deleted by hand, or its creation never came to its end. A disk that is not mounted looks the
/// same, so this is asked only when no other range is free, and `confirm` tells the volume that
/// lost its range.
bool is_abandoned(const std::string& text) {
  // Written, but the machine crashed before it was synced: so its volume was never finished.
  if (text.empty()) return true;
  const auto holder = parse_holder(text);
  if (!holder) return false;
  const UniqueFd state(::open(holder->state_path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!state) return errno == ENOENT;
  const auto name = read_small_file(*state, "node");
  if (!name) return name.error().code() == ErrorCode::kNotFound;
  if (*name != holder->state_name) return true;
  struct stat info{};
  const auto is_gone = [&](const std::string& volume) {
    return ::fstatat(*state, ("volumes/" + volume).c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 &&
           errno == ENOENT;
  };
  std::string retired = holder->volume;
  const auto generation = retired.rfind('/');
  if (generation == std::string::npos) return false;
  retired.insert(generation + 1, kRetiredPrefix);
  return is_gone(holder->volume) && is_gone(retired);
}

Result<void> claim(int directory, UidRange range, const RangeHolder& holder) {
  return replace_file(directory, std::to_string(range.first), text_of(holder), Durable::kLater);
}

/// The first ids of the ranges that are given out, in order. Ranges are named by their first id, so
/// that a changed base never gives the same id to two.
std::vector<std::uint64_t> firsts_taken(const std::vector<std::string>& names) {
  std::vector<std::uint64_t> taken;
  for (const std::string& name : names) {
    std::uint32_t first = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), first);
    if (parsed.ec == std::errc() && parsed.ptr == name.data() + name.size()) taken.push_back(first);
  }
  std::sort(taken.begin(), taken.end());
  return taken;
}

bool overlaps(const std::vector<std::uint64_t>& taken, std::uint64_t first) {
  const auto next = std::upper_bound(taken.begin(), taken.end(), first);
  if (next != taken.end() && *next < first + UidRange::kCount) return true;
  return next != taken.begin() && first < *std::prev(next) + UidRange::kCount;
}

/// True where this process's user namespace has all ids of a range: a host that is root in a
/// container has some only.
bool exists_here(std::uint64_t first) {
  const auto text = read_small_file(AT_FDCWD, "/proc/self/uid_map");
  std::istringstream lines(text ? *text : "");
  lines.imbue(std::locale::classic());
  std::uint64_t inside = 0;
  std::uint64_t outside = 0;
  std::uint64_t count = 0;
  while (lines >> inside >> outside >> count) {
    if (inside <= first && first + UidRange::kCount <= inside + count) return true;
  }
  return false;
}

}  // namespace

UidRangesConfig UidRangesConfig::of(const std::string& directory, std::uint32_t base,
                                    std::uint32_t count) {
  UidRangesConfig config;
  if (!directory.empty()) config.directory = directory;
  if (base != 0) config.base = base;
  if (count != 0) config.count = count;
  return config;
}

UidRanges::UidRanges(UidRangesConfig config) : config_(std::move(config)) {}

Result<UidRange> UidRanges::allocate(const RangeHolder& holder) const {
  COVE_TRY_VOID(check_root_powers());
  COVE_TRY(const LockedRanges ranges, open_locked(config_.directory));
  COVE_TRY(const auto names, names_in(*ranges.directory));
  COVE_TRY(const UidRange range, choose(*ranges.directory, firsts_taken(names)));
  COVE_TRY_VOID(claim(*ranges.directory, range, holder));
  return range;
}

Result<std::vector<UniqueFd>> UidRanges::unsynced(UidRange range) const {
  UniqueFd directory(
      ::open(config_.directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory) return system_error(errno, "open '" + config_.directory + "'");
  std::vector<UniqueFd> places;
  COVE_TRY(UniqueFd file, open_to_sync(*directory, std::to_string(range.first)));
  places.push_back(std::move(file));
  places.push_back(std::move(directory));
  return places;
}

Result<std::optional<UidRange>> UidRanges::find(const RangeHolder& holder) const {
  COVE_TRY(const LockedRanges ranges, open_locked(config_.directory));
  COVE_TRY(const auto names, names_in(*ranges.directory));
  for (const std::uint64_t first : firsts_taken(names)) {
    const auto text = read_small_file(*ranges.directory, std::to_string(first));
    if (text && is_holder(*text, holder)) {
      return std::optional(UidRange{static_cast<std::uint32_t>(first)});
    }
  }
  return std::optional<UidRange>();
}

Result<UidRange> UidRanges::choose(int directory, const std::vector<std::uint64_t>& taken) const {
  const auto first_of = [this](std::uint64_t index) {
    return config_.base + index * UidRange::kCount;
  };
  if (!exists_here(first_of(0)) || !exists_here(first_of(config_.count - 1))) {
    return Error(ErrorCode::kProvider,
                 "the host uids from " + std::to_string(first_of(0)) +
                     " on do not exist in this user namespace: set provider.uid_base and "
                     "provider.uid_ranges to ids that /proc/self/uid_map has, or run as an "
                     "ordinary user");
  }
  for (std::uint64_t index = 0; index < config_.count; ++index) {
    if (!overlaps(taken, first_of(index))) {
      return UidRange{static_cast<std::uint32_t>(first_of(index))};
    }
  }
  for (const std::uint64_t first : taken) {
    if (first < first_of(0) || first >= first_of(config_.count) ||
        (first - first_of(0)) % UidRange::kCount != 0) {
      continue;
    }
    COVE_TRY(const std::string text, read_small_file(directory, std::to_string(first)));
    if (is_abandoned(text)) return UidRange{static_cast<std::uint32_t>(first)};
  }
  return Error(ErrorCode::kQuotaExceeded,
               "all " + std::to_string(config_.count) +
                   " host uid ranges are given out: delete volumes, or raise provider.uid_ranges");
}

Result<bool> UidRanges::confirm(UidRange range, const RangeHolder& holder) const {
  const std::string name = std::to_string(range.first);
  const UniqueFd directory(
      ::open(config_.directory.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (directory) {
    const auto text = read_small_file(*directory, name);
    if (text) return is_holder(*text, holder);
    if (text.error().code() != ErrorCode::kNotFound) return text.error();
  }
  COVE_TRY(const LockedRanges ranges, open_locked(config_.directory));
  COVE_TRY(const auto names, names_in(*ranges.directory));
  if (overlaps(firsts_taken(names), range.first)) {
    const auto text = read_small_file(*ranges.directory, name);
    return text && is_holder(*text, holder);
  }
  COVE_TRY_VOID(claim(*ranges.directory, range, holder));
  COVE_TRY(const auto places, unsynced(range));
  for (const UniqueFd& place : places) COVE_TRY_VOID(sync_fd(*place, "the uid ranges"));
  return true;
}

Result<void> UidRanges::release(UidRange range, const RangeHolder& holder) const {
  COVE_TRY(const LockedRanges ranges, open_locked(config_.directory));
  const std::string name = std::to_string(range.first);
  const auto text = read_small_file(*ranges.directory, name);
  if (!text || !is_holder(*text, holder)) return ok();
  if (::unlinkat(*ranges.directory, name.c_str(), 0) != 0 && errno != ENOENT) {
    return system_error(errno, "return the uid range " + name);
  }
  return ok();
}

}  // namespace cove::local
