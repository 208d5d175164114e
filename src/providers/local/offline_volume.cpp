#include "providers/local/offline_volume.hpp"

#include <cerrno>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/system_error.hpp"

namespace cove::local {

using base::system_error;
using base::UniqueFd;

namespace {

class LocalOfflineVolume final : public OfflineVolume {
 public:
  LocalOfflineVolume(const OfflineTools& tools, UniqueFd workspace, UniqueFd home, IdMapping ids,
                     VolumeLock lock)
      : executor_(tools.executor),
        scheduler_(tools.scheduler),
        workspace_(std::move(workspace)),
        home_(std::move(home)),
        ids_(ids),
        lock_(std::move(lock)) {}

  int workspace() const override { return *workspace_; }
  int home() const override { return *home_; }
  IdMapping ids() const override { return ids_; }

  Task<Result<void>> sync(const CallContext& /*call*/) override {
    return base::offload(executor_, scheduler_, [this]() -> Result<void> {
      if (::syncfs(*workspace_) != 0) return system_error(errno, "sync a volume");
      return ok();
    });
  }

 private:
  base::BlockingExecutor& executor_;
  Scheduler& scheduler_;
  UniqueFd workspace_;
  UniqueFd home_;
  IdMapping ids_;
  VolumeLock lock_;
};

/// Who is inside may take its own permissions from the part's root; where the host is an ordinary
/// user it would then be locked out.
Result<UniqueFd> open_part(int volume, const char* part, const std::string& whose) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  UniqueFd fd(::openat(volume, part, kFlags));
  if (fd) return fd;
  struct stat info{};
  if (errno == EACCES && ::fstatat(volume, part, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISDIR(info.st_mode) && ::fchmodat(volume, part, (info.st_mode & 07777) | 0700, 0) == 0) {
    fd.reset(::openat(volume, part, kFlags));
    if (fd) return fd;
  }
  return part_error(errno, part, whose);
}

}  // namespace

Result<std::unique_ptr<OfflineVolume>> try_open_offline(const OfflineTools& tools,
                                                        const VolumeRef& volume) {
  COVE_TRY(const OpenedVolume opened, tools.volumes.open(volume));
  const auto hold = tools.volumes.try_hold(volume);
  if (!hold && hold.error().code() != ErrorCode::kNotFound) return hold.error();
  if (!hold || !*hold) return std::unique_ptr<OfflineVolume>();
  const std::string name = "volume '" + path_of(volume) + "'";
  const auto refuse = [&](const char* why) {
    return Error(ErrorCode::kFailedPrecondition, name + " cannot be opened: " + why);
  };
  COVE_TRY(const bool runs, (*hold)->operation.is_held_elsewhere(LockRole::kInstance));
  if (runs) return refuse("an instance runs on it");
  COVE_TRY(VolumeLock lock, VolumeLock::open(*opened.directory));
  COVE_TRY(const bool taken, lock.try_take(LockRole::kOffline));
  if (!taken) return refuse("it is open already");
  COVE_TRY_VOID(tools.volumes.take_back(opened));
  COVE_TRY(UniqueFd workspace, open_part(*opened.directory, "workspace", name));
  COVE_TRY(UniqueFd home, open_part(*opened.directory, "home", name));
  std::unique_ptr<OfflineVolume> offline = std::make_unique<LocalOfflineVolume>(
      tools, std::move(workspace), std::move(home), id_mapping_of(opened.marker), std::move(lock));
  return offline;
}

}  // namespace cove::local
