#include "wire/request.hpp"

#include <string>

#include "wire/cbor.hpp"
#include "wire/fields.hpp"
#include "wire/frame.hpp"
#include "wire/path_fields.hpp"

namespace cove::wire {
namespace {

using nlohmann::json;

struct RootOf {
  Result<GuestRoot> operator()(const FileRequest& request) const {
    return std::visit(*this, request.body);
  }
  template <class Asked>
  Result<GuestRoot> operator()(const Asked& request) const {
    if constexpr (requires { request.to.root; }) {
      if (request.from.root == request.to.root) return request.from.root;
      return Error(ErrorCode::kInvalidArgument,
                   "nothing is moved or copied between the workspace and HOME");
    } else if constexpr (requires { request.start.path.root; }) {
      if (request.start.path.root == GuestRoot::kWorkspace) return GuestRoot::kWorkspace;
      return Error(ErrorCode::kInvalidArgument, "searches are made in the workspace");
    } else if constexpr (requires { request.path.root; }) {
      return request.path.root;
    } else {
      return GuestRoot::kWorkspace;
    }
  }
};

struct Encoder {
  json operator()(const StatusRequest&) const { return json::object(); }
  json operator()(const SyncRequest&) const { return json::object(); }
  json operator()(const ExecRequest& exec) const { return exec_fields(exec); }
  json operator()(const ListProcessesRequest&) const { return json::object(); }
  template <class Asked>
  json operator()(const Asked& request) const {
    return to_fields(request);
  }
  json operator()(const ReadRequest& request) const {
    json map = {{"offset", request.range.offset}, {"credit", request.credit}};
    if (request.range.length) map["length"] = *request.range.length;
    put_path(map, request.path);
    return map;
  }
  json operator()(const WriteRequest& request) const {
    json map = {{"parents", request.options.create_parents}, {"durable", request.options.durable}};
    if (request.options.mode) map["mode"] = *request.options.mode;
    if (request.options.append) map["append"] = true;
    if (request.options.if_absent) map["absent"] = true;
    if (request.options.if_unchanged_since) {
      map["unchanged"] = byte_string(*request.options.if_unchanged_since);
    }
    put_path(map, request.path);
    return map;
  }
  json operator()(const ListRequest& request) const {
    json map = {{"after", byte_string(request.options.after)},
                {"limit", request.options.limit},
                {"depth", request.options.depth},
                {"credit", request.credit}};
    put_path(map, request.path);
    return map;
  }
  json operator()(const RemoveRequest& request) const {
    json map = {{"recursive", request.recursive}};
    put_path(map, request.path);
    return map;
  }
  json operator()(const StatRequest& request) const { return path_only(request.path); }
  json operator()(const MakeDirectoryRequest& request) const { return path_only(request.path); }

  static json path_only(const GuestPath& path) {
    json map = json::object();
    put_path(map, path);
    return map;
  }
};

struct Kind {
  RequestKind operator()(const StatusRequest&) const { return RequestKind::kStatus; }
  RequestKind operator()(const ExecRequest&) const { return RequestKind::kExec; }
  RequestKind operator()(const SignalRequest&) const { return RequestKind::kSignal; }
  RequestKind operator()(const ReadRequest&) const { return RequestKind::kRead; }
  RequestKind operator()(const WriteRequest&) const { return RequestKind::kWrite; }
  RequestKind operator()(const StatRequest&) const { return RequestKind::kStat; }
  RequestKind operator()(const ListRequest&) const { return RequestKind::kList; }
  RequestKind operator()(const MakeDirectoryRequest&) const { return RequestKind::kMakeDirectory; }
  RequestKind operator()(const RemoveRequest&) const { return RequestKind::kRemove; }
  RequestKind operator()(const SyncRequest&) const { return RequestKind::kSync; }
  RequestKind operator()(const ResizeRequest&) const { return RequestKind::kResize; }
  RequestKind operator()(const ListProcessesRequest&) const { return RequestKind::kListProcesses; }
  RequestKind operator()(const FindProcessRequest&) const { return RequestKind::kFindProcess; }
  RequestKind operator()(const ProcessOutputRequest&) const { return RequestKind::kProcessOutput; }
  RequestKind operator()(const AttachRequest&) const { return RequestKind::kAttach; }
  RequestKind operator()(const RemoveProcessRequest&) const { return RequestKind::kRemoveProcess; }
  RequestKind operator()(const FileRequest& request) const { return kind_of(request); }
  RequestKind operator()(const GrepRequest&) const { return RequestKind::kGrep; }
  RequestKind operator()(const FindRequest&) const { return RequestKind::kFind; }
  RequestKind operator()(const PrepareStopRequest&) const { return RequestKind::kPrepareStop; }
};

ReadRequest read_read(Fields& fields) {
  ReadRequest read{.path = read_path(fields), .range = {}, .credit = fields.number("credit")};
  read.range.offset = fields.number("offset");
  if (fields.has("length")) read.range.length = fields.number("length");
  return read;
}

WriteRequest read_write(Fields& fields) {
  WriteRequest write{.path = read_path(fields), .options = {}};
  if (fields.has("mode")) write.options.mode = fields.small("mode") & 07777U;
  write.options.create_parents = fields.flag("parents", true);
  write.options.durable = fields.flag("durable");
  write.options.append = fields.flag("append");
  write.options.if_absent = fields.flag("absent");
  if (fields.has("unchanged")) write.options.if_unchanged_since = fields.bytes("unchanged");
  return write;
}

ListRequest read_list(Fields& fields) {
  ListRequest list{.path = read_path(fields), .options = {}, .credit = fields.number("credit")};
  list.options.after = fields.bytes("after");
  list.options.limit = fields.small("limit", 1000);
  list.options.depth = fields.small("depth", 1);
  return list;
}

bool read_process_body(RequestKind kind, Fields& fields, Request& request) {
  switch (kind) {
    case RequestKind::kSignal: request.body = read_signal(fields); return true;
    case RequestKind::kResize: request.body = read_resize(fields); return true;
    case RequestKind::kListProcesses: request.body = ListProcessesRequest{}; return true;
    case RequestKind::kFindProcess: request.body = read_find_process(fields); return true;
    case RequestKind::kProcessOutput: request.body = read_process_output(fields); return true;
    case RequestKind::kAttach: request.body = read_attach(fields); return true;
    case RequestKind::kRemoveProcess: request.body = read_remove_process(fields); return true;
    case RequestKind::kPrepareStop: request.body = read_prepare_stop(fields); return true;
    default: return false;
  }
}

bool read_file_body(RequestKind kind, Fields& fields, Request& request) {
  std::optional<FileRequest> file = read_file_request(kind, fields);
  if (!file) return false;
  request.body = *std::move(file);
  return true;
}

bool read_body(RequestKind kind, Fields& fields, Request& request) {
  switch (kind) {
    case RequestKind::kStatus: request.body = StatusRequest{}; return true;
    case RequestKind::kSync: request.body = SyncRequest{}; return true;
    case RequestKind::kExec: request.body = read_exec(fields); return true;
    case RequestKind::kRead: request.body = read_read(fields); return true;
    case RequestKind::kWrite: request.body = read_write(fields); return true;
    case RequestKind::kStat: request.body = StatRequest{read_path(fields)}; return true;
    case RequestKind::kList: request.body = read_list(fields); return true;
    case RequestKind::kGrep: request.body = read_grep(fields); return true;
    case RequestKind::kFind: request.body = read_find(fields); return true;
    case RequestKind::kMakeDirectory:
      request.body = MakeDirectoryRequest{read_path(fields)};
      return true;
    case RequestKind::kRemove:
      request.body = RemoveRequest{read_path(fields), fields.flag("recursive")};
      return true;
    default: break;
  }
  return read_process_body(kind, fields, request) || read_file_body(kind, fields, request);
}

}  // namespace

Result<GuestRoot> root_of(const Request& request) { return std::visit(RootOf{}, request.body); }

Result<Bytes> encode_request(const Request& request) {
  json map = std::visit(Encoder{}, request.body);
  map["id"] = id_field(request.id);
  map["kind"] = static_cast<std::uint32_t>(std::visit(Kind{}, request.body));
  if (request.fence > 0) map["fence"] = request.fence;
  Bytes payload = encode_cbor(map);
  if (payload.size() > kMaxControlBytes) {
    return Error(ErrorCode::kTooLarge, "the request has " + std::to_string(payload.size()) +
                                           " bytes, more than " + std::to_string(kMaxControlBytes));
  }
  return payload;
}

Result<Request> parse_request(ByteView payload) {
  COVE_TRY(const auto map, decode_cbor(payload));
  Fields fields(map);
  Request request;
  request.id = read_id(fields, "id");
  request.fence = fields.number("fence");
  const auto kind = static_cast<RequestKind>(fields.small("kind"));
  COVE_TRY_VOID(fields.result());
  if (!read_body(kind, fields, request)) {
    return Error(ErrorCode::kUnsupported, "this agent does not know requests of kind " +
                                              std::to_string(static_cast<std::uint32_t>(kind)));
  }
  COVE_TRY_VOID(fields.result());
  return request;
}

Bytes encode_cancel(const Cancel& cancel) {
  return encode_cbor({{"timed_out", cancel.timed_out}, {"discard", cancel.discard}});
}

Result<Cancel> parse_cancel(ByteView payload) {
  COVE_TRY(const auto map, decode_cbor(payload));
  Fields fields(map);
  const Cancel cancel{fields.flag("timed_out"), fields.flag("discard")};
  COVE_TRY_VOID(fields.result());
  return cancel;
}

}  // namespace cove::wire
