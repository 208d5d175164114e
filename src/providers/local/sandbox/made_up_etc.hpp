/// The /etc that sandboxes see: made by Cove, with what programs need of the host's.
///
/// One directory below the state directory serves all sandboxes, bound read-only. It is brought up
/// to date in place when the host's files changed. A few directories of hundreds of links are bound
/// from the host instead of being copied.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::local {

class MadeUpEtc {
 public:
  /// `state`: descriptor of the state directory; borrowed.
  explicit MadeUpEtc(int state) : state_(state) {}

  /// The directories of the host's /etc to be bound over it: "ssl/certs".
  static std::vector<std::string> bound_directories();

  /// Brings the directory up to date and opens it. Cheap where nothing changed. Safe from any
  /// thread and between processes.
  Result<base::UniqueFd> refresh();

 private:
  int state_;
  std::mutex mutex_;
  std::string fingerprint_;  ///< of the host's files as they were last copied by this process
};

}  // namespace cove::local
