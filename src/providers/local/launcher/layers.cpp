#include "providers/local/launcher/layers.hpp"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <initializer_list>

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "providers/local/launcher/failing.hpp"
#include "providers/local/launcher/mount_calls.hpp"
#include "providers/local/launcher/plan.hpp"

namespace cove::local {

namespace {

constexpr unsigned long kFlags = MS_NOSUID | MS_NODEV;
constexpr std::uint64_t bit(int capability) { return std::uint64_t{1} << capability; }

// What the maker of an overlay may is what the kernel may do in its layers for whoever uses it.
constexpr std::uint64_t kToMountOnly = bit(CAP_SYS_ADMIN);
constexpr std::uint64_t kToWriteUppers = kToMountOnly | bit(CAP_CHOWN) | bit(CAP_DAC_OVERRIDE) |
                                         bit(CAP_DAC_READ_SEARCH) | bit(CAP_FOWNER) |
                                         bit(CAP_FSETID) | bit(CAP_SETFCAP);

/// Has only some of its capabilities for as long as this lives.
class Reduced {
 public:
  explicit Reduced(std::uint64_t kept) {
    require(::syscall(SYS_capget, &header_, before_) == 0, "read the capabilities");
    __user_cap_data_struct reduced[2] = {before_[0], before_[1]};
    reduced[0].effective &= static_cast<std::uint32_t>(kept);
    reduced[1].effective &= static_cast<std::uint32_t>(kept >> 32U);
    require(::syscall(SYS_capset, &header_, reduced) == 0, "set capabilities aside");
  }
  ~Reduced() {
    require(::syscall(SYS_capset, &header_, before_) == 0, "take the capabilities back");
  }
  Reduced(const Reduced&) = delete;
  Reduced& operator=(const Reduced&) = delete;

 private:
  __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct before_[2]{};
};

int open_directory(int parent, const char* name) {
  const int fd = ::openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  require(fd >= 0, "open a part of the system layer");
  return fd;
}

/// The same directory as the mount namespace of now has it.
int opened_again(int directory) {
  char link[32];
  char path[4096];
  write_text(link, sizeof link, "/proc/self/fd/%d", directory);
  const ssize_t length = ::readlink(link, path, sizeof path - 1);
  require(length > 0, "find a directory of the system layer");
  path[length] = '\0';
  const int again = ::open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat before{};
  struct stat now{};
  require(again >= 0 && ::fstat(directory, &before) == 0 && ::fstat(again, &now) == 0, path);
  errno = ESTALE;
  require(before.st_dev == now.st_dev && before.st_ino == now.st_ino, path);
  ::close(directory);
  return again;
}

/// Copies the mount that a directory is in, without what is mounted below it.
int copied(int directory) {
  // SAFETY: the empty path means the descriptor itself; the result is a new descriptor.
  const long copy =
      ::syscall(SYS_open_tree, directory, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  require(copy >= 0, "copy the mount of a system directory");
  ::close(directory);
  return static_cast<int>(copy);
}

void put(int tree, int stage, const char* name) {
  // SAFETY: both paths live through the call; no memory is written.
  require(::syscall(SYS_move_mount, tree, "", stage, name, MOVE_MOUNT_F_EMPTY_PATH) == 0,
          "bind a system directory to the stage");
  ::close(tree);
}

void put_away(const char* path) {
  require(::umount2(path, MNT_DETACH) == 0, "put a system directory away");
}

void make_place(int stage, const char* name) {
  require(::mkdirat(stage, name, 0755) == 0 || errno == EEXIST, "make a directory on the stage");
}

/// Descriptors name the layers: no path of the host's has to be written into the options.
void mount_overlay(const char* target, const char* lower, int part, const char* options) {
  char text[256];
  write_text(text, sizeof text,
             "lowerdir=%s,upperdir=/proc/self/fd/%d/upper,workdir=/proc/self/fd/%d/work,%s", lower,
             part, part, options);
  require(::mount("cove", target, "overlay", kFlags, text) == 0,
          "mount a directory of the system layer");
}

}  // namespace

void Layers::add(int lower, bool is_guarded, const char* name) {
  errno = E2BIG;
  require(count_ < kMost, "overlay so many directories");
  layers_[count_++] = {lower, is_guarded, name};
}

void Layers::copy_lowers() {
  if (count_ == 0) return;
  parts_ = copied(parts_);
  for (int i = 0; i < count_; ++i) layers_[i].lower = copied(layers_[i].lower);
}

void Layers::mount_on_stage(int user_namespace) {
  if (count_ == 0) return;
  const int stage = ::open(kStagePath, O_PATH | O_DIRECTORY | O_CLOEXEC);
  require(stage >= 0, "open the stage");
  for (const char* name : {".parts", ".lower", ".empty", ".guard"}) make_place(stage, name);
  put(parts_, stage, ".parts");
  parts_ = open_directory(stage, ".parts");
  for (int i = 0; i < count_; ++i) {
    const Layer& layer = layers_[i];
    put_lower(stage, layer, user_namespace);
    make_place(stage, layer.name);
    const int part = open_directory(parts_, layer.name);
    char target[128];
    write_text(target, sizeof target, "%s/%s", kStagePath, layer.name);
    {
      const Reduced reduced(kToWriteUppers);
      mount_overlay(target, layer.is_guarded ? "/tmp/.guard" : "/tmp/.lower", part,
                    "redirect_dir=on,metacopy=off,index=off");
    }
    ::close(part);
    // The overlay has copies of its own; nothing that is not guarded stays in sight.
    if (layer.is_guarded) put_away("/tmp/.guard");
    put_away("/tmp/.lower");
  }
  put_away("/tmp/.parts");
  ::close(stage);
  ::close(parts_);
}

/// The lower as the overlay is to see it, on /tmp/.lower and, guarded, on /tmp/.guard.
void Layers::put_lower(int stage, const Layer& layer, int user_namespace) {
  mount_attr mapped{};
  mapped.attr_set = MOUNT_ATTR_IDMAP | MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  mapped.userns_fd = static_cast<std::uint64_t>(user_namespace);
  // SAFETY: the attributes live through the call; the tree is this process's alone.
  require(::syscall(SYS_mount_setattr, layer.lower, "", AT_EMPTY_PATH, &mapped, sizeof mapped) == 0,
          "map the ids of a system directory");
  put(layer.lower, stage, ".lower");
  if (!layer.is_guarded) return;
  // An overlay without an upper layer takes two lower ones.
  const Reduced reduced(kToMountOnly);
  require(::mount("cove-guard", "/tmp/.guard", "overlay", kFlags | MS_RDONLY,
                  "lowerdir=/tmp/.lower:/tmp/.empty,metacopy=off") == 0,
          "guard a system directory");
}

void Layers::mount_in_place() {
  if (count_ == 0) return;
  parts_ = opened_again(parts_);
  for (int i = 0; i < count_; ++i) {
    const int lower = opened_again(layers_[i].lower);
    const int part = open_directory(parts_, layers_[i].name);
    const int merged = open_directory(part, "merged");
    char target[32];
    char lower_path[32];
    write_text(target, sizeof target, "/proc/self/fd/%d", merged);
    write_text(lower_path, sizeof lower_path, "/proc/self/fd/%d", lower);
    mount_overlay(target, lower_path, part, "userxattr");
    ::close(merged);
    ::close(part);
    ::close(lower);
  }
  ::close(parts_);
}

}  // namespace cove::local
