#include "wire/file_request.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <string_view>

#include "wire/path_fields.hpp"
#include "wire/request.hpp"

namespace cove::wire {
namespace {

using nlohmann::json;

json path_map(const GuestPath& path) {
  json map = json::object();
  put_path(map, path);
  return map;
}

json two_paths(const GuestPath& from, const GuestPath& to, const MoveOptions& options) {
  json map = path_map(from);
  map["to_session"] = byte_string(to.session);
  map["to"] = byte_string(to.path);
  map["overwrite"] = options.overwrite;
  map["parents"] = options.create_parents;
  return map;
}

struct Encoder {
  json operator()(const ReadLinesRequest& request) const {
    json map = path_map(request.path);
    map["first"] = request.range.first;
    map["count"] = request.range.count;
    map["max_bytes"] = request.range.max_bytes;
    map["credit"] = request.credit;
    return map;
  }
  json operator()(const EditRequest& request) const {
    json map = path_map(request.path);
    json& edits = map["edits"] = json::array();
    for (const EditShape& edit : request.edits) {
      edits.push_back(json::array({edit.old_bytes, edit.new_bytes, edit.replace_all}));
    }
    map["durable"] = request.options.durable;
    if (request.options.if_unchanged_since) {
      map["unchanged"] = byte_string(*request.options.if_unchanged_since);
    }
    return map;
  }
  json operator()(const MoveRequest& request) const {
    return two_paths(request.from, request.to, request.options);
  }
  json operator()(const CopyRequest& request) const {
    return two_paths(request.from, request.to, request.options);
  }
  json operator()(const SetModeRequest& request) const {
    json map = path_map(request.path);
    map["mode"] = request.mode;
    return map;
  }
  json operator()(const MakeSymlinkRequest& request) const {
    json map = path_map(request.path);
    map["target"] = byte_string(request.target);
    return map;
  }
  json operator()(const TreeOutRequest& request) const {
    json map = path_map(request.path);
    map["credit"] = request.credit;
    return map;
  }
  json operator()(const TreeInRequest& request) const { return path_map(request.path); }
  json operator()(const WatchRequest& request) const {
    json map = path_map(request.path);
    map["recursive"] = request.options.recursive;
    map["max_directories"] = request.options.max_directories;
    map["credit"] = request.credit;
    return map;
  }
};

struct Kind {
  RequestKind operator()(const ReadLinesRequest&) const { return RequestKind::kReadLines; }
  RequestKind operator()(const EditRequest&) const { return RequestKind::kEdit; }
  RequestKind operator()(const MoveRequest&) const { return RequestKind::kMove; }
  RequestKind operator()(const CopyRequest&) const { return RequestKind::kCopy; }
  RequestKind operator()(const SetModeRequest&) const { return RequestKind::kSetMode; }
  RequestKind operator()(const MakeSymlinkRequest&) const { return RequestKind::kMakeSymlink; }
  RequestKind operator()(const TreeOutRequest&) const { return RequestKind::kTreeOut; }
  RequestKind operator()(const TreeInRequest&) const { return RequestKind::kTreeIn; }
  RequestKind operator()(const WatchRequest&) const { return RequestKind::kWatch; }
};

ReadLinesRequest read_lines(Fields& fields) {
  const LineRange usual;
  ReadLinesRequest request{.path = read_path(fields), .range = {}, .credit = {}};
  request.range.first = fields.number("first", usual.first);
  request.range.count = fields.number("count", usual.count);
  request.range.max_bytes = fields.number("max_bytes", usual.max_bytes);
  request.credit = fields.number("credit");
  return request;
}

EditRequest read_edit(Fields& fields) {
  EditRequest request{.path = read_path(fields), .edits = {}, .options = {}};
  request.options.durable = fields.flag("durable");
  if (fields.has("unchanged")) request.options.if_unchanged_since = fields.bytes("unchanged");
  const json* edits = fields.list("edits");
  if (edits == nullptr) return request;
  if (edits->size() > kMaxEdits) fields.fail("there are more than 1000 edits");
  for (const json& edit : *edits) {
    const bool good = edit.is_array() && edit.size() == 3 && edit[0].is_number_unsigned() &&
                      edit[1].is_number_unsigned() && edit[2].is_boolean();
    if (!good) fields.fail("an edit is not its lengths and a flag");
    if (!good) break;
    request.edits.push_back({edit[0], edit[1], edit[2]});
  }
  return request;
}

template <class T>
T read_two_paths(Fields& fields) {
  T request{.from = read_path(fields), .to = {}, .options = {}};
  request.to = {fields.bytes("to_session"), fields.bytes("to"), request.from.root};
  request.options.overwrite = fields.flag("overwrite");
  request.options.create_parents = fields.flag("parents", true);
  return request;
}

WatchRequest read_watch(Fields& fields) {
  const WatchOptions usual;
  WatchRequest request{.path = read_path(fields), .options = {}, .credit = {}};
  request.options.recursive = fields.flag("recursive", usual.recursive);
  request.options.max_directories = fields.small("max_directories", usual.max_directories);
  request.credit = fields.number("credit");
  return request;
}

void append(Bytes& out, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

std::string take(ByteView& bytes, std::uint64_t length) {
  const ByteView front = bytes.first(static_cast<std::size_t>(length));
  bytes = bytes.subspan(front.size());
  // SAFETY: bytes seen as characters.
  return {reinterpret_cast<const char*>(front.data()), front.size()};
}

}  // namespace

RequestKind kind_of(const FileRequest& request) { return std::visit(Kind{}, request.body); }

json to_fields(const FileRequest& request) { return std::visit(Encoder{}, request.body); }

std::optional<FileRequest> read_file_request(RequestKind kind, Fields& fields) {
  switch (kind) {
    case RequestKind::kReadLines: return FileRequest{read_lines(fields)};
    case RequestKind::kEdit: return FileRequest{read_edit(fields)};
    case RequestKind::kMove: return FileRequest{read_two_paths<MoveRequest>(fields)};
    case RequestKind::kCopy: return FileRequest{read_two_paths<CopyRequest>(fields)};
    case RequestKind::kSetMode:
      return FileRequest{SetModeRequest{read_path(fields), fields.small("mode")}};
    case RequestKind::kMakeSymlink:
      return FileRequest{MakeSymlinkRequest{read_path(fields), fields.bytes("target")}};
    case RequestKind::kTreeOut:
      return FileRequest{TreeOutRequest{read_path(fields), fields.number("credit")}};
    case RequestKind::kTreeIn: return FileRequest{TreeInRequest{read_path(fields)}};
    case RequestKind::kWatch: return FileRequest{read_watch(fields)};
    default: return std::nullopt;
  }
}

std::vector<EditShape> shapes_of(const std::vector<Edit>& edits) {
  std::vector<EditShape> shapes;
  shapes.reserve(edits.size());
  for (const Edit& edit : edits) {
    shapes.push_back({edit.old_text.size(), edit.new_text.size(), edit.replace_all});
  }
  return shapes;
}

Bytes pack_edits(const std::vector<Edit>& edits) {
  Bytes texts;
  for (const Edit& edit : edits) {
    append(texts, edit.old_text);
    append(texts, edit.new_text);
  }
  return texts;
}

std::optional<std::uint64_t> edit_bytes(const std::vector<EditShape>& shapes) {
  std::uint64_t bytes = 0;
  for (const EditShape& shape : shapes) {
    if (shape.old_bytes > kMaxEditBytes || shape.new_bytes > kMaxEditBytes) return std::nullopt;
    bytes += shape.old_bytes + shape.new_bytes;
    if (bytes > kMaxEditBytes) return std::nullopt;
  }
  return bytes;
}

Result<std::vector<Edit>> unpack_edits(const std::vector<EditShape>& shapes, ByteView texts) {
  if (edit_bytes(shapes) != texts.size()) {
    return Error(ErrorCode::kIntegrity, "wire: the edits' texts are not as long as announced");
  }
  std::vector<Edit> edits;
  edits.reserve(shapes.size());
  for (const EditShape& shape : shapes) {
    Edit edit;
    edit.old_text = take(texts, shape.old_bytes);
    edit.new_text = take(texts, shape.new_bytes);
    edit.replace_all = shape.replace_all;
    edits.push_back(std::move(edit));
  }
  return edits;
}

}  // namespace cove::wire
