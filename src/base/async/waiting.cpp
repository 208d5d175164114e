#include "base/async/waiting.hpp"

#include <utility>

#include <cove/wait_check.hpp>

namespace cove {
namespace {

thread_local std::function<bool()> t_may_wait;
thread_local base::Waiting* t_waiting = nullptr;

}  // namespace

void set_wait_check(std::function<bool()> may_wait) { t_may_wait = std::move(may_wait); }

namespace base {

Waiting::Waiting(const CallContext& call) : call_(call) {
  const bool asks = static_cast<bool>(t_may_wait);
  outer_ = std::exchange(t_waiting, asks ? this : nullptr);
  if (!asks) return;
  called_off_ = std::stop_source();
  call_.stop = called_off_.get_token();
  by_caller_.emplace(call.stop, PassStopOn{called_off_});
}

Waiting::~Waiting() { t_waiting = outer_; }

void Waiting::look() {
  if (called_off_.stop_requested()) return;
  // What it calls of Cove waits without it.
  const auto may_wait = std::exchange(t_may_wait, nullptr);
  const bool goes_on = may_wait();
  if (!t_may_wait) t_may_wait = may_wait;
  if (!goes_on) called_off_.request_stop();
}

Waiting* Waiting::current() noexcept { return t_waiting; }

}  // namespace base
}  // namespace cove
