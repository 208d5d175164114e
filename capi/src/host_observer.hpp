/// HostObserver: who hears of the lifecycle's events, as long as the host wants somebody to.
#pragma once

#include <mutex>
#include <utility>

#include <cove/lifecycle_report.hpp>

#include "report_callback.hpp"

namespace cove::capi {

/// Any thread.
class HostObserver final : public LifecycleObserver {
 public:
  /// Null = nobody. The one before is let go of once it is not in a call any more.
  void set(ReportCallbackPtr hearer) {
    // Its end calls the host, so it comes after the lock.
    const std::lock_guard lock(mutex_);
    hearer_.swap(hearer);
  }

  void on_event(const LifecycleEvent& event) override;

 private:
  ReportCallbackPtr hearer() {
    const std::lock_guard lock(mutex_);
    return hearer_;
  }

  std::mutex mutex_;
  ReportCallbackPtr hearer_;  // guarded by mutex_
};

}  // namespace cove::capi
