/// The puppet's processes and handles: what they were asked is kept.
#include "fake_answers.hpp"

namespace cove {

using fake::world;

namespace {

void note(std::string what) { world().asked.push_back(std::move(what)); }

std::string text_of(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void type(ByteView bytes) {
  world().typed += text_of(bytes);
  note("write");
}

std::string text_of(TerminalSize size) {
  return "resize " + std::to_string(size.rows) + "x" + std::to_string(size.columns);
}

/// Notes a call about a process, and what it was.
void note(const ProcessId& id, std::string what, const CallContext& call) {
  world().process = id;
  world().call = call;
  note(std::move(what));
}

}  // namespace

class ExecHandle::Impl {};

void ExecHandle::resume() const { ++world().resumed; }
void ExecHandle::cancel() const { ++world().cancelled; }
void ExecHandle::detach() const { ++world().detached; }

Result<void> ExecHandle::write_stdin(ByteView bytes, const CallContext&) const {
  type(bytes);
  return fake::reply();
}
void ExecHandle::write_stdin_async(Bytes bytes, CallContext, Done done) const {
  type(bytes);
  fake::later(std::move(done));
}
Result<void> ExecHandle::close_stdin(const CallContext&) const {
  note("close");
  return fake::reply();
}
void ExecHandle::close_stdin_async(CallContext, Done done) const {
  note("close");
  fake::later(std::move(done));
}
Result<void> ExecHandle::signal(std::int32_t signal, const CallContext&) const {
  note("signal " + std::to_string(signal));
  return fake::reply();
}
void ExecHandle::signal_async(std::int32_t signal, CallContext, Done done) const {
  note("signal " + std::to_string(signal));
  fake::later(std::move(done));
}
Result<void> ExecHandle::resize(TerminalSize size, const CallContext&) const {
  note(text_of(size));
  return fake::reply();
}
void ExecHandle::resize_async(TerminalSize size, CallContext, Done done) const {
  note(text_of(size));
  fake::later(std::move(done));
}

Result<ProcessInfo> SandboxProcesses::start_process(const ExecSpec& spec,
                                                    const ProcessOptions& options,
                                                    const CallContext& call) const {
  world().exec = spec;
  world().process_options = options;
  world().call = call;
  return fake::reply(world().process_info);
}
void SandboxProcesses::start_process_async(ExecSpec spec, ProcessOptions options, CallContext call,
                                           Done<ProcessInfo> done) const {
  world().exec = std::move(spec);
  world().process_options = std::move(options);
  world().call = std::move(call);
  fake::later(std::move(done), world().process_info);
}
Result<std::vector<ProcessInfo>> SandboxProcesses::list_processes(const CallContext&) const {
  return fake::reply(std::vector<ProcessInfo>{world().process_info, ProcessInfo()});
}
void SandboxProcesses::list_processes_async(CallContext,
                                            Done<std::vector<ProcessInfo>> done) const {
  fake::later(std::move(done), std::vector<ProcessInfo>{world().process_info, ProcessInfo()});
}
Result<ProcessInfo> SandboxProcesses::find_process(const ProcessId& id,
                                                   const CallContext& call) const {
  note(id, "find", call);
  return fake::reply(world().process_info);
}
void SandboxProcesses::find_process_async(ProcessId id, CallContext call,
                                          Done<ProcessInfo> done) const {
  note(id, "find", call);
  fake::later(std::move(done), world().process_info);
}
Result<OutputSlice> SandboxProcesses::process_output(const ProcessId& id,
                                                     const OutputRequest& request,
                                                     const CallContext& call) const {
  note(id, "output", call);
  world().output = request;
  return fake::reply(world().slice);
}
void SandboxProcesses::process_output_async(ProcessId id, OutputRequest request, CallContext call,
                                            Done<OutputSlice> done) const {
  note(id, "output", call);
  world().output = request;
  fake::later(std::move(done), world().slice);
}
Result<void> SandboxProcesses::write_process_stdin(const ProcessId& id, ByteView bytes,
                                                   const CallContext& call) const {
  note(id, "write to it", call);
  world().typed += text_of(bytes);
  return fake::reply();
}
void SandboxProcesses::write_process_stdin_async(ProcessId id, Bytes bytes, CallContext call,
                                                 Done<void> done) const {
  note(id, "write to it", call);
  world().typed += text_of(bytes);
  fake::later(std::move(done));
}
Result<void> SandboxProcesses::close_process_stdin(const ProcessId& id,
                                                   const CallContext& call) const {
  note(id, "close it", call);
  return fake::reply();
}
void SandboxProcesses::close_process_stdin_async(ProcessId id, CallContext call,
                                                 Done<void> done) const {
  note(id, "close it", call);
  fake::later(std::move(done));
}
Result<void> SandboxProcesses::signal_process(const ProcessId& id, std::int32_t signal,
                                              const CallContext& call) const {
  note(id, "signal it " + std::to_string(signal), call);
  return fake::reply();
}
void SandboxProcesses::signal_process_async(ProcessId id, std::int32_t signal, CallContext call,
                                            Done<void> done) const {
  note(id, "signal it " + std::to_string(signal), call);
  fake::later(std::move(done));
}
Result<void> SandboxProcesses::resize_process(const ProcessId& id, TerminalSize size,
                                              const CallContext& call) const {
  note(id, text_of(size), call);
  return fake::reply();
}
void SandboxProcesses::resize_process_async(ProcessId id, TerminalSize size, CallContext call,
                                            Done<void> done) const {
  note(id, text_of(size), call);
  fake::later(std::move(done));
}
Result<ProcessInfo> SandboxProcesses::end_process(const ProcessId& id,
                                                  const CallContext& call) const {
  note(id, "end", call);
  return fake::reply(world().process_info);
}
void SandboxProcesses::end_process_async(ProcessId id, CallContext call,
                                         Done<ProcessInfo> done) const {
  note(id, "end", call);
  fake::later(std::move(done), world().process_info);
}
Result<ProcessInfo> SandboxProcesses::wait_process(const ProcessId& id,
                                                   const CallContext& call) const {
  note(id, "wait", call);
  return fake::reply(world().process_info);
}
void SandboxProcesses::wait_process_async(ProcessId id, CallContext call,
                                          Done<ProcessInfo> done) const {
  note(id, "wait", call);
  fake::later(std::move(done), world().process_info);
}
Result<void> SandboxProcesses::remove_process(const ProcessId& id, const CallContext& call) const {
  note(id, "remove", call);
  return fake::reply();
}
void SandboxProcesses::remove_process_async(ProcessId id, CallContext call, Done<void> done) const {
  note(id, "remove", call);
  fake::later(std::move(done));
}
ExecHandle SandboxProcesses::attach_async(ProcessId id, AttachOptions options,
                                          ExecCallbacks callbacks, CallContext call) const {
  note(id, "attach", call);
  world().attach = options;
  world().callbacks = std::move(callbacks);
  return ExecHandle(nullptr);
}

}  // namespace cove
