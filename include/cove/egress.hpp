/// The seam through which connections out of a sandbox go: what decides, resolves and connects.
///
/// The agent inside speaks with clients (HTTP, CONNECT, SOCKS5) and asks the host for a plain
/// stream of bytes to a host and port; an Egress gives it or says why not. Cove's own is an
/// allow-list (docs/network.md); policies, accounting and limits of others go behind the same.
///
/// All calls are made on Cove's scheduler and complete there. The bytes and the names come from
/// code inside: they are hostile.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <cove/bytes.hpp>
#include <cove/call_context.hpp>
#include <cove/ids.hpp>
#include <cove/result.hpp>
#include <cove/task.hpp>

namespace cove {

/// How the client inside asked.
enum class EgressVia : std::uint8_t {
  kHttp = 1,     ///< one HTTP/1 request in absolute form
  kConnect = 2,  ///< a tunnel by CONNECT
  kSocks = 3,    ///< a tunnel by SOCKS5
};

/// Where a connection out of a sandbox is to go.
struct EgressTarget {
  std::string host;  ///< a name or the text of an IP address, as the client gave it
  std::uint16_t port = 0;

  friend bool operator==(const EgressTarget&, const EgressTarget&) = default;
};

/// A connection that a sandbox asks for.
struct EgressRequest {
  SandboxId sandbox;
  EgressTarget target;
  EgressVia via = EgressVia::kConnect;
};

/// One open connection. One reader and one writer at a time; they may be two tasks. Destroying it
/// closes it.
class EgressConnection {
 public:
  virtual ~EgressConnection() = default;

  /// Gives what came, at least one byte; empty = the other side's end. Waits where nothing came.
  virtual Task<Result<Bytes>> read(const CallContext& call) = 0;

  /// Returns when all of it is on its way. `bytes` live until the task ends.
  virtual Task<Result<void>> write(ByteView bytes, const CallContext& call) = 0;

  /// Says that nothing more is written; what the other side sends is still read.
  virtual void end() = 0;

  /// Ends both ways at once: reads and writes that wait end with kUnavailable.
  virtual void close() = 0;
};

/// Decides about connections out of sandboxes, and makes them.
class Egress {
 public:
  virtual ~Egress() = default;

  /// Connects. The message is shown to the client inside. Errors: kPermissionDenied - a rule
  /// forbids it, and which; kInvalidArgument - no host name or port; kNotFound - the name has no
  /// address; kUnavailable - nobody answers there; kTimeout; kQuotaExceeded - too many at once.
  /// Cancellation: nothing is left open.
  virtual Task<Result<std::shared_ptr<EgressConnection>>> connect(const EgressRequest& request,
                                                                  const CallContext& call) = 0;
};

}  // namespace cove
