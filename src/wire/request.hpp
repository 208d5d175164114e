/// What a host asks of an agent: one request opens one stream.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include <cove/bytes.hpp>
#include <cove/exec.hpp>
#include <cove/files.hpp>
#include <cove/guest.hpp>
#include <cove/result.hpp>

#include "wire/search_request.hpp"

namespace cove::wire {

/// Made by the host at random and unique over reconnects: a repeat of an id is answered from what
/// the agent remembers, not done again.
using RequestId = std::array<std::byte, 16>;

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
  kListCommands = 13,
  kGrep = 14,
  kFind = 15,
  kWatch = 16,
  kTreeOut = 17,
  kTreeIn = 18,
  kUsage = 19,
  kRename = 20,
  kPrepareStop = 21,
};

/// What a sender of data may send before the first credit frame: enough for most stdin and most
/// files, so that they cost one exchange.
constexpr std::uint64_t kInitialCredit = 256 * 1024;

/// The most bytes of argv and environment together; the kernel's own limit is near it.
constexpr std::uint64_t kMaxArgumentBytes = 4 * 1024 * 1024;

/// The most that is kept of one stream's head, and of its tail.
constexpr std::uint64_t kMaxKeptBytes = 32 * 1024 * 1024;

struct StatusRequest {};
struct SyncRequest {};

struct ExecRequest {
  std::string session;
  ExecSpec spec;          ///< its stdin_data is not in the request: it comes as data
  bool streamed = false;  ///< output as it comes, within credit; else head and tail with the answer
  bool has_stdin = false;
  std::uint64_t credit = 0;          ///< of a streamed command's output, both streams together
  std::uint64_t argument_bytes = 0;  ///< >0: argv and env follow on kArguments, see pack_arguments
};

struct SignalRequest {
  RequestId command{};
  std::int32_t signal = 0;
};

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
               ListRequest, MakeDirectoryRequest, RemoveRequest, SyncRequest, GrepRequest,
               FindRequest>
      body;
};

/// kTooLarge: it does not fit a control payload.
Result<Bytes> encode_request(const Request& request);

/// kIntegrity: malformed; kUnsupported: a kind that this build does not know.
Result<Request> parse_request(ByteView payload);

/// argv and env as one run of bytes, for kArguments: "<argc> <envc>" and then all strings, each of
/// them ended by NUL.
Bytes pack_arguments(const ExecSpec& spec);

/// Fills argv and env from what pack_arguments made. kIntegrity: it is not that.
Result<void> unpack_arguments(ByteView bytes, ExecSpec& spec);

/// kInvalidArgument: something that no kernel would take (no argv, a NUL inside, an empty or odd
/// variable name), or a limit that is out of range.
Result<void> check_exec(const ExecSpec& spec);

/// Why a stream's work is to end early.
struct Cancel {
  bool timed_out = false;  ///< the caller's deadline passed; else the caller asked for it
  bool discard = false;    ///< nobody reads what is still to come
};

Bytes encode_cancel(const Cancel& cancel);
Result<Cancel> parse_cancel(ByteView payload);

}  // namespace cove::wire
