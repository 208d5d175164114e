#include "wire/request.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

#include "wire/cbor.hpp"
#include "wire/fields.hpp"
#include "wire/frame.hpp"

namespace cove::wire {
namespace {

using nlohmann::json;

std::string_view as_text(ByteView bytes) {
  // SAFETY: bytes seen as characters.
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

json id_field(const RequestId& id) { return byte_string(as_text(id)); }

RequestId read_id(Fields& fields, const char* name) {
  RequestId id{};
  const std::string bytes = fields.bytes(name);
  if (bytes.size() != id.size()) fields.fail(std::string(name) + " is not 16 bytes");
  if (bytes.size() == id.size()) {
    std::transform(bytes.begin(), bytes.end(), id.begin(),
                   [](char c) { return static_cast<std::byte>(c); });
  }
  return id;
}

void write_path(json& map, const GuestPath& path) {
  map["session"] = byte_string(path.session);
  map["path"] = byte_string(path.path);
}

GuestPath read_path(Fields& fields) { return {fields.bytes("session"), fields.bytes("path")}; }

std::chrono::milliseconds read_duration(Fields& fields, const char* name) {
  constexpr std::uint64_t kLongest = 1ULL << 40;  // some 34 years of milliseconds
  return std::chrono::milliseconds(std::min(fields.number(name), kLongest));
}

json exec_fields(const ExecRequest& exec) {
  const ExecSpec& spec = exec.spec;
  json map = {{"session", byte_string(exec.session)},
              {"cwd", byte_string(spec.cwd)},
              {"grace_ms", std::max<std::int64_t>(spec.kill_grace.count(), 0)},
              {"head", spec.output.head_bytes},
              {"tail", spec.output.tail_bytes},
              {"max_total", spec.output.max_total_bytes},
              {"streamed", exec.streamed},
              {"stdin", exec.has_stdin},
              {"credit", exec.credit}};
  if (spec.timeout) map["timeout_ms"] = std::max<std::int64_t>(spec.timeout->count(), 0);
  if (exec.argument_bytes > 0) {
    map["argument_bytes"] = exec.argument_bytes;
    return map;
  }
  json& argv = map["argv"] = json::array();
  for (const auto& argument : spec.argv) argv.push_back(byte_string(argument));
  json& env = map["env"] = json::array();
  for (const auto& [name, value] : spec.env) {
    env.push_back(byte_string(name));
    env.push_back(byte_string(value));
  }
  return map;
}

ExecRequest read_exec(Fields& fields) {
  ExecRequest exec;
  exec.session = fields.bytes("session");
  exec.spec.cwd = fields.bytes("cwd");
  exec.spec.kill_grace = read_duration(fields, "grace_ms");
  if (fields.has("timeout_ms")) exec.spec.timeout = read_duration(fields, "timeout_ms");
  exec.spec.output.head_bytes = fields.number("head");
  exec.spec.output.tail_bytes = fields.number("tail");
  exec.spec.output.max_total_bytes = fields.number("max_total");
  exec.streamed = fields.flag("streamed");
  exec.has_stdin = fields.flag("stdin");
  exec.credit = fields.number("credit");
  exec.argument_bytes = fields.number("argument_bytes");
  exec.spec.argv = fields.byte_list("argv");
  auto env = fields.byte_list("env");
  if (env.size() % 2 != 0) fields.fail("env holds a name without a value");
  for (std::size_t i = 0; i + 1 < env.size(); i += 2) {
    exec.spec.env[env[i]] = std::move(env[i + 1]);
  }
  return exec;
}

struct Encoder {
  json operator()(const StatusRequest&) const { return json::object(); }
  json operator()(const SyncRequest&) const { return json::object(); }
  json operator()(const ExecRequest& exec) const { return exec_fields(exec); }
  json operator()(const SignalRequest& request) const {
    return {{"command", id_field(request.command)}, {"signal", request.signal}};
  }
  json operator()(const ReadRequest& request) const {
    json map = {{"offset", request.range.offset}, {"credit", request.credit}};
    if (request.range.length) map["length"] = *request.range.length;
    write_path(map, request.path);
    return map;
  }
  json operator()(const WriteRequest& request) const {
    json map = {{"parents", request.options.create_parents}, {"durable", request.options.durable}};
    if (request.options.mode) map["mode"] = *request.options.mode;
    write_path(map, request.path);
    return map;
  }
  json operator()(const ListRequest& request) const {
    json map = {{"after", byte_string(request.options.after)},
                {"limit", request.options.limit},
                {"credit", request.credit}};
    write_path(map, request.path);
    return map;
  }
  json operator()(const RemoveRequest& request) const {
    json map = {{"recursive", request.recursive}};
    write_path(map, request.path);
    return map;
  }
  json operator()(const GrepRequest& request) const { return to_fields(request); }
  json operator()(const FindRequest& request) const { return to_fields(request); }
  json operator()(const StatRequest& request) const { return path_only(request.path); }
  json operator()(const MakeDirectoryRequest& request) const { return path_only(request.path); }

  static json path_only(const GuestPath& path) {
    json map = json::object();
    write_path(map, path);
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
  RequestKind operator()(const GrepRequest&) const { return RequestKind::kGrep; }
  RequestKind operator()(const FindRequest&) const { return RequestKind::kFind; }
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
  return write;
}

ListRequest read_list(Fields& fields) {
  ListRequest list{.path = read_path(fields), .options = {}, .credit = fields.number("credit")};
  list.options.after = fields.bytes("after");
  list.options.limit = fields.small("limit", 1000);
  return list;
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
    case RequestKind::kSignal:
      request.body = SignalRequest{read_id(fields, "command"),
                                   static_cast<std::int32_t>(fields.small("signal"))};
      return true;
    default: return false;
  }
}

}  // namespace

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
