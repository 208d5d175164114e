#include "wire/reply.hpp"

#include <algorithm>

#include "base/text/utf8.hpp"
#include "wire/answer_path.hpp"
#include "wire/cbor.hpp"
#include "wire/fields.hpp"
#include "wire/long_list.hpp"

namespace cove::wire {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxMessage = 1024;
constexpr std::size_t kMaxContext = 8;  // pairs

/// Makes the other side's words fit for a message: no control characters, no half characters.
std::string printable(const std::string& text) {
  std::string out = text.substr(0, base::cut_before(text, kMaxMessage));
  if (!base::is_utf8(out)) {
    std::replace_if(
        out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  }
  std::replace_if(
      out.begin(), out.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7f'; }, ' ');
  return out;
}

/// Well-formed UTF-8 for a CBOR text: a path in a message may be any bytes.
std::string as_text(const std::string& message) {
  std::string out = message.substr(0, base::cut_before(message, 4 * kMaxMessage));
  if (base::is_utf8(out)) return out;
  return printable(out);
}

std::string short_text(const std::string& text) {
  constexpr std::size_t kMost = 256;
  return as_text(text.substr(0, base::cut_before(text, kMost)));
}

/// What is no pair of texts is passed over.
Error with_context(Error error, const json* list) {
  if (list == nullptr) return error;
  for (std::size_t i = 0; i < std::min(list->size(), kMaxContext); ++i) {
    const json& pair = (*list)[i];
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_string()) {
      continue;
    }
    error = error.with_context(printable(pair[0]), printable(pair[1]));
  }
  return error;
}

}  // namespace

Bytes encode_status(const GuestStatus& status) {
  return encode_cbor({{"build", status.build_id},
                      {"epoch", number_of(status.epoch)},
                      {"running", status.running_commands},
                      {"keep_alive", status.keep_alive_commands}});
}

Result<GuestStatus> parse_status(ByteView payload) {
  COVE_TRY(const auto map, decode_cbor(payload));
  Fields fields(map);
  const GuestStatus status{printable(fields.text("build")), Epoch{fields.number("epoch")},
                           fields.small("running"), fields.small("keep_alive")};
  COVE_TRY_VOID(fields.result());
  return status;
}

Bytes encode_file_info(const FileInfo& info) { return encode_cbor(to_fields(info)); }

Result<FileInfo> parse_file_info(ByteView payload) {
  COVE_TRY(const auto map, decode_cbor(payload));
  Fields fields(map);
  FileInfo info = read_file_info(fields);
  COVE_TRY_VOID(fields.result());
  return info;
}

Bytes encode_opened(const OpenedReply& opened) {
  return encode_cbor(
      {{"info", to_fields(opened.info)}, {"length", opened.length}, {"type", opened.content_type}});
}

Result<OpenedReply> parse_opened(ByteView payload) {
  COVE_TRY(const auto map, decode_cbor(payload));
  Fields fields(map);
  Fields info = fields.inner("info");
  OpenedReply opened{read_file_info(info), fields.number("length"), fields.word("type")};
  COVE_TRY_VOID(info.result());
  COVE_TRY_VOID(fields.result());
  return opened;
}

Bytes encode_count(const CountReply& reply) {
  return encode_cbor({{"count", reply.count}, {"next", byte_string(reply.next)}});
}

Result<CountReply> parse_count(ByteView payload) {
  COVE_TRY(const auto map, decode_cbor(payload));
  Fields fields(map);
  CountReply reply{fields.number("count"), read_path_below(fields, "next")};
  COVE_TRY_VOID(fields.result());
  return reply;
}

std::vector<Bytes> encode_entries(const std::vector<FileInfo>& entries) {
  constexpr std::size_t kEntryOverhead = 192;
  const auto bytes_of = [](const FileInfo& entry) {
    return entry.path.size() + entry.link_target.size() + kEntryOverhead;
  };
  return encode_long_list(entries, &to_fields, bytes_of);
}

Result<std::vector<FileInfo>> parse_entries(ByteView payload) {
  const auto read = [](Fields& fields) {
    FileInfo info = read_file_info(fields);
    if (!is_path_below(info.path)) fields.fail("an entry that is not below the directory");
    return info;
  };
  return parse_long_list<FileInfo>(payload, "entries", read);
}

Bytes encode_nothing() { return encode_cbor(json::object()); }

Result<void> parse_nothing(ByteView payload) {
  COVE_TRY(const auto map, decode_cbor(payload));
  return Fields(map).result();
}

Bytes encode_error(const Error& error) {
  std::string message = error.message();
  if (error.cause() != nullptr) message += ": " + error.cause()->describe();
  json map = {{"code", static_cast<std::uint32_t>(error.code())}, {"message", as_text(message)}};
  for (const auto& [key, value] : error.context()) {
    if (map["context"].size() == kMaxContext) break;
    map["context"].push_back(json::array({short_text(key), short_text(value)}));
  }
  return encode_cbor(map);
}

std::optional<Error> parse_error(ByteView payload) {
  const auto map = decode_cbor(payload);
  if (!map) return std::nullopt;
  Fields fields(*map);
  const std::uint32_t code = fields.small("code");
  std::string message = printable(fields.text("message"));
  const json* context = fields.list("context");
  if (!fields.result()) return std::nullopt;
  const bool known = code >= 1 && code <= static_cast<std::uint32_t>(ErrorCode::kInternal);
  if (message.empty()) message = "the agent gave no reason";
  return with_context(
      Error(known ? static_cast<ErrorCode>(code) : ErrorCode::kProvider, std::move(message)),
      context);
}

}  // namespace cove::wire
