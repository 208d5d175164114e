/// Volumes: the disks of sandboxes, as directories.
///
///     volumes/<deployment>/<sandbox>/<generation>/marker      whose it is; written last
///     volumes/<deployment>/<sandbox>/<generation>/lock        see volume_lock.hpp
///     volumes/<deployment>/<sandbox>/<generation>/workspace/  bound to /workspace
///     volumes/<deployment>/<sandbox>/<generation>/home/       bound to /home/sandbox
///     volumes/<deployment>/<sandbox>/<generation>/system/     a system of its own: system_part.hpp
///
/// The sandbox sees the last three only. All calls block on the disk; they are safe from any thread
/// and between processes.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <cove/provider.hpp>
#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"
#include "providers/local/state_directory.hpp"
#include "providers/local/volume/uid_ranges.hpp"
#include "providers/local/volume/volume_lock.hpp"
#include "providers/local/volume/volume_marker.hpp"

namespace cove::local {

/// A volume whose marker is right.
struct OpenedVolume {
  base::UniqueFd directory;
  VolumeMarker marker;
};

/// A volume's directory while this process alone works on it.
struct VolumeHold {
  base::UniqueFd directory;
  VolumeLock operation;
};

/// Tells whether the marker at a volume's name is still the file it was.
struct MarkerIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t changed_ns = 0;

  friend bool operator==(const MarkerIdentity&, const MarkerIdentity&) = default;
};

/// Whether a step was done, or somebody else is at work on the volume and it must be tried again.
enum class Step : bool { kBusy, kDone };

/// A volume that was made but is not durable yet.
struct NewVolume {
  VolumeLock operation;                  ///< held until this goes
  std::vector<base::UniqueFd> unsynced;  ///< what is to be synced, in any order
};

/// What an ordinary user cannot do by itself on a volume with a system layer, whose files may
/// belong to its subordinate ids: see foreign_files.hpp. Each takes the volume's directory, and
/// blocks.
struct ForeignWork {
  std::function<Result<void>(int volume)> remove_parts;
  std::function<Result<void>(int volume)> take_back;
};

class Volumes {
 public:
  /// `ranges`: none where the host is an ordinary user. `state` outlives this.
  Volumes(const StateDirectory& state, std::optional<UidRanges> ranges, ForeignWork foreign = {});

  /// Makes a volume; see Provider::create_volume. It is durable, and may be told of, once all that
  /// is unsynced is. None: busy.
  Result<std::optional<NewVolume>> create(const VolumeRef& volume) const;

  /// Opens a volume and checks its marker, and that its uid range is its own. kIntegrity.
  Result<OpenedVolume> open(const VolumeRef& volume) const;

  /// One look without reading; none where there is no marker.
  std::optional<MarkerIdentity> marker_identity(const VolumeRef& volume) const;

  /// Takes the operation lock of whatever directory has the volume's name. kNotFound; none: busy.
  Result<std::optional<VolumeHold>> try_hold(const VolumeRef& volume) const;

  /// Opens the lock of whatever directory has the volume's name, to ask for roles. kNotFound.
  Result<VolumeLock> open_lock(const VolumeRef& volume) const;

  /// Makes all of workspace and home readable to the host. REQUIRES: nothing runs on the volume.
  Result<void> take_back(const OpenedVolume& volume) const;

  /// See Provider::delete_volume.
  Result<Step> remove(const VolumeRef& volume) const;

  /// The deployments that have or had volumes here.
  Result<std::vector<DeploymentId>> deployments() const;

  /// What exists of a deployment, half made and half deleted ones too.
  Result<std::vector<VolumeRef>> list(const DeploymentId& deployment) const;

 private:
  struct Places;

  Result<base::UniqueFd> open_directory_of(const VolumeRef& volume) const;
  Result<std::optional<NewVolume>> create_once(const VolumeRef& volume) const;
  Result<VolumeMarker> make_marker(const VolumeRef& volume, bool fresh) const;
  Result<void> fill(int directory, const VolumeMarker& marker) const;
  Result<std::vector<base::UniqueFd>> unsynced(Places places, const VolumeMarker& marker) const;
  Result<Step> retire(int sandbox_directory, const VolumeRef& volume) const;
  Result<void> remove_parts(int directory) const;
  Result<void> finish_removal(int sandbox_directory, const VolumeRef& volume) const;
  RangeHolder holder_of(const VolumeRef& volume) const;

  const StateDirectory& state_;
  std::optional<UidRanges> ranges_;
  ForeignWork foreign_;
};

/// Why a part (`workspace`, `home`) of the volume that the text names could not be opened: the
/// errno of who tried. kIntegrity where there is no such directory.
Error part_error(int error_number, const std::string& part, const std::string& volume);

/// Inside, commands run and files belong to this user and group.
inline constexpr std::uint32_t kSandboxUid = 1000;

}  // namespace cove::local
