/// The writable system layer: one overlay for each system directory, made before bubblewrap starts.
///
/// Its upper layer is a directory of the volume. Its lower layer is a copy of one mount, without
/// what is mounted below it, in which the host's ids are the sandbox's: so the directory is the
/// sandbox's root's, who may change and replace what is in it.
///
/// *Guarded.* That would also let the sandbox's root read what the world cannot read on the host.
/// So between the two lies another overlay, read-only, whose maker has no right in any file: it is
/// uid 0, which is the owner of nothing in a mount that maps ids, and has no capability but the one
/// to mount. An overlay asks twice, once for who calls and once for who made it; so what others may
/// not read is read by nobody through it, whoever calls, and whenever the host makes such a file.
#pragma once

namespace cove::local {

class Layers {
 public:
  /// A directory with `<name>/upper` and `<name>/work` for each layer.
  void set_parts(int directory) { parts_ = directory; }

  /// `lower`: the directory to be overlaid; `name` lives on.
  void add(int lower, bool is_guarded, const char* name);

  /// Copies the mounts that the lowers are in, while this is still the mount namespace they belong
  /// to.
  void copy_lowers();

  /// Mounts each on kStagePath/<name>, its lower seen with the ids of a user namespace.
  /// REQUIRES: copy_lowers; the stage is mounted; root.
  void mount_on_stage(int user_namespace);

  /// Mounts each on `<name>/merged` of the parts, as root of a user namespace in which the lower's
  /// owners are what they should be. REQUIRES: a mount namespace of that user namespace's own.
  void mount_in_place();

 private:
  static constexpr int kMost = 40;
  struct Layer {
    int lower = -1;  ///< the directory, or the copy of its mount
    bool is_guarded = false;
    const char* name = nullptr;
  };

  static void put_lower(int stage, const Layer& layer, int user_namespace);

  int parts_ = -1;
  Layer layers_[kMost];
  int count_ = 0;
};

}  // namespace cove::local
