// Background processes: what is asked of them by their id.
#include <utility>

#include "base/text/hex.hpp"
#include "guest/agent_client.hpp"
#include "wire/reply.hpp"

namespace cove::guest {
namespace {

/// More than all processes of an agent can say.
constexpr std::uint64_t kListWindow = 8 * 1024 * 1024;

Error broken(const char* what) { return {ErrorCode::kProvider, what}; }

Result<std::vector<ProcessInfo>> take_list(Stream& stream) {
  if (stream.arrived.size() > wire::kMaxProcesses) return broken("a list of too many processes");
  std::vector<ProcessInfo> processes;
  for (const auto& piece : stream.arrived) {
    COVE_TRY(ProcessInfo info, wire::parse_process_info(piece.bytes));
    processes.push_back(std::move(info));
  }
  COVE_TRY(const auto reply, wire::parse_count(*stream.response));
  if (reply.count != processes.size()) return broken("the list is not as long as it says");
  return processes;
}

Result<OutputSlice> take_slice(Stream& stream, const OutputRequest& request) {
  COVE_TRY(const auto reply, wire::parse_slice(*stream.response));
  OutputSlice slice;
  const auto channel =
      request.stream == OutputStream::kErr ? wire::Channel::kErr : wire::Channel::kOut;
  for (const auto& piece : stream.arrived) {
    if (piece.channel != channel) return broken("output of the other stream");
    slice.bytes.insert(slice.bytes.end(), piece.bytes.begin(), piece.bytes.end());
  }
  if (slice.bytes.size() > request.limit) return broken("more output than was asked for");
  if (reply.offset < request.offset || reply.offset - request.offset != reply.gone ||
      reply.offset > UINT64_MAX - slice.bytes.size()) {
    return broken("output from another offset than was asked for");
  }
  slice.offset = reply.offset;
  slice.next = reply.offset + slice.bytes.size();
  slice.gone = reply.gone;
  slice.at_end = reply.at_end;
  return slice;
}

}  // namespace

Result<ProcessInfo> process_info_of(ByteView payload, const wire::RequestId& id) {
  COVE_TRY(ProcessInfo info, wire::parse_process_info(payload));
  if (info.id.str() == base::to_hex(id)) return info;
  return broken("it tells of another process than was asked for");
}

Result<wire::RequestId> request_id_of(const ProcessId& id) {
  if (const auto request = wire::id_from_hex(id.str())) return *request;
  return Error(ErrorCode::kNotFound, "there is no process with such an id");
}

Task<Result<ProcessInfo>> AgentGuest::start_process(const std::string& session,
                                                    const ExecSpec& spec,
                                                    const ProcessOptions& options,
                                                    const CallContext& call) {
  const LinkPtr link = link_;
  COVE_CO_TRY_VOID(call.check(link->runtime.clock));
  COVE_CO_TRY_VOID(wire::check_background(options));
  CommandForm form;
  form.keep_stdin = true;
  form.background = options;
  COVE_CO_TRY(CommandRequest command, make_command(*link, session, spec, form, call));
  COVE_CO_TRY(const auto owner, open_stream(link, command.request, 0));
  StreamOwner& stream = *owner;
  for (auto& piece : command.pieces) link->connection->send(*stream, std::move(piece));
  while (!stream->is_over()) COVE_CO_TRY_VOID(co_await stream->changed(call));
  if (stream->error) co_return *stream->error;
  co_return checked(*link, process_info_of(*stream->response, command.request.id));
}

Task<Result<std::vector<ProcessInfo>>> AgentGuest::list_processes(const CallContext& call) {
  const LinkPtr link = link_;
  COVE_CO_TRY_VOID(call.check(link->runtime.clock));
  const wire::ListProcessesRequest body;
  const wire::Request request = link->request(body, call);
  COVE_CO_TRY(const auto owner, open_stream(link, request, kListWindow));
  StreamOwner& stream = *owner;
  while (!stream->is_over()) COVE_CO_TRY_VOID(co_await stream->changed(call));
  if (stream->error) co_return *stream->error;
  co_return checked(*link, take_list(*stream));
}

Task<Result<ProcessInfo>> AgentGuest::find_process(const ProcessId& id, const CallContext& call) {
  const LinkPtr link = link_;
  wire::FindProcessRequest body;
  COVE_CO_TRY(body.process, request_id_of(id));
  wire::Request request = link->request(body, call);
  COVE_CO_TRY(const Bytes payload, co_await ask(link, std::move(request), call));
  co_return checked(*link, process_info_of(payload, body.process));
}

Task<Result<OutputSlice>> AgentGuest::process_output(const ProcessId& id,
                                                     const OutputRequest& request,
                                                     const CallContext& call) {
  const LinkPtr link = link_;
  COVE_CO_TRY_VOID(call.check(link->runtime.clock));
  COVE_CO_TRY_VOID(wire::check_output_request(request));
  wire::ProcessOutputRequest body;
  COVE_CO_TRY(body.process, request_id_of(id));
  body.range = request;
  const wire::Request asked = link->request(body, call);
  COVE_CO_TRY(const auto owner, open_stream(link, asked, request.limit));
  StreamOwner& stream = *owner;
  stream->takes_output = true;
  while (!stream->is_over()) COVE_CO_TRY_VOID(co_await stream->changed(call));
  if (stream->error) co_return *stream->error;
  co_return checked(*link, take_slice(*stream, request));
}

Task<Result<std::shared_ptr<GuestProcess>>> AgentGuest::attach(const ProcessId& id,
                                                               const AttachOptions& options,
                                                               const CallContext& call) {
  return attach_to(link_, id, options, call);
}

Task<Result<void>> AgentGuest::remove_process(const ProcessId& id, const CallContext& call) {
  const LinkPtr link = link_;
  wire::RemoveProcessRequest body;
  COVE_CO_TRY(body.process, request_id_of(id));
  wire::Request request = link->request(body, call);
  co_return co_await ask_plainly(link, std::move(request), call);
}

}  // namespace cove::guest
