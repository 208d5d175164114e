#include "runtime/use/admission.hpp"

#include <optional>
#include <utility>

#include <unistd.h>

#include "base/async/stop_link.hpp"

namespace cove::runtime {

/// Ends with the caller's stop or with close, whichever comes first.
class Admission::Scope final : public client::CallScope {
 public:
  Scope(std::shared_ptr<Admission> admission, const CallContext& call)
      : admission_(std::move(admission)), context_(call) {
    const std::stop_token closing = admission_->closing_.get_token();
    if (!call.stop.stop_possible()) {
      context_.stop = closing;
      return;
    }
    std::stop_source merged;
    context_.stop = merged.get_token();
    by_caller_.emplace(call.stop, base::PassStopOn{merged});
    by_close_.emplace(closing, base::PassStopOn{merged});
  }

  ~Scope() override {
    by_caller_.reset();
    by_close_.reset();
    admission_->leave();
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  const CallContext& context() const override { return context_; }

 private:
  std::shared_ptr<Admission> admission_;
  CallContext context_;
  std::optional<base::StopLink> by_caller_;
  std::optional<base::StopLink> by_close_;
};

Admission::Admission() : pid_(::getpid()) {}

bool Admission::forked() const noexcept { return ::getpid() != pid_; }

Result<std::unique_ptr<client::CallScope>> Admission::begin(const CallContext& call) {
  if (forked()) {
    return Error(ErrorCode::kFailedPrecondition,
                 "this process is a child of the one that opened this Cove; open another one after "
                 "fork()");
  }
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return Error(ErrorCode::kFailedPrecondition, "this Cove is closed");
    ++running_;
  }
  return std::unique_ptr<client::CallScope>(std::make_unique<Scope>(shared_from_this(), call));
}

void Admission::leave() {
  const std::lock_guard lock(mutex_);
  if (--running_ == 0) idle_.notify_all();
}

void Admission::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  closing_.request_stop();
}

bool Admission::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

void Admission::wait_idle() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return running_ == 0; });
}

}  // namespace cove::runtime
