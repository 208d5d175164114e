/// The activity leases of this process: which sandboxes it uses, and the timer that says so.
///
/// A lease is renewed only while the sandbox was touched lately: a Workspace that its owner forgot
/// goes idle by itself. On the scheduler's thread only.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include <cove/clock.hpp>
#include <cove/provider.hpp>

namespace cove::lifecycle {

class Activity {
 public:
  struct Use {
    InstanceRef instance;
    Instant touched{};
  };

  /// Notes that the sandbox was acquired, as this instance.
  void note(const InstanceRef& instance, Instant now) {
    uses_[instance.volume.sandbox] = Use{instance, now};
  }

  /// Notes a call. False: the sandbox is not in use here, or was left alone for too long.
  bool touch(const SandboxId& sandbox, Instant now) {
    const auto found = uses_.find(sandbox);
    if (found == uses_.end()) return false;
    found->second.touched = now;
    return true;
  }

  void forget(const SandboxId& sandbox) {
    uses_.erase(sandbox);
    drains_.erase(sandbox);
  }

  /// Forgets it if it is still this instance.
  void forget(const InstanceRef& instance) {
    if (is_used(instance)) forget(SandboxId(instance.volume.sandbox));
  }

  /// Forgets all on which no call was made since `since`: their owners forgot them.
  void forget_idle(Instant since) {
    std::erase_if(uses_, [since](const auto& entry) { return entry.second.touched < since; });
  }

  bool is_used(const InstanceRef& instance) const {
    const auto found = uses_.find(instance.volume.sandbox);
    return found != uses_.end() && found->second.instance == instance;
  }

  /// Notes that a stop lets the sandbox's commands finish until then; nothing new begins meanwhile.
  void note_drain(const SandboxId& sandbox, Instant until) { drains_[sandbox] = until; }
  void end_drain(const SandboxId& sandbox) { drains_.erase(sandbox); }
  bool drains(const SandboxId& sandbox, Instant now) const {
    const auto found = drains_.find(sandbox);
    return found != drains_.end() && now < found->second;
  }

  bool empty() const { return uses_.empty(); }

  /// The instances that a call was made on since `since`.
  std::vector<InstanceRef> touched_since(Instant since) const {
    std::vector<InstanceRef> touched;
    for (const auto& [sandbox, use] : uses_) {
      if (use.touched >= since) touched.push_back(use.instance);
    }
    return touched;
  }

  std::vector<SandboxId> all() const {
    std::vector<SandboxId> sandboxes;
    for (const auto& [sandbox, use] : uses_) sandboxes.push_back(sandbox);
    return sandboxes;
  }

 private:
  std::map<SandboxId, Use> uses_;
  std::map<SandboxId, Instant> drains_;  // as far as this process has seen
};

}  // namespace cove::lifecycle
