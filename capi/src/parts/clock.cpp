#include "parts/clock.hpp"

#include <atomic>
#include <limits>

#include "base/system/system_clock.hpp"
#include "handles.hpp"

namespace cove::capi {
namespace {

thread_local const Clock* innermost = nullptr;

class HostClock final : public Clock {
 public:
  explicit HostClock(GivenPtr<cove_clock> given) : given_(std::move(given)) {}

  Instant now() const override {
    const std::int64_t read = ask(given_->slots.now_ns);
    std::int64_t last = last_.load();
    while (last < read && !last_.compare_exchange_weak(last, read)) {
    }
    return Instant(std::chrono::nanoseconds(last < read ? read : last));
  }

  StoreTime wall() const override {
    return StoreTime(std::chrono::milliseconds(ask(given_->slots.wall_ms)));
  }

 private:
  std::int64_t ask(cove_clock_fn slot) const {
    const CallbackScope scope;
    return slot(given_->user.get());
  }

  const GivenPtr<cove_clock> given_;
  mutable std::atomic<std::int64_t> last_{std::numeric_limits<std::int64_t>::min()};
};

}  // namespace

Result<void> check_given(const cove_clock& slots) {
  COVE_TRY_VOID(check_flags(slots.reserved0, 0, "cove_clock.reserved0"));
  COVE_TRY_VOID(require_slot(slots.now_ns, "cove_clock", "now_ns"));
  return require_slot(slots.wall_ms, "cove_clock", "wall_ms");
}

std::shared_ptr<const Clock> make_host_clock(GivenPtr<cove_clock> given) {
  return std::make_shared<HostClock>(std::move(given));
}

ClockScope::ClockScope(const Clock& clock) noexcept : outer_(innermost) { innermost = &clock; }
ClockScope::~ClockScope() { innermost = outer_; }

Instant ClockScope::now() {
  return innermost == nullptr ? base::SystemClock().now() : innermost->now();
}

std::shared_ptr<const Clock> system_clock() { return std::make_shared<base::SystemClock>(); }

}  // namespace cove::capi

extern "C" {

void cove_clock_moved(cove_handle* cove) {
  using namespace cove;
  if (cove == nullptr || cove->library->is_forked()) return;
  // What finds no memory goes on at the clock's own pace.
  cove_error_free(capi::run([&] {
    cove->library->cove().clock_moved();
    return ok();
  }));
}

}  // extern "C"
