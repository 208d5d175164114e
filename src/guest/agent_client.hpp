/// AgentGuest: Guest over one connection to a cove-agent. Its parts: agent_guest.cpp (connecting,
/// commands), command_wait.cpp (agents that say nothing), agent_process.cpp (commands that are
/// followed), agent_processes.cpp (background processes), agent_search.cpp,
/// agent_files.hpp.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <cove/guest.hpp>

#include "guest/agent_files.hpp"
#include "guest/agent_guest.hpp"
#include "guest/connection.hpp"
#include "wire/request.hpp"

namespace cove::guest {

/// What all calls of one guest work with; kept alive by each of them.
struct Link {
  GuestRuntime runtime;
  std::shared_ptr<Connection> connection;
  GuestCapabilities capabilities;
  AgentIdentity identity;

  /// A request with an id of its own, under the call's fence.
  wire::Request request(decltype(wire::Request::body) body, const CallContext& call) const;
};

using LinkPtr = std::shared_ptr<const Link>;

/// A request with an id of its own, of those that are one kind with many bodies.
template <class Body>
wire::Request file_request(const Link& link, Body body, const CallContext& call) {
  wire::FileRequest wrapped;
  wrapped.body = std::move(body);
  return link.request(std::move(wrapped), call);
}

/// A stream that is let go with its owner, on the loop, from whatever thread that dies on.
class StreamOwner {
 public:
  StreamOwner(LinkPtr link, std::shared_ptr<Stream> stream)
      : link_(std::move(link)), stream_(std::move(stream)) {}
  ~StreamOwner();
  StreamOwner(const StreamOwner&) = delete;
  StreamOwner& operator=(const StreamOwner&) = delete;

  Stream& operator*() const noexcept { return *stream_; }
  Stream* operator->() const noexcept { return stream_.get(); }
  const LinkPtr& link() const noexcept { return link_; }

 private:
  LinkPtr link_;
  std::shared_ptr<Stream> stream_;
};

/// Opens a stream for `request`. `data_follows`: as of Connection::open.
Result<std::shared_ptr<StreamOwner>> open_stream(const LinkPtr& link, const wire::Request& request,
                                                 std::uint64_t window, bool data_follows = false);

/// Asks and waits for the answer's payload.
Task<Result<Bytes>> ask(LinkPtr link, wire::Request request, const CallContext& call);

/// The same of what is answered with nothing but that it was done.
Task<Result<void>> ask_plainly(LinkPtr link, wire::Request request, const CallContext& call);

/// Ends the connection where the agent's answer makes no sense, and passes the value on.
template <class T>
Result<T> checked(const Link& link, Result<T> parsed) {
  if (parsed) return parsed;
  const Error error(ErrorCode::kProvider,
                    "the agent broke the protocol: " + parsed.error().message());
  link.connection->lose(error);
  return error;
}

/// A command's request with what follows it: arguments that do not fit, and stdin.
struct CommandRequest {
  wire::Request request;
  std::deque<Stream::Piece> pieces;
};

/// How it is asked for.
struct CommandForm {
  bool streamed = false;
  bool keep_stdin = false;
  std::optional<ProcessOptions> background;
};
Result<CommandRequest> make_command(const Link& link, const std::string& session,
                                    const ExecSpec& spec, const CommandForm& form,
                                    const CallContext& call);

/// What is said of the process that was asked for. kProvider: it is said of another one.
Result<ProcessInfo> process_info_of(ByteView payload, const wire::RequestId& id);

/// The request that started a process. kNotFound: no process has such an id.
Result<wire::RequestId> request_id_of(const ProcessId& id);

/// How long an agent may take to say that a command ended, after it should have.
constexpr std::chrono::seconds kEndTime{10};

/// kUnavailable of an agent that is there and says nothing. `what`: it did not.
Error silent_agent(const std::string& what);

/// Waits on a command's stream, but not for ever where the command has a timeout: the agent keeps
/// that, and one that was stopped keeps nothing.
class CommandWait {
 public:
  /// Of a command that may run as long as it likes.
  CommandWait() = default;
  CommandWait(const Link& link, const ExecSpec& spec);

  /// As Stream::changed. A command that should have ended long ago is cancelled; kUnavailable: the
  /// agent says nothing for kEndTime after that. It must live until the task has ended.
  Task<Result<void>> changed(const StreamOwner& stream, const CallContext& call);

 private:
  std::optional<Instant> overdue_;
  bool cancelled_ = false;
};

/// How much of a streamed command's output may wait unread.
constexpr std::uint64_t kStreamWindow = 256 * 1024;

/// Opens a streamed command; see GuestCommands::start.
Task<Result<std::shared_ptr<GuestProcess>>> start_streamed(LinkPtr link, const std::string& session,
                                                           const ExecSpec& spec, bool keep_stdin,
                                                           const CallContext& call);

/// Follows a background process; see GuestCommands::attach.
Task<Result<std::shared_ptr<GuestProcess>>> attach_to(LinkPtr link, const ProcessId& id,
                                                      const AttachOptions& options,
                                                      const CallContext& call);

class AgentGuest final : public AgentFiles {
 public:
  explicit AgentGuest(LinkPtr link) : AgentFiles(std::move(link)) {}
  ~AgentGuest() override;

  bool is_connected() const;
  const Link& link() const noexcept { return *link_; }

  GuestCapabilities capabilities() const override { return link_->capabilities; }
  Task<Result<GuestStatus>> status(const CallContext& call) override;
  Task<Result<ExecResult>> run(const std::string& session, const ExecSpec& spec,
                               const CallContext& call) override;
  Task<Result<std::shared_ptr<GuestProcess>>> start(const std::string& session,
                                                    const ExecSpec& spec, bool keep_stdin,
                                                    const CallContext& call) override;
  Task<Result<ProcessInfo>> start_process(const std::string& session, const ExecSpec& spec,
                                          const ProcessOptions& options,
                                          const CallContext& call) override;
  Task<Result<std::vector<ProcessInfo>>> list_processes(const CallContext& call) override;
  Task<Result<ProcessInfo>> find_process(const ProcessId& id, const CallContext& call) override;
  Task<Result<OutputSlice>> process_output(const ProcessId& id, const OutputRequest& request,
                                           const CallContext& call) override;
  Task<Result<std::shared_ptr<GuestProcess>>> attach(const ProcessId& id,
                                                     const AttachOptions& options,
                                                     const CallContext& call) override;
  Task<Result<void>> remove_process(const ProcessId& id, const CallContext& call) override;
  Task<Result<std::unique_ptr<GrepStream>>> grep(const GuestPath& path, const GrepQuery& query,
                                                 const CallContext& call) override;
  Task<Result<std::unique_ptr<FindStream>>> find(const GuestPath& path, const FindQuery& query,
                                                 const CallContext& call) override;
  Task<Result<void>> hold_commands(const std::string& by, std::chrono::milliseconds length,
                                   const CallContext& call) override;
  Task<Result<void>> sync(const CallContext& call) override;
};

}  // namespace cove::guest
