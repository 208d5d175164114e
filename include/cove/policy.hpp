/// What a sandbox may do and use. The default is the strictest; each weakening is a grant, a type
/// of its own in grants/, so that a reader can find every one of them by its include.
///
///     SandboxPolicy policy;
///     policy.limits.memory_bytes = 2ULL << 30;
///     policy.allow(grants::HostNetwork{});
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace cove {

namespace grants {
struct HostNetwork;
struct WritableSystem;
struct ProxyNetwork;
}  // namespace grants

/// Limits of one instance. 0 = the default named; where the machine cannot enforce one, results say
/// `best_effort` and `doctor` says so.
struct SandboxLimits {
  std::uint64_t memory_bytes = 0;  ///< resident memory and page cache; default 2 GiB
  std::uint32_t processes = 0;     ///< processes and threads; default 1024
  std::uint32_t cpu_percent = 0;   ///< 100 = one core; default: not limited
};

/// What the sandboxes of a Cove may do and use.
class SandboxPolicy {
 public:
  SandboxLimits limits;

  /// A directory of the host that holds a root file system to be used, read-only, instead of the
  /// host's allow-listed system directories; empty = the host's.
  std::string root_tree;

  /// Joins the host's network namespace: see grants/host_network.hpp.
  void allow(const grants::HostNetwork& grant);

  /// Gives it a system that it may change, as root of it: see grants/writable_system.hpp.
  void allow(const grants::WritableSystem& grant);

  /// Whether the grant was given.
  bool has_host_network() const noexcept { return host_network_; }
  /// Whether the grant was given.
  bool has_writable_system() const noexcept { return writable_system_; }

  /// Reaches named hosts through a proxy: see grants/proxy_network.hpp.
  void allow(const grants::ProxyNetwork& grant);

  /// Null where that is not granted.
  const grants::ProxyNetwork* proxy_network() const noexcept { return proxy_network_.get(); }

 private:
  bool host_network_ = false;
  bool writable_system_ = false;
  std::shared_ptr<const grants::ProxyNetwork> proxy_network_;
};

}  // namespace cove
