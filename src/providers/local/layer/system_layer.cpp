#include "providers/local/layer/system_layer.hpp"

#include <cerrno>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/system_error.hpp"
#include "providers/local/layer/ownership.hpp"
#include "providers/local/small_files.hpp"

namespace cove::local {

using base::system_error;
using base::UniqueFd;

namespace {

/// On a volume: its files were root's last.
constexpr const char* kRootOwned = "root-owned";

Result<SystemBase> base_of(const SandboxPolicy& policy, bool is_user) {
  if (policy.root_tree.empty()) {
    if (!is_user) return host_system_base();
    return Error(
        ErrorCode::kUnsupported,
        "a writable system over the host's own takes a host that is root; an ordinary user "
        "needs a root file system tree of its own: make one (debootstrap, or 'docker "
        "export' unpacked) and name it in policy.root_tree");
  }
  const UniqueFd tree(::open(policy.root_tree.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!tree) {
    return Error(ErrorCode::kInvalidArgument,
                 "the root tree '" + policy.root_tree + "' cannot be opened")
        .with_cause(system_error(errno, "open '" + policy.root_tree + "'"));
  }
  COVE_TRY(const UniqueFd readable, open_directory(*tree, "."));
  struct stat info{};
  if (is_user && (::fstat(*readable, &info) != 0 || info.st_uid != ::geteuid())) {
    return Error(ErrorCode::kUnsupported,
                 "the root tree '" + policy.root_tree +
                     "' belongs to another user: with a writable system an ordinary user needs one "
                     "of its own (unpack it as this user)");
  }
  return tree_system_base(*readable, policy.root_tree);
}

}  // namespace

Result<SystemLayer> SystemLayers::open(const OpenedVolume& volume, const SandboxPolicy& policy,
                                       int made_up_etc) {
  SystemLayer layer;
  const auto& range = volume.marker.range;
  COVE_TRY(layer.base, base_of(policy, !range));
  if (!range) {
    COVE_TRY(layer.subordinate, subordinate_ids());
  }
  COVE_TRY(layer.part, parts_.open(*volume.directory, layer.base, made_up_etc, range));
  return layer;
}

Result<void> settle_owner(const OpenedVolume& volume, bool is_root) {
  if (!volume.marker.range) return ok();
  struct stat info{};
  const bool was_root = ::fstatat(*volume.directory, kRootOwned, &info, AT_SYMLINK_NOFOLLOW) == 0;
  if (was_root == is_root) return ok();
  const std::uint32_t root = volume.marker.range->first;
  const std::uint32_t user = root + kSandboxUid;
  for (const char* part : {"workspace", "home"}) {
    COVE_TRY(const UniqueFd directory, open_directory(*volume.directory, part));
    COVE_TRY_VOID(change_owner(*directory, is_root ? user : root, is_root ? root : user));
  }
  if (is_root) return replace_file(*volume.directory, kRootOwned, "", Durable::kNo);
  if (::unlinkat(*volume.directory, kRootOwned, 0) == 0) return ok();
  return system_error(errno, "note the owner of a volume's files");
}

}  // namespace cove::local
