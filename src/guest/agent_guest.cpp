#include <algorithm>
#include <utility>

#include "guest/agent_client.hpp"
#include "guest/agent_egress.hpp"
#include "wire/kept_output.hpp"
#include "wire/reply.hpp"

namespace cove::guest {
namespace {

constexpr std::chrono::seconds kGreetingTime{10};

wire::Greeting greeting_of(const AgentIdentity& identity) {
  wire::Greeting greeting;
  greeting.deployment = identity.deployment;
  greeting.sandbox = identity.sandbox;
  greeting.generation = identity.generation;
  greeting.epoch = identity.epoch;
  return greeting;
}

GuestCapabilities capabilities_of(const wire::Greeting& greeting) {
  const auto has = [&](const char* name) {
    const auto& all = greeting.capabilities;
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  return {.pty = has("pty"),
          .stdin_stream = has("stdin"),
          .exact_bytes = has("exact_bytes"),
          .kernel_paths = has("kernel_paths"),
          .kill_tree = has("kill_tree"),
          .home_files = has("home"),
          .holds = has("hold")};
}

Result<void> check_greeting(const wire::Greeting& ours, const wire::Greeting& theirs) {
  const auto version = wire::common_version(ours, theirs);
  if (!version) return version.error();
  if (theirs.auth != "none") {
    return Error(ErrorCode::kUnsupported,
                 "the agent asks for a proof that this host does not know");
  }
  return wire::check_identity(ours, theirs);
}

/// Puts one stream of a captured command together. False: the bytes are not what the agent says.
bool take_output(std::deque<Stream::Piece>& arrived, wire::Channel channel,
                 const wire::StreamCounts& counts, StreamOutput& output) {
  std::string bytes;
  for (const auto& piece : arrived) {
    if (piece.channel != channel) continue;
    // SAFETY: bytes seen as characters.
    bytes.append(reinterpret_cast<const char*>(piece.bytes.data()), piece.bytes.size());
  }
  const std::uint64_t kept = counts.head_bytes + counts.tail_bytes;
  if (counts.head_bytes > bytes.size() || kept != bytes.size()) return false;
  if (counts.total_bytes < kept || counts.total_bytes - kept != counts.dropped_bytes) return false;
  output.tail = bytes.substr(static_cast<std::size_t>(counts.head_bytes));
  bytes.resize(static_cast<std::size_t>(counts.head_bytes));
  output.head = std::move(bytes);
  output.total_bytes = counts.total_bytes;
  output.dropped_bytes = counts.dropped_bytes;
  return true;
}

Result<ExecResult> captured_result(Stream& stream) {
  COVE_TRY(const auto reply, wire::parse_exec_reply(*stream.response));
  ExecResult result = wire::result_of(reply);
  if (!take_output(stream.arrived, wire::Channel::kOut, reply.out, result.out) ||
      !take_output(stream.arrived, wire::Channel::kErr, reply.err, result.err)) {
    return Error(ErrorCode::kProvider, "the output is not as long as the answer says");
  }
  return result;
}

/// Waits for the end of a captured command. When the call ends first the tree is ended, and its
/// real end is waited for, but not for ever: an agent that does not answer is none.
Task<Result<void>> await_command(const StreamOwner& stream, const ExecSpec& spec,
                                 const CallContext& call) {
  CommandWait wait(*stream.link(), spec);
  CallContext patience = call;
  bool ending = false;
  while (!stream->is_over()) {
    const Result<void> changed = co_await wait.changed(stream, patience);
    if (changed) continue;
    if (changed.error().code() == ErrorCode::kUnavailable) co_return changed.error();
    if (ending) co_return silent_agent("say within 10 s that the command ended");
    ending = true;
    const wire::Cancel cancel{.timed_out = changed.error().code() == ErrorCode::kTimeout,
                              .discard = false};
    stream.link()->connection->cancel(*stream, cancel);
    patience = CallContext();
    patience.deadline = stream.link()->runtime.clock.now() + spec.kill_grace + kEndTime;
  }
  if (stream->error) co_return *stream->error;
  co_return ok();
}

}  // namespace

wire::Request Link::request(decltype(wire::Request::body) body, const CallContext& call) const {
  wire::Request request;
  request.fence = call.fence;
  runtime.ids.fill(request.id);
  request.body = std::move(body);
  return request;
}

StreamOwner::~StreamOwner() {
  if (link_->runtime.loop.on_thread()) {
    link_->connection->release(stream_);
    return;
  }
  link_->runtime.loop.post([link = link_, stream = stream_] { link->connection->release(stream); });
}

Result<std::shared_ptr<StreamOwner>> open_stream(const LinkPtr& link, const wire::Request& request,
                                                 std::uint64_t window, bool data_follows) {
  COVE_TRY(const GuestRoot root, wire::root_of(request));
  // An agent that does not know the field would take the workspace.
  if (root == GuestRoot::kHome && !link->capabilities.home_files) {
    return Error(ErrorCode::kUnsupported,
                 "this sandbox runs an older agent, or has no HOME; it gets files of HOME at its "
                 "next start");
  }
  COVE_TRY(const Bytes payload, wire::encode_request(request));
  return std::make_shared<StreamOwner>(link, link->connection->open(payload, window, data_follows));
}

Task<Result<Bytes>> ask(LinkPtr link, wire::Request request, const CallContext& call) {
  COVE_CO_TRY_VOID(call.check(link->runtime.clock));
  COVE_CO_TRY(const auto owner, open_stream(link, request, 0));
  StreamOwner& stream = *owner;
  while (!stream->is_over()) COVE_CO_TRY_VOID(co_await stream->changed(call));
  if (stream->error) co_return *stream->error;
  co_return std::move(*stream->response);
}

Task<Result<void>> ask_plainly(LinkPtr link, wire::Request request, const CallContext& call) {
  const Result<Bytes> answer = co_await ask(link, std::move(request), call);
  if (!answer) co_return answer.error();
  co_return checked(*link, wire::parse_nothing(*answer));
}

Result<CommandRequest> make_command(const Link& link, const std::string& session,
                                    const ExecSpec& spec, const CommandForm& form,
                                    const CallContext& call) {
  COVE_TRY_VOID(wire::check_exec(spec));
  wire::ExecRequest exec;
  exec.session = session;
  exec.spec = spec;
  exec.spec.stdin_data.clear();
  wire::pack_line(exec);
  exec.streamed = form.streamed;
  exec.has_stdin = form.keep_stdin || !spec.stdin_data.empty();
  exec.credit = form.streamed ? kStreamWindow : 0;
  exec.background = form.background;
  CommandRequest command;
  Bytes arguments = wire::pack_arguments(exec.spec);
  // Half of a control payload leaves room for the rest of the request.
  if (arguments.size() > wire::kMaxControlBytes / 2) {
    if (arguments.size() > wire::kMaxArgumentBytes) {
      return Error(ErrorCode::kTooLarge, "the arguments and the environment have " +
                                             std::to_string(arguments.size()) +
                                             " bytes: put them into a file or stdin");
    }
    exec.argument_bytes = arguments.size();
    command.pieces.push_back({wire::Channel::kArguments, std::move(arguments)});
  }
  if (exec.has_stdin) {
    const auto bytes = std::as_bytes(std::span(spec.stdin_data));
    Bytes stdin_bytes(bytes.begin(), bytes.end());
    command.pieces.push_back({wire::Channel::kMain, std::move(stdin_bytes), !form.keep_stdin});
  }
  command.request = link.request(std::move(exec), call);
  return command;
}

AgentGuest::~AgentGuest() {
  // Calls that are in flight hear of it; the object itself may die on any thread.
  link_->runtime.loop.post([connection = link_->connection] {
    connection->lose(Error(ErrorCode::kUnavailable, "the guest was closed"));
  });
}

bool AgentGuest::is_connected() const { return link_->connection->is_open(); }

Task<Result<GuestStatus>> AgentGuest::status(const CallContext& call) {
  const LinkPtr link = link_;
  const wire::StatusRequest body;
  wire::Request request = link->request(body, call);
  COVE_CO_TRY(const Bytes payload, co_await ask(link, std::move(request), call));
  co_return checked(*link, wire::parse_status(payload));
}

Task<Result<void>> AgentGuest::hold_commands(const std::string& by,
                                             std::chrono::milliseconds length,
                                             const CallContext& call) {
  const LinkPtr link = link_;
  // An older agent does not know the request; its commands are kept back by the hosts alone.
  if (!link->capabilities.holds) co_return ok();
  wire::PrepareStopRequest body{
      by, static_cast<std::uint32_t>(std::clamp<std::int64_t>(length.count(), 0, 60'000))};
  wire::Request request = link->request(std::move(body), call);
  co_return co_await ask_plainly(link, std::move(request), call);
}

Task<Result<ExecResult>> AgentGuest::run(const std::string& session, const ExecSpec& spec,
                                         const CallContext& call) {
  const LinkPtr link = link_;
  COVE_CO_TRY_VOID(call.check(link->runtime.clock));
  COVE_CO_TRY(CommandRequest command, make_command(*link, session, spec, CommandForm(), call));
  const std::uint64_t window = 2 * (spec.output.head_bytes + spec.output.tail_bytes);
  COVE_CO_TRY(const auto owner, open_stream(link, command.request, window));
  StreamOwner& stream = *owner;
  stream->collect = command.request.id;
  stream->takes_output = true;
  for (auto& piece : command.pieces) link->connection->send(*stream, std::move(piece));
  COVE_CO_TRY_VOID(co_await await_command(stream, spec, call));
  co_return checked(*link, captured_result(*stream));
}

Task<Result<std::shared_ptr<GuestProcess>>> AgentGuest::start(const std::string& session,
                                                              const ExecSpec& spec, bool keep_stdin,
                                                              const CallContext& call) {
  return start_streamed(link_, session, spec, keep_stdin, call);
}

Task<Result<std::shared_ptr<Guest>>> connect_agent(GuestRuntime runtime, base::UniqueFd socket,
                                                   AgentIdentity identity,
                                                   const CallContext& call) {
  COVE_CO_TRY_VOID(call.check(runtime.clock));
  const auto connection = std::make_shared<Connection>(runtime.loop, runtime.clock);
  COVE_CO_TRY_VOID(connection->start(std::move(socket)));
  CallContext patience = call;
  const Instant limit = runtime.clock.now() + kGreetingTime;
  const bool ours = !call.deadline || *call.deadline > limit;
  if (ours) patience.deadline = limit;
  Result<wire::Greeting> greeting = co_await connection->greeting(patience);
  wire::Greeting expected = greeting_of(identity);
  if (!greeting && ours && greeting.error().code() == ErrorCode::kTimeout) {
    greeting = silent_agent("greet within 10 s");
  }
  Result<void> accepted = greeting ? check_greeting(expected, *greeting) : greeting.error();
  if (!accepted) {
    connection->lose(accepted.error());
    co_return accepted.error();
  }
  if (runtime.egress != nullptr) {
    serve_egress(runtime.loop, *connection, *runtime.egress, SandboxId(identity.sandbox));
    expected.capabilities.emplace_back(wire::kProxyCapability);
  }
  connection->greet(expected);
  auto link = std::make_shared<Link>(
      Link{std::move(runtime), connection, capabilities_of(*greeting), std::move(identity)});
  co_return std::shared_ptr<Guest>(std::make_shared<AgentGuest>(std::move(link)));
}

bool is_connected(const Guest& guest) {
  const auto* agent = dynamic_cast<const AgentGuest*>(&guest);
  return agent != nullptr && agent->is_connected();
}

}  // namespace cove::guest
