/// What a host asks of an agent's files beyond reading, writing and listing (request.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <cove/edit.hpp>
#include <cove/file_watch.hpp>
#include <cove/guest_files.hpp>
#include <cove/result.hpp>

namespace cove::wire {

enum class RequestKind : std::uint32_t;
class Fields;

struct ReadLinesRequest {
  GuestPath path;
  LineRange range;
  std::uint64_t credit = 0;
};

/// How long an edit's texts are. They follow as data: the old and the new text of each, in order.
struct EditShape {
  std::uint64_t old_bytes = 0;
  std::uint64_t new_bytes = 0;
  bool replace_all = false;
};

struct EditRequest {
  GuestPath path;
  std::vector<EditShape> edits;
  EditOptions options;
};

struct MoveRequest {
  GuestPath from;
  GuestPath to;
  MoveOptions options;
};

struct CopyRequest {
  GuestPath from;
  GuestPath to;
  CopyOptions options;
};

struct SetModeRequest {
  GuestPath path;
  std::uint32_t mode = 0;
};

struct MakeSymlinkRequest {
  GuestPath path;
  std::string target;
};

struct TreeOutRequest {
  GuestPath path;
  std::uint64_t credit = 0;
};

/// The archive follows as data.
struct TreeInRequest {
  GuestPath path;
};

struct WatchRequest {
  GuestPath path;
  WatchOptions options;
  std::uint64_t credit = 0;
};

struct FileRequest {
  std::variant<ReadLinesRequest, EditRequest, MoveRequest, CopyRequest, SetModeRequest,
               MakeSymlinkRequest, TreeOutRequest, TreeInRequest, WatchRequest>
      body;
};

/// The most edits of one request, and the most bytes of their texts.
constexpr std::size_t kMaxEdits = 1000;
constexpr std::uint64_t kMaxEditBytes = 16ULL << 20U;

RequestKind kind_of(const FileRequest& request);
nlohmann::json to_fields(const FileRequest& request);

/// Reads a body of the kinds that are here; none for other kinds. Errors stay in `fields`.
std::optional<FileRequest> read_file_request(RequestKind kind, Fields& fields);

/// An edit request's shapes, and its texts as they follow it.
std::vector<EditShape> shapes_of(const std::vector<Edit>& edits);
Bytes pack_edits(const std::vector<Edit>& edits);

/// Bytes that the texts of an edit request have. None: more than kMaxEditBytes.
std::optional<std::uint64_t> edit_bytes(const std::vector<EditShape>& shapes);

/// The edits of both. kIntegrity: the texts are not as long as the shapes say.
Result<std::vector<Edit>> unpack_edits(const std::vector<EditShape>& shapes, ByteView texts);

}  // namespace cove::wire
