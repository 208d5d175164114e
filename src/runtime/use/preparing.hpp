/// Preparing: what one handle's workspace is prepared with, and what that did last.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include <cove/cove.hpp>

#include "prepare/pipeline/preparation.hpp"

namespace cove::runtime {

/// On the scheduler, but for `report` and what never changes.
class Preparing {
 public:
  /// Makes the handle that steps see: its calls go to `guest` under `fence`, and acquire nothing.
  using MakeHandle = std::function<std::shared_ptr<const Workspace>(std::shared_ptr<Guest> guest,
                                                                    std::uint64_t fence)>;

  explicit Preparing(std::shared_ptr<const prepare::Preparation> steps)
      : steps_(std::move(steps)) {}

  const prepare::Preparation& steps() const noexcept { return *steps_; }

  /// True where there is no step, or none that has anything to do in a new HOME.
  bool is_idle_on(bool is_new) const noexcept {
    return steps_->steps.empty() || (is_new && steps_->only_takes_back);
  }

  MakeHandle make_handle;  ///< set once, before the first use, as the next

  /// Says that its skills are in use; see SkillUses.
  std::shared_ptr<void> skills_held;

  bool is_ready_on(const InstanceRef& instance) const {
    return steps_->steps.empty() || ready_on_ == instance;
  }

  void note(const InstanceRef& instance, bool is_ready, PrepareReport report) {
    if (is_ready) ready_on_ = instance;
    const std::lock_guard lock(mutex_);
    report_ = std::move(report);
  }

  /// Any thread.
  PrepareReport report() const {
    const std::lock_guard lock(mutex_);
    return report_;
  }

 private:
  const std::shared_ptr<const prepare::Preparation> steps_;
  InstanceRef ready_on_;
  mutable std::mutex mutex_;
  PrepareReport report_;  // guarded by mutex_
};

}  // namespace cove::runtime
