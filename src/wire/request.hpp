/// What a host asks of an agent: one request opens one stream.
#pragma once

#include <cstdint>
#include <variant>

#include <cove/bytes.hpp>
#include <cove/files.hpp>
#include <cove/guest.hpp>
#include <cove/result.hpp>

#include "wire/command_request.hpp"
#include "wire/file_request.hpp"
#include "wire/process_request.hpp"
#include "wire/request_id.hpp"
#include "wire/search_request.hpp"

namespace cove::wire {

/// Numbers for ever. Those without a body below are reserved: an agent answers kUnsupported.
enum class RequestKind : std::uint32_t {
  kStatus = 1,
  kExec = 2,
  kSignal = 3,
  kRead = 4,
  kWrite = 5,
  kStat = 6,
  kList = 7,
  kMakeDirectory = 8,
  kRemove = 9,
  kSync = 10,
  kResize = 11,
  kAttach = 12,
  kListProcesses = 13,
  kGrep = 14,
  kFind = 15,
  kWatch = 16,
  kTreeOut = 17,
  kTreeIn = 18,
  kUsage = 19,
  kMove = 20,
  kPrepareStop = 21,
  kFindProcess = 31,
  kProcessOutput = 32,
  kRemoveProcess = 33,
  kReadLines = 40,
  kEdit = 41,
  kCopy = 42,
  kSetMode = 43,
  kMakeSymlink = 44,
};

/// What a sender of data may send before the first credit frame: enough for most stdin and most
/// files, so that they cost one exchange.
constexpr std::uint64_t kInitialCredit = 256 * 1024;

struct StatusRequest {};
struct SyncRequest {};

struct ReadRequest {
  GuestPath path;
  ReadRange range;
  std::uint64_t credit = 0;
};

struct WriteRequest {
  GuestPath path;
  WriteOptions options;
};

struct StatRequest {
  GuestPath path;
};

struct ListRequest {
  GuestPath path;
  ListOptions options;
  std::uint64_t credit = 0;
};

struct MakeDirectoryRequest {
  GuestPath path;
};

struct RemoveRequest {
  GuestPath path;
  bool recursive = false;
};

struct Request {
  RequestId id{};
  std::uint64_t fence = 0;  ///< the lease's fencing token under which it acts; 0 = none
  std::variant<StatusRequest, ExecRequest, SignalRequest, ReadRequest, WriteRequest, StatRequest,
               ListRequest, MakeDirectoryRequest, RemoveRequest, SyncRequest, ResizeRequest,
               ListProcessesRequest, FindProcessRequest, ProcessOutputRequest, AttachRequest,
               RemoveProcessRequest, FileRequest, GrepRequest, FindRequest, PrepareStopRequest>
      body;
};

/// Beneath what the request's path is resolved; kWorkspace where it has none. kInvalidArgument: it
/// goes from one root to the other, or is a search anywhere but in the workspace.
Result<GuestRoot> root_of(const Request& request);

/// kTooLarge: it does not fit a control payload.
Result<Bytes> encode_request(const Request& request);

/// kIntegrity: malformed; kUnsupported: a kind that this build does not know.
Result<Request> parse_request(ByteView payload);

/// Why a stream's work is to end early.
struct Cancel {
  bool timed_out = false;  ///< the caller's deadline passed; else the caller asked for it
  bool discard = false;    ///< nobody reads what is still to come
};

Bytes encode_cancel(const Cancel& cancel);
Result<Cancel> parse_cancel(ByteView payload);

}  // namespace cove::wire
