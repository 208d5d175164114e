#include <stop_token>
#include <utility>

#include <cove/sandbox_processes.hpp>

#include "client/command_environment.hpp"
#include "client/exec_calls.hpp"
#include "client/exec_handle.hpp"
#include "client/process_calls.hpp"
#include "client/process_follow.hpp"
#include "client/reach_calls.hpp"

namespace cove {
namespace {

using Reach = std::shared_ptr<const SandboxFiles::Reach>;

/// What an attach with callbacks keeps while it lasts.
struct AsyncAttach {
  Reach reach;
  client::AttachedProcess attached;
  std::stop_token callers_stop;
};

Task<Result<ExecResult>> run_async_attach(const AsyncAttach& attach, const CallContext& call) {
  // The handle's stop ends the call; the caller's own is passed on to it, and ends no process.
  const auto steering = attach.attached.steering;
  const std::stop_callback pass_on(attach.callers_stop, [steering] { steering->let_go(); });
  co_return co_await client::stream_attached(*attach.reach->link, attach.attached, call);
}

}  // namespace

Result<ProcessInfo> SandboxProcesses::start_process(const ExecSpec& spec,
                                                    const ProcessOptions& options,
                                                    const CallContext& call) const {
  ExecSpec whole = client::in_environment(*reach_->link, spec);
  client::StartProcessCall start{reach_->session, std::move(whole), options};
  return client::wait_for(*reach_, std::move(start), call);
}

Result<std::vector<ProcessInfo>> SandboxProcesses::list_processes(const CallContext& call) const {
  return client::wait_for(*reach_, client::ListProcessesCall{}, call);
}

Result<ProcessInfo> SandboxProcesses::find_process(const ProcessId& id,
                                                   const CallContext& call) const {
  return client::wait_for(*reach_, client::FindProcessCall{id}, call);
}

Result<OutputSlice> SandboxProcesses::process_output(const ProcessId& id,
                                                     const OutputRequest& request,
                                                     const CallContext& call) const {
  return client::wait_for(*reach_, client::ProcessOutputCall{id, request}, call);
}

Result<void> SandboxProcesses::write_process_stdin(const ProcessId& id, ByteView bytes,
                                                   const CallContext& call) const {
  return client::wait_for(*reach_, client::WriteStdinCall{id, bytes}, call);
}

Result<void> SandboxProcesses::close_process_stdin(const ProcessId& id,
                                                   const CallContext& call) const {
  return client::wait_for(*reach_, client::CloseStdinCall{id}, call);
}

Result<void> SandboxProcesses::signal_process(const ProcessId& id, std::int32_t signal,
                                              const CallContext& call) const {
  return client::wait_for(*reach_, client::SignalCall{id, signal}, call);
}

Result<void> SandboxProcesses::resize_process(const ProcessId& id, TerminalSize size,
                                              const CallContext& call) const {
  return client::wait_for(*reach_, client::ResizeCall{id, size}, call);
}

Result<ProcessInfo> SandboxProcesses::end_process(const ProcessId& id,
                                                  const CallContext& call) const {
  return client::wait_for(*reach_, client::EndProcessCall{id}, call);
}

Result<ProcessInfo> SandboxProcesses::wait_process(const ProcessId& id,
                                                   const CallContext& call) const {
  return client::wait_for(*reach_, client::WaitProcessCall{id}, call);
}

Result<void> SandboxProcesses::remove_process(const ProcessId& id, const CallContext& call) const {
  return client::wait_for(*reach_, client::RemoveProcessCall{id}, call);
}

Result<ProcessInfo> SandboxProcesses::follow_process(const ProcessId& id,
                                                     const AttachOptions& options,
                                                     const OutputSink& on_output,
                                                     const CallContext& call) const {
  return client::follow_process(*reach_->link, id, options, on_output, call);
}

ExecHandle SandboxProcesses::attach_async(ProcessId id, AttachOptions options,
                                          ExecCallbacks callbacks, CallContext call) const {
  auto steering = std::make_shared<ExecHandle::Impl>(reach_->link);
  client::AttachedProcess attached{std::move(id), options, std::move(callbacks.on_output),
                                   steering};
  auto attach = std::make_shared<AsyncAttach>(AsyncAttach{reach_, std::move(attached), call.stop});
  const CallContext steered = call.ended_by(steering->stop_token());
  client::run_async<ExecResult>(
      reach_->link, steered,
      [attach = std::move(attach)](const CallContext& inner) {
        return run_async_attach(*attach, inner);
      },
      std::move(callbacks.on_done));
  return ExecHandle(std::move(steering));
}

void SandboxProcesses::start_process_async(ExecSpec spec, ProcessOptions options, CallContext call,
                                           Done<ProcessInfo> done) const {
  ExecSpec whole = client::in_environment(*reach_->link, std::move(spec));
  client::StartProcessCall start{reach_->session, std::move(whole), std::move(options)};
  client::begin(reach_, std::move(start), call, std::move(done));
}

void SandboxProcesses::list_processes_async(CallContext call,
                                            Done<std::vector<ProcessInfo>> done) const {
  client::begin(reach_, client::ListProcessesCall{}, call, std::move(done));
}

void SandboxProcesses::find_process_async(ProcessId id, CallContext call,
                                          Done<ProcessInfo> done) const {
  client::begin(reach_, client::FindProcessCall{std::move(id)}, call, std::move(done));
}

void SandboxProcesses::process_output_async(ProcessId id, OutputRequest request, CallContext call,
                                            Done<OutputSlice> done) const {
  client::begin(reach_, client::ProcessOutputCall{std::move(id), request}, call, std::move(done));
}

void SandboxProcesses::write_process_stdin_async(ProcessId id, Bytes bytes, CallContext call,
                                                 Done<void> done) const {
  client::WriteOwnStdinCall write{std::move(id), std::move(bytes)};
  client::begin(reach_, std::move(write), call, std::move(done));
}

void SandboxProcesses::close_process_stdin_async(ProcessId id, CallContext call,
                                                 Done<void> done) const {
  client::begin(reach_, client::CloseStdinCall{std::move(id)}, call, std::move(done));
}

void SandboxProcesses::signal_process_async(ProcessId id, std::int32_t signal, CallContext call,
                                            Done<void> done) const {
  client::begin(reach_, client::SignalCall{std::move(id), signal}, call, std::move(done));
}

void SandboxProcesses::resize_process_async(ProcessId id, TerminalSize size, CallContext call,
                                            Done<void> done) const {
  client::begin(reach_, client::ResizeCall{std::move(id), size}, call, std::move(done));
}

void SandboxProcesses::end_process_async(ProcessId id, CallContext call,
                                         Done<ProcessInfo> done) const {
  client::begin(reach_, client::EndProcessCall{std::move(id)}, call, std::move(done));
}

void SandboxProcesses::wait_process_async(ProcessId id, CallContext call,
                                          Done<ProcessInfo> done) const {
  client::begin(reach_, client::WaitProcessCall{std::move(id)}, call, std::move(done));
}

void SandboxProcesses::remove_process_async(ProcessId id, CallContext call, Done<void> done) const {
  client::begin(reach_, client::RemoveProcessCall{std::move(id)}, call, std::move(done));
}

}  // namespace cove
