/// FileLocks: changes of one file happen one after the other.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include <sys/stat.h>

namespace cove::agent {

/// Locks of names in directories, shared out over a few mutexes: two names may share one. Held only
/// while a thread works, never while it waits for a host.
class FileLocks {
 public:
  using Lock = std::unique_lock<std::mutex>;

  /// Waits for `name` of the directory `parent`, and keeps others from it until it is let go.
  Lock hold(int parent, const std::string& name) { return Lock(mutexes_[slot(parent, name)]); }

  /// The same of two names, in an order that no two threads can wait for each other in.
  std::pair<Lock, Lock> hold_both(int parent, const std::string& name, int other_parent,
                                  const std::string& other_name) {
    std::size_t first = slot(parent, name);
    std::size_t second = slot(other_parent, other_name);
    if (second < first) std::swap(first, second);
    Lock outer(mutexes_[first]);
    if (first == second) return {std::move(outer), Lock()};
    return {std::move(outer), Lock(mutexes_[second])};
  }

 private:
  static constexpr std::size_t kSlots = 256;

  static std::size_t slot(int parent, const std::string& name) {
    struct stat facts{};
    // A directory that cannot be asked is as good a lock as any: what follows fails by itself.
    if (::fstat(parent, &facts) != 0) facts = {};
    const std::size_t place = std::hash<std::uint64_t>()(facts.st_ino ^ (facts.st_dev << 48U));
    return (place * 31 + std::hash<std::string>()(name)) % kSlots;
  }

  std::array<std::mutex, kSlots> mutexes_;
};

}  // namespace cove::agent
