#include "providers/local/volume/volumes.hpp"

#include <cerrno>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/beneath.hpp"
#include "base/system/system_error.hpp"
#include "providers/local/small_files.hpp"
#include "providers/local/volume/tree_removal.hpp"

namespace cove::local {

using base::system_error;
using base::UniqueFd;

namespace {

std::string retired_name_of(const VolumeRef& volume) {
  return std::string(kRetiredPrefix) + volume.generation.str();
}

Error lost(const VolumeRef& volume, const std::string& why) {
  return Error(ErrorCode::kIntegrity, "volume '" + path_of(volume) + "' " + why)
      .with_context("hint",
                    "nothing was deleted: mount the disk or bring the directory back from a "
                    "backup, and try again; where it is lost for good, destroy the sandbox to "
                    "begin anew");
}

/// Opens a directory, or makes it and remembers that.
Result<UniqueFd> open_or_make(int parent, const std::string& name, bool& made) {
  Result<UniqueFd> found = open_directory(parent, name);
  if (found || found.error().code() != ErrorCode::kNotFound) return found;
  made = true;
  return make_directory(parent, name, 0700);
}

bool is_same_directory(int left, int right) {
  struct stat a{};
  struct stat b{};
  return ::fstat(left, &a) == 0 && ::fstat(right, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

Result<void> remove_file(int directory, const char* name) {
  if (::unlinkat(directory, name, 0) == 0 || errno == ENOENT) return ok();
  return system_error(errno, std::string("delete '") + name + "'");
}

/// None where it was not written: the volume was never finished, or is damaged.
Result<std::optional<VolumeMarker>> find_marker(int directory) {
  Result<VolumeMarker> marker = read_marker(directory);
  if (marker) return std::optional<VolumeMarker>(*std::move(marker));
  if (marker.error().code() != ErrorCode::kNotFound) return marker.error();
  return std::optional<VolumeMarker>();
}

/// True where something was kept in a volume, so it was once whole.
bool holds_something(int directory) {
  for (const char* part : {"workspace", "home"}) {
    const auto opened = open_directory(directory, part);
    if (!opened) {
      if (opened.error().code() == ErrorCode::kNotFound) continue;
      return true;
    }
    const auto names = names_in(**opened);
    if (!names || !names->empty()) return true;
  }
  return false;
}

bool has_system_part(int directory) {
  struct stat info{};
  return ::fstatat(directory, "system", &info, AT_SYMLINK_NOFOLLOW) == 0;
}

}  // namespace

Volumes::Volumes(const StateDirectory& state, std::optional<UidRanges> ranges, ForeignWork foreign)
    : state_(state), ranges_(std::move(ranges)), foreign_(std::move(foreign)) {}

RangeHolder Volumes::holder_of(const VolumeRef& volume) const {
  return {state_.node_file(), state_.path(), path_of(volume)};
}

Result<UniqueFd> Volumes::open_directory_of(const VolumeRef& volume) const {
  const std::string path = path_of(volume);
  base::BeneathResult opened = base::open_beneath(state_.volumes(), path.c_str(),
                                                  O_RDONLY | O_DIRECTORY, 0, RESOLVE_NO_SYMLINKS);
  if (!opened.fd) return system_error(opened.error_number, "open volume '" + path + "'");
  return std::move(opened.fd);
}

/// The directories of a volume that is being made.
struct Volumes::Places {
  UniqueFd deployment;
  UniqueFd sandbox;
  UniqueFd directory;
  bool made_deployment = false;
  bool made_sandbox = false;
  bool fresh = false;
};

Result<std::optional<NewVolume>> Volumes::create(const VolumeRef& volume) const {
  // A deletion beside this may take the sandbox's empty directory away between two steps.
  for (int attempt = 0;; ++attempt) {
    Result<std::optional<NewVolume>> created = create_once(volume);
    const bool vanished = !created && created.error().code() == ErrorCode::kNotFound;
    if (!vanished || attempt == 8) return created;
  }
}

Result<std::optional<NewVolume>> Volumes::create_once(const VolumeRef& volume) const {
  Places places;
  COVE_TRY(places.deployment,
           open_or_make(state_.volumes(), volume.deployment.str(), places.made_deployment));
  COVE_TRY(places.sandbox,
           open_or_make(*places.deployment, volume.sandbox.str(), places.made_sandbox));
  COVE_TRY(places.directory, open_or_make(*places.sandbox, volume.generation.str(), places.fresh));
  NewVolume made;
  COVE_TRY(made.operation, VolumeLock::open(*places.directory, VolumeLock::Missing::kCreate));
  COVE_TRY(const bool alone, made.operation.try_take(LockRole::kOperation));
  if (!alone) return std::optional<NewVolume>();

  COVE_TRY(const auto finished, find_marker(*places.directory));
  if (finished && finished->volume != volume) {
    return lost(volume, "carries another volume's marker");
  }
  VolumeMarker marker{volume, std::nullopt};
  if (finished) {
    marker = *finished;  // who wrote it may have died before it was synced
  } else {
    COVE_TRY(marker, make_marker(volume, places.fresh));
    COVE_TRY_VOID(fill(*places.directory, marker));
    COVE_TRY_VOID(replace_file(*places.directory, kMarkerName, to_json(marker), Durable::kLater));
  }
  COVE_TRY(made.unsynced, unsynced(std::move(places), marker));
  return std::optional<NewVolume>(std::move(made));
}

Result<std::vector<UniqueFd>> Volumes::unsynced(Places places, const VolumeMarker& marker) const {
  std::vector<UniqueFd> list;
  if (marker.range) {
    COVE_TRY(list, ranges_->unsynced(*marker.range));
  }
  COVE_TRY(UniqueFd file, open_to_sync(*places.directory, kMarkerName));
  list.push_back(std::move(file));
  // Where it is not fresh, who made the directories above it may have died before they were synced.
  if (places.made_deployment || !places.fresh) {
    COVE_TRY(UniqueFd all, open_directory(state_.volumes(), "."));
    list.push_back(std::move(all));
  }
  if (places.made_sandbox || !places.fresh) list.push_back(std::move(places.deployment));
  // What a directory holds is durable with the directory; the two parts of the volume are empty.
  list.push_back(std::move(places.directory));
  list.push_back(std::move(places.sandbox));
  return list;
}

/// The range of a try that died is found again; a directory that was just made has none.
Result<VolumeMarker> Volumes::make_marker(const VolumeRef& volume, bool fresh) const {
  VolumeMarker marker{volume, std::nullopt};
  if (!ranges_) return marker;
  const RangeHolder holder = holder_of(volume);
  if (!fresh) {
    COVE_TRY(marker.range, ranges_->find(holder));
  }
  if (!marker.range) {
    COVE_TRY(marker.range, ranges_->allocate(holder));
  }
  return marker;
}

Result<void> Volumes::fill(int directory, const VolumeMarker& marker) const {
  for (const char* name : {"workspace", "home"}) {
    COVE_TRY(const UniqueFd part, make_directory(directory, name, 0755));
    if (marker.range) {
      const std::uint32_t owner = marker.range->first + kSandboxUid;
      if (::fchown(*part, owner, owner) != 0) {
        return system_error(errno, std::string("give '") + name + "' to the sandbox's user");
      }
    }
  }
  return ok();
}

Result<OpenedVolume> Volumes::open(const VolumeRef& volume) const {
  Result<UniqueFd> directory = open_directory_of(volume);
  if (!directory) {
    if (directory.error().code() != ErrorCode::kNotFound) return directory.error();
    return lost(volume, "is missing from '" + state_.path() + "/volumes'");
  }
  COVE_TRY(auto marker, find_marker(**directory));
  if (!marker) return lost(volume, "has no marker");
  if (marker->volume != volume) return lost(volume, "carries another volume's marker");
  if (marker->range.has_value() != ranges_.has_value()) {
    return lost(volume, ranges_ ? "was made by a host that was not root"
                                : "was made by a host that was root");
  }
  if (ranges_) {
    COVE_TRY(const bool ours, ranges_->confirm(*marker->range, holder_of(volume)));
    if (!ours) return lost(volume, "has a host uid range that now belongs to another volume");
  }
  return OpenedVolume{*std::move(directory), *std::move(marker)};
}

std::optional<MarkerIdentity> Volumes::marker_identity(const VolumeRef& volume) const {
  struct stat info{};
  const std::string path = path_of(volume) + "/" + kMarkerName;
  if (::fstatat(state_.volumes(), path.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return std::nullopt;
  }
  return MarkerIdentity{info.st_dev, info.st_ino,
                        info.st_ctim.tv_sec * 1'000'000'000 + info.st_ctim.tv_nsec};
}

Result<std::optional<VolumeHold>> Volumes::try_hold(const VolumeRef& volume) const {
  VolumeHold hold;
  COVE_TRY(hold.directory, open_directory_of(volume));
  COVE_TRY(hold.operation, VolumeLock::open(*hold.directory, VolumeLock::Missing::kCreate));
  COVE_TRY(const bool alone, hold.operation.try_take(LockRole::kOperation));
  if (!alone) return std::optional<VolumeHold>();
  // Who had the lock before may have deleted what was opened above.
  COVE_TRY(const UniqueFd now, open_directory_of(volume));
  if (!is_same_directory(*hold.directory, *now)) return std::optional<VolumeHold>();
  return std::optional<VolumeHold>(std::move(hold));
}

Result<VolumeLock> Volumes::open_lock(const VolumeRef& volume) const {
  COVE_TRY(const UniqueFd directory, open_directory_of(volume));
  return VolumeLock::open(*directory);
}

Result<Step> Volumes::remove(const VolumeRef& volume) const {
  const std::string sandbox_path = volume.deployment.str() + "/" + volume.sandbox.str();
  base::BeneathResult sandbox = base::open_beneath(state_.volumes(), sandbox_path.c_str(),
                                                   O_RDONLY | O_DIRECTORY, 0, RESOLVE_NO_SYMLINKS);
  if (!sandbox.fd) {
    if (sandbox.error_number == ENOENT) return Step::kDone;
    return system_error(sandbox.error_number, "open '" + sandbox_path + "'");
  }
  COVE_TRY(const Step retired, retire(*sandbox.fd, volume));
  if (retired == Step::kBusy) return Step::kBusy;
  COVE_TRY_VOID(finish_removal(*sandbox.fd, volume));
  // Both stay where something else is in them.
  ::unlinkat(state_.volumes(), sandbox_path.c_str(), AT_REMOVEDIR);
  ::unlinkat(state_.volumes(), volume.deployment.str().c_str(), AT_REMOVEDIR);
  return Step::kDone;
}

/// Takes the volume's name away, durably: from here on nobody can start or open it.
Result<Step> Volumes::retire(int sandbox_directory, const VolumeRef& volume) const {
  const auto held = try_hold(volume);
  if (!held && held.error().code() == ErrorCode::kNotFound) return Step::kDone;
  if (!held) return held.error();
  if (!*held) return Step::kBusy;
  const VolumeHold& hold = **held;
  for (const LockRole role : {LockRole::kInstance, LockRole::kOffline}) {
    COVE_TRY(const bool used, hold.operation.is_held_elsewhere(role));
    if (!used) continue;
    return Error(ErrorCode::kFailedPrecondition,
                 "volume '" + path_of(volume) + "' is not deleted: " +
                     (role == LockRole::kInstance ? "an instance runs on it" : "it is open"));
  }
  COVE_TRY(const auto marker, find_marker(*hold.directory));
  if (marker && marker->volume != volume) {
    return lost(volume, "carries another volume's marker and is not deleted");
  }
  if (!marker && holds_something(*hold.directory)) {
    return lost(volume, "has no marker and is not deleted");
  }
  const std::string name = volume.generation.str();
  if (::renameat2(sandbox_directory, name.c_str(), sandbox_directory,
                  retired_name_of(volume).c_str(), RENAME_NOREPLACE) != 0) {
    return system_error(errno, "retire volume '" + path_of(volume) + "'");
  }
  COVE_TRY_VOID(sync_fd(sandbox_directory, "a volume's directory"));
  return Step::kDone;
}

Result<void> Volumes::take_back(const OpenedVolume& volume) const {
  if (ranges_ || !foreign_.take_back || !has_system_part(*volume.directory)) return ok();
  return foreign_.take_back(*volume.directory);
}

/// Where the host is an ordinary user the sandbox's root may have given files to ids that this user
/// may not touch. The system part goes last: it tells that there may be such files.
Result<void> Volumes::remove_parts(int directory) const {
  if (!ranges_ && foreign_.remove_parts && has_system_part(directory)) {
    COVE_TRY_VOID(foreign_.remove_parts(directory));
  }
  for (const char* part : {"workspace", "home", "system.new", "system"}) {
    COVE_TRY_VOID(remove_tree(directory, part));
  }
  return ok();
}

/// Deletes a retired volume. The marker goes last but one: it says which uid range to return.
Result<void> Volumes::finish_removal(int sandbox_directory, const VolumeRef& volume) const {
  const std::string name = retired_name_of(volume);
  const Result<UniqueFd> directory = open_directory(sandbox_directory, name);
  if (!directory) {
    if (directory.error().code() == ErrorCode::kNotFound) return ok();
    return directory.error();
  }
  COVE_TRY_VOID(remove_parts(**directory));
  COVE_TRY_VOID(remove_file(**directory, "lock"));
  if (ranges_) {
    const RangeHolder holder = holder_of(volume);
    COVE_TRY(const auto marker, find_marker(**directory));
    std::optional<UidRange> range;
    if (marker) range = marker->range;
    if (!range) {
      COVE_TRY(range, ranges_->find(holder));
    }
    if (range) COVE_TRY_VOID(ranges_->release(*range, holder));
  }
  COVE_TRY_VOID(remove_file(**directory, kMarkerName));
  return remove_tree(sandbox_directory, name);
}

Result<std::vector<DeploymentId>> Volumes::deployments() const {
  COVE_TRY(const auto names, names_in(state_.volumes()));
  return std::vector<DeploymentId>(names.begin(), names.end());
}

Result<std::vector<VolumeRef>> Volumes::list(const DeploymentId& deployment) const {
  std::vector<VolumeRef> volumes;
  const Result<UniqueFd> directory = open_directory(state_.volumes(), deployment.str());
  if (!directory) {
    if (directory.error().code() == ErrorCode::kNotFound) return volumes;
    return directory.error();
  }
  COVE_TRY(const auto sandboxes, names_in(**directory));
  for (const std::string& sandbox : sandboxes) {
    const Result<UniqueFd> inside = open_directory(**directory, sandbox);
    if (!inside) continue;  // deleted meanwhile, or no directory and so none of ours
    COVE_TRY(const auto generations, names_in(**inside));
    for (const std::string& name : generations) {
      const std::string generation =
          name.starts_with(kRetiredPrefix) ? name.substr(kRetiredPrefix.size()) : name;
      const VolumeRef volume{deployment, SandboxId(sandbox), Generation(generation)};
      if (check_names(volume)) volumes.push_back(volume);
    }
  }
  return volumes;
}

Error part_error(int error_number, const std::string& part, const std::string& volume) {
  const bool is_none = error_number == ENOENT || error_number == ENOTDIR || error_number == ELOOP;
  if (is_none) return Error(ErrorCode::kIntegrity, volume + " has no '" + part + "'");
  return system_error(error_number, "open '" + part + "' of " + volume);
}

}  // namespace cove::local
