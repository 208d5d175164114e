/// AgentGuest: Guest over one connection to a cove-agent. Its parts: agent_guest.cpp (connecting,
/// commands), agent_process.cpp (streamed commands), agent_files.cpp, agent_search.cpp.
#pragma once

#include <memory>
#include <string>

#include <cove/guest.hpp>

#include "guest/agent_guest.hpp"
#include "guest/connection.hpp"
#include "wire/request.hpp"

namespace cove::guest {

/// What all calls of one guest work with; kept alive by each of them.
struct Link {
  GuestRuntime runtime;
  std::shared_ptr<Connection> connection;
  GuestCapabilities capabilities;

  /// A request with an id of its own.
  wire::Request request(decltype(wire::Request::body) body) const;
};

using LinkPtr = std::shared_ptr<const Link>;

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

/// Opens a stream for `request`.
Result<std::shared_ptr<StreamOwner>> open_stream(const LinkPtr& link, const wire::Request& request,
                                                 std::uint64_t window);

/// Asks and waits for the answer's payload.
Task<Result<Bytes>> ask(LinkPtr link, wire::Request request, const CallContext& call);

/// Ends the connection where the agent's answer makes no sense, and passes the value on.
template <class T>
Result<T> checked(const Link& link, Result<T> parsed) {
  if (!parsed) {
    link.connection->lose(
        Error(ErrorCode::kIntegrity, "the agent broke the protocol: " + parsed.error().message()));
  }
  return parsed;
}

/// A command's request with what follows it: arguments that do not fit, and stdin.
struct CommandRequest {
  wire::Request request;
  std::deque<Stream::Piece> pieces;
};
Result<CommandRequest> make_command(const Link& link, const std::string& session,
                                    const ExecSpec& spec, bool streamed, bool keep_stdin);

/// How much of a streamed command's output may wait unread.
constexpr std::uint64_t kStreamWindow = 256 * 1024;

/// Opens a streamed command; see Guest::start.
Task<Result<std::shared_ptr<GuestProcess>>> start_process(LinkPtr link, const std::string& session,
                                                          const ExecSpec& spec, bool keep_stdin,
                                                          const CallContext& call);

class AgentGuest final : public Guest {
 public:
  explicit AgentGuest(LinkPtr link) : link_(std::move(link)) {}
  ~AgentGuest() override;

  bool is_connected() const;

  GuestCapabilities capabilities() const override { return link_->capabilities; }
  Task<Result<GuestStatus>> status(const CallContext& call) override;
  Task<Result<ExecResult>> run(const std::string& session, const ExecSpec& spec,
                               const CallContext& call) override;
  Task<Result<std::shared_ptr<GuestProcess>>> start(const std::string& session,
                                                    const ExecSpec& spec, bool keep_stdin,
                                                    const CallContext& call) override;
  Task<Result<std::unique_ptr<ByteSource>>> read_file(const GuestPath& path, const ReadRange& range,
                                                      const CallContext& call) override;
  Task<Result<FileInfo>> write_file(const GuestPath& path, ByteSource& content,
                                    const WriteOptions& options, const CallContext& call) override;
  Task<Result<FileInfo>> stat(const GuestPath& path, const CallContext& call) override;
  Task<Result<FilePage>> list(const GuestPath& path, const ListOptions& options,
                              const CallContext& call) override;
  Task<Result<void>> make_directory(const GuestPath& path, const CallContext& call) override;
  Task<Result<void>> remove(const GuestPath& path, bool recursive,
                            const CallContext& call) override;
  Task<Result<std::unique_ptr<GrepStream>>> grep(const GuestPath& path, const GrepQuery& query,
                                                 const CallContext& call) override;
  Task<Result<std::unique_ptr<FindStream>>> find(const GuestPath& path, const FindQuery& query,
                                                 const CallContext& call) override;
  Task<Result<void>> sync(const CallContext& call) override;

 private:
  LinkPtr link_;
};

}  // namespace cove::guest
