/// The process calls of a client: each is a value that knows what to ask of a guest, so that the
/// blocking and the callback form are the same call.
#pragma once

#include <string>
#include <vector>

#include "client/guest_calls.hpp"
#include "client/guest_link.hpp"

namespace cove::client {

struct StartProcessCall {
  using Value = ProcessInfo;
  static constexpr Repeat kRepeat = Repeat::kNever;
  std::string session;
  ExecSpec spec;
  ProcessOptions options;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const {
    return guest.start_process(session, spec, options, call);
  }
};

struct ListProcessesCall {
  using Value = std::vector<ProcessInfo>;
  static constexpr Repeat kRepeat = Repeat::kOnce;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const {
    return guest.list_processes(call);
  }
};

struct FindProcessCall {
  using Value = ProcessInfo;
  static constexpr Repeat kRepeat = Repeat::kOnce;
  ProcessId id;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const {
    return guest.find_process(id, call);
  }
};

struct ProcessOutputCall {
  using Value = OutputSlice;
  static constexpr Repeat kRepeat = Repeat::kOnce;
  ProcessId id;
  OutputRequest request;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const {
    return guest.process_output(id, request, call);
  }
};

struct AttachCall {
  using Value = std::shared_ptr<GuestProcess>;
  static constexpr Repeat kRepeat = Repeat::kOnce;
  ProcessId id;
  AttachOptions options;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const {
    return guest.attach(id, options, call);
  }
};

/// `bytes` outlive the task.
struct WriteStdinCall {
  using Value = void;
  static constexpr Repeat kRepeat = Repeat::kNever;
  ProcessId id;
  ByteView bytes;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const;
};

/// The same of bytes that are the call's own.
struct WriteOwnStdinCall {
  using Value = void;
  static constexpr Repeat kRepeat = Repeat::kNever;
  ProcessId id;
  Bytes bytes;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const;
};

struct CloseStdinCall {
  using Value = void;
  static constexpr Repeat kRepeat = Repeat::kOnce;
  ProcessId id;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const;
};

struct SignalCall {
  using Value = void;
  static constexpr Repeat kRepeat = Repeat::kNever;
  ProcessId id;
  std::int32_t signal;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const;
};

struct ResizeCall {
  using Value = void;
  static constexpr Repeat kRepeat = Repeat::kOnce;
  ProcessId id;
  TerminalSize size;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const;
};

struct EndProcessCall {
  using Value = ProcessInfo;
  static constexpr Repeat kRepeat = Repeat::kOnce;
  ProcessId id;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const;
};

struct WaitProcessCall {
  using Value = ProcessInfo;
  static constexpr Repeat kRepeat = Repeat::kOnce;
  ProcessId id;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const;
};

struct RemoveProcessCall {
  using Value = void;
  static constexpr Repeat kRepeat = Repeat::kNever;
  ProcessId id;
  Task<Result<Value>> operator()(Guest& guest, const CallContext& call) const {
    return guest.remove_process(id, call);
  }
};

}  // namespace cove::client
