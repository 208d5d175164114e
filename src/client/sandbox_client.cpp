#include <cove/sandbox_client.hpp>

#include "client/exec_calls.hpp"
#include "client/exec_handle.hpp"
#include "client/sandbox_reach.hpp"

namespace cove {

class SandboxClient::Impl : public SandboxFiles::Reach {
 public:
  using SandboxFiles::Reach::Reach;
};

SandboxClient::SandboxClient(std::shared_ptr<Impl> impl)
    : SandboxFiles(impl), SandboxProcesses(impl), SandboxSearch(impl), impl_(impl) {}

namespace client {

SandboxClient make_client(std::shared_ptr<GuestLink> link, std::string session) {
  return SandboxClient(std::make_shared<SandboxClient::Impl>(std::move(link), std::move(session)));
}

namespace {

/// What an exec with callbacks keeps while it runs.
struct AsyncExec {
  std::shared_ptr<GuestLink> link;
  StreamedCommand command;
  std::stop_token callers_stop;
};

Task<Result<ExecResult>> run_async_exec(const AsyncExec& exec, const CallContext& call) {
  // The handle's stop ends the call; the caller's own is passed on to it.
  const auto steering = exec.command.steering;
  const std::stop_callback pass_on(exec.callers_stop, [steering] { steering->cancel(); });
  const bool streamed = exec.command.on_output || exec.command.stdin_mode == StdinMode::kOpen;
  if (streamed) co_return co_await stream_command(*exec.link, exec.command, call);
  const EndOfSteering end(*steering);
  co_return co_await run_command(*exec.link, exec.command.session, exec.command.spec, call);
}

}  // namespace
}  // namespace client

Result<ExecResult> SandboxClient::exec(const ExecSpec& spec, const CallContext& call) const {
  return client::wait_for_command(*impl_->link, impl_->session, spec, call);
}

ExecHandle SandboxClient::exec_async(ExecSpec spec, ExecCallbacks callbacks, CallContext call,
                                     StdinMode stdin_mode) const {
  auto steering = std::make_shared<ExecHandle::Impl>(impl_->link);
  client::StreamedCommand command{impl_->session, std::move(spec), stdin_mode,
                                  std::move(callbacks.on_output), steering};
  auto exec = std::make_shared<client::AsyncExec>(
      client::AsyncExec{impl_->link, std::move(command), call.stop});
  const CallContext steered = call.ended_by(steering->stop_token());
  client::run_async<ExecResult>(
      impl_->link, steered,
      [exec = std::move(exec)](const CallContext& inner) {
        return client::run_async_exec(*exec, inner);
      },
      std::move(callbacks.on_done));
  return ExecHandle(std::move(steering));
}

}  // namespace cove
