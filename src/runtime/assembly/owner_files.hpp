/// Owner files: how the processes of one state directory see which of them are still there.
///
/// Each Cove keeps `<state_dir>/owners/<32 hex>` locked (flock) for as long as it lives; the kernel
/// lets go of the lock when the process ends, however it ends. Nobody ever waits for a lock here,
/// so there is no order of locks to keep: a file gets its name only after it is locked, and is
/// removed only by who could lock it.
#pragma once

#include <memory>
#include <string>

#include <cove/id_source.hpp>
#include <cove/lifecycle.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::runtime {

class OwnerFiles final : public OwnerRegistry {
 public:
  /// Makes this Cove's own file below `state_directory`, and removes those that the dead left.
  static Result<std::unique_ptr<OwnerFiles>> open(int state_directory, IdSource& ids);

  /// Removes the own file, except in a child of fork(), which must leave its parent's alone.
  ~OwnerFiles() override;
  OwnerFiles(const OwnerFiles&) = delete;
  OwnerFiles& operator=(const OwnerFiles&) = delete;

  OwnerId self() const override { return self_; }

  /// An owner of another node (another machine, or another state directory) is never certainly
  /// dead.
  bool certainly_dead(const OwnerId& owner) const override;

  /// Names this directory on this machine: 32 hex.
  const std::string& node() const noexcept { return node_; }

 private:
  OwnerFiles(base::UniqueFd directory, base::UniqueFd own, std::string node, std::string name);

  base::UniqueFd directory_;
  base::UniqueFd own_;
  std::string node_;
  std::string name_;
  OwnerId self_;
  int pid_;
};

}  // namespace cove::runtime
