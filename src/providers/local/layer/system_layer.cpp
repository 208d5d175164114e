#include "providers/local/layer/system_layer.hpp"

#include <cerrno>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/system_error.hpp"
#include "base/text/display_text.hpp"
#include "providers/local/layer/ownership.hpp"
#include "providers/local/layer/unmapped_entries.hpp"
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
                     "of its own: unpack it as this user");
  }
  return tree_system_base(*readable, policy.root_tree);
}

/// kUnsupported where files of the tree would be nobody's inside. Looked at where the layer is
/// made, once for a volume.
Result<void> check_owners(const SystemLayer& layer, int volume, const std::string& tree) {
  struct stat info{};
  if (layer.base.is_host || ::fstatat(volume, kSystemPart, &info, AT_SYMLINK_NOFOLLOW) == 0) {
    return ok();
  }
  const bool is_user = layer.subordinate.has_value();
  const auto is_mapped = [&](std::uint32_t uid, std::uint32_t gid) {
    if (!is_user) return uid < UidRange::kCount && gid < UidRange::kCount;
    const SubordinateIds& ids = *layer.subordinate;
    return (uid == ::geteuid() || uid - ids.first_uid < SubordinateIds::kCount) &&
           (gid == ::getegid() || gid - ids.first_gid < SubordinateIds::kCount);
  };
  // Root has a tree of an image: a file in it with an odd owner is no reason to refuse the tree.
  COVE_TRY(const auto found,
           is_user ? unmapped_entry(layer.base, is_mapped) : unmapped_top(layer.base, is_mapped));
  if (!found) return ok();
  const std::string remedy =
      is_user
          ? "unpack it as this user, or give it all of it: chown -R -h " +
                std::to_string(::geteuid()) + ":" + std::to_string(::getegid()) + " '" + tree + "'"
          : "unpack it as root, with the owners that it had (tar --numeric-owner)";
  return Error(ErrorCode::kUnsupported,
               base::quoted(found->path) + " of the root tree '" + tree + "' belongs to user " +
                   std::to_string(found->uid) + " and group " + std::to_string(found->gid) +
                   ", whom a writable system does not have: not even its root could change it; " +
                   remedy);
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
  COVE_TRY_VOID(check_owners(layer, *volume.directory, policy.root_tree));
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
