// Changes of names and texts over the wire.
#include <utility>

#include "guest/agent_client.hpp"
#include "wire/file_reply.hpp"
#include "wire/reply.hpp"

namespace cove::guest {
namespace {

Task<Result<FileInfo>> ask_for_info(LinkPtr link, wire::Request request, const CallContext& call) {
  COVE_CO_TRY(const Bytes payload, co_await ask(link, std::move(request), call));
  co_return checked(*link, wire::parse_file_info(payload));
}

/// What the agent would refuse, without sending up to gigabytes of it.
Result<void> check_edits(const std::vector<Edit>& edits) {
  if (edits.size() > wire::kMaxEdits) {
    return Error(ErrorCode::kTooLarge,
                 std::to_string(edits.size()) + " edits of one file; at most 1000 go at once");
  }
  if (wire::edit_bytes(wire::shapes_of(edits))) return ok();
  return Error(ErrorCode::kTooLarge,
               "the texts of the edits have more than 16 MiB; write the whole file instead");
}

}  // namespace

Task<Result<EditResult>> AgentFiles::edit_file(const GuestPath& path,
                                               const std::vector<Edit>& edits,
                                               const EditOptions& options,
                                               const CallContext& call) {
  const LinkPtr link = link_;
  COVE_CO_TRY_VOID(call.check(link->runtime.clock));
  COVE_CO_TRY_VOID(check_edits(edits));
  wire::EditRequest body;
  body.path = path;
  body.edits = wire::shapes_of(edits);
  body.options = options;
  const wire::Request request = file_request(*link, std::move(body), call);
  COVE_CO_TRY(const auto owner, open_stream(link, request, 0, true));
  StreamOwner& stream = *owner;
  Stream::Piece piece;
  piece.bytes = wire::pack_edits(edits);
  piece.end = true;
  link->connection->send(*stream, std::move(piece));
  COVE_CO_TRY_VOID(co_await await_settled(stream, call));
  COVE_CO_TRY_VOID(check_all_sent(stream));
  COVE_CO_TRY(EditResult result, checked(*link, wire::parse_edit_result(*stream->response)));
  if (result.edits.size() == edits.size()) co_return result;
  const Error error(ErrorCode::kIntegrity, "as many outcomes as edits are missing");
  co_return checked<EditResult>(*link, error);
}

Task<Result<void>> AgentFiles::make_directory(const GuestPath& path, const CallContext& call) {
  wire::MakeDirectoryRequest body;
  body.path = path;
  return ask_plainly(link_, link_->request(std::move(body), call), call);
}

Task<Result<void>> AgentFiles::remove(const GuestPath& path, bool recursive,
                                      const CallContext& call) {
  wire::RemoveRequest body;
  body.path = path;
  body.recursive = recursive;
  return ask_plainly(link_, link_->request(std::move(body), call), call);
}

Task<Result<FileInfo>> AgentFiles::move(const GuestPath& from, const GuestPath& to,
                                        const MoveOptions& options, const CallContext& call) {
  wire::MoveRequest body;
  body.from = from;
  body.to = to;
  body.options = options;
  return ask_for_info(link_, file_request(*link_, std::move(body), call), call);
}

Task<Result<TreeCounts>> AgentFiles::copy(const GuestPath& from, const GuestPath& to,
                                          const CopyOptions& options, const CallContext& call) {
  const LinkPtr link = link_;
  wire::CopyRequest body;
  body.from = from;
  body.to = to;
  body.options = options;
  COVE_CO_TRY_VOID(call.check(link->runtime.clock));
  const wire::Request request = file_request(*link, std::move(body), call);
  COVE_CO_TRY(const auto owner, open_stream(link, request, 0));
  COVE_CO_TRY_VOID(co_await await_settled(*owner, call));
  co_return checked(*link, wire::parse_tree_counts(*(*owner)->response));
}

Task<Result<FileInfo>> AgentFiles::set_mode(const GuestPath& path, std::uint32_t mode,
                                            const CallContext& call) {
  wire::SetModeRequest body;
  body.path = path;
  body.mode = mode;
  return ask_for_info(link_, file_request(*link_, std::move(body), call), call);
}

Task<Result<FileInfo>> AgentFiles::make_symlink(const GuestPath& path, const std::string& target,
                                                const CallContext& call) {
  wire::MakeSymlinkRequest body;
  body.path = path;
  body.target = target;
  return ask_for_info(link_, file_request(*link_, std::move(body), call), call);
}

}  // namespace cove::guest
