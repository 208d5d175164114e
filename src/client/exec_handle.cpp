#include "client/exec_handle.hpp"

#include "client/exec_calls.hpp"

namespace cove {

using client::run_async;
using client::run_blocking;

void ExecHandle::resume() const { impl_->resume(); }
void ExecHandle::cancel() const { impl_->cancel(); }
void ExecHandle::detach() const { impl_->let_go(); }

Result<void> ExecHandle::write_stdin(ByteView bytes, const CallContext& call) const {
  Impl& self = *impl_;
  return run_blocking(*self.link, call, [&](const CallContext& inner) {
    return client::write_stdin(*self.link, self, bytes, inner);
  });
}

Result<void> ExecHandle::close_stdin(const CallContext& call) const {
  Impl& self = *impl_;
  return run_blocking(*self.link, call, [&](const CallContext& inner) {
    return client::close_stdin(*self.link, self, inner);
  });
}

Result<void> ExecHandle::signal(std::int32_t signal, const CallContext& call) const {
  Impl& self = *impl_;
  return run_blocking(*self.link, call, [&](const CallContext& inner) {
    return client::send_signal(*self.link, self, signal, inner);
  });
}

Result<void> ExecHandle::resize(TerminalSize size, const CallContext& call) const {
  Impl& self = *impl_;
  return run_blocking(*self.link, call, [&](const CallContext& inner) {
    return client::resize(*self.link, self, size, inner);
  });
}

void ExecHandle::write_stdin_async(Bytes bytes, CallContext call, Done done) const {
  run_async<void>(
      impl_->link, call,
      [self = impl_, bytes = std::move(bytes)](const CallContext& inner) {
        return client::write_stdin(*self->link, *self, bytes, inner);
      },
      std::move(done));
}

void ExecHandle::close_stdin_async(CallContext call, Done done) const {
  run_async<void>(
      impl_->link, call,
      [self = impl_](const CallContext& inner) {
        return client::close_stdin(*self->link, *self, inner);
      },
      std::move(done));
}

void ExecHandle::signal_async(std::int32_t signal, CallContext call, Done done) const {
  run_async<void>(
      impl_->link, call,
      [self = impl_, signal](const CallContext& inner) {
        return client::send_signal(*self->link, *self, signal, inner);
      },
      std::move(done));
}

void ExecHandle::resize_async(TerminalSize size, CallContext call, Done done) const {
  run_async<void>(
      impl_->link, call,
      [self = impl_, size](const CallContext& inner) {
        return client::resize(*self->link, *self, size, inner);
      },
      std::move(done));
}

}  // namespace cove
