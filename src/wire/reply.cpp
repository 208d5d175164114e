#include "wire/reply.hpp"

#include <algorithm>

#include "base/text/utf8.hpp"
#include "wire/cbor.hpp"
#include "wire/fields.hpp"

namespace cove::wire {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxMessage = 1024;

enum class Ending : std::uint32_t {
  kExited = 1,
  kSignaled = 2,
  kTimedOut = 3,
  kCancelled = 4,
  kOutputLimit = 5,
  kOutOfMemory = 6,
};

struct EndingOf {
  Ending operator()(const Exited&) const { return Ending::kExited; }
  Ending operator()(const Signaled&) const { return Ending::kSignaled; }
  Ending operator()(const TimedOut&) const { return Ending::kTimedOut; }
  Ending operator()(const Cancelled&) const { return Ending::kCancelled; }
  Ending operator()(const OutputLimitReached&) const { return Ending::kOutputLimit; }
  Ending operator()(const OutOfMemory&) const { return Ending::kOutOfMemory; }
};

Outcome read_outcome(Fields& fields) {
  const std::uint32_t value = fields.small("value");
  switch (static_cast<Ending>(fields.small("ending"))) {
    case Ending::kExited:
      if (value > 255) fields.fail("an exit code above 255");
      return Exited{static_cast<std::int32_t>(value)};
    case Ending::kSignaled:
      if (value < 1 || value > 64) fields.fail("a signal that does not exist");
      return Signaled{static_cast<std::int32_t>(value)};
    case Ending::kTimedOut: return TimedOut{};
    case Ending::kCancelled: return Cancelled{};
    case Ending::kOutputLimit: return OutputLimitReached{};
    case Ending::kOutOfMemory: return OutOfMemory{};
  }
  fields.fail("an ending that is not known");
  return Cancelled{};
}

json count_fields(const StreamCounts& counts) {
  return {{"head", counts.head_bytes},
          {"tail", counts.tail_bytes},
          {"total", counts.total_bytes},
          {"dropped", counts.dropped_bytes}};
}

StreamCounts read_counts(Fields& outer, const char* name) {
  Fields fields = outer.inner(name);
  const StreamCounts counts{fields.number("head"), fields.number("tail"), fields.number("total"),
                            fields.number("dropped")};
  adopt(outer, fields);
  return counts;
}

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

}  // namespace

Bytes encode_exec_reply(const ExecReply& reply) {
  std::uint32_t value = 0;
  if (const auto* exited = std::get_if<Exited>(&reply.outcome)) {
    value = static_cast<std::uint32_t>(exited->code);
  }
  if (const auto* signaled = std::get_if<Signaled>(&reply.outcome)) {
    value = static_cast<std::uint32_t>(signaled->signal);
  }
  return encode_cbor({{"ending", static_cast<std::uint32_t>(std::visit(EndingOf{}, reply.outcome))},
                      {"value", value},
                      {"duration_us", static_cast<std::uint64_t>(reply.duration.count())},
                      {"out", count_fields(reply.out)},
                      {"err", count_fields(reply.err)}});
}

Result<ExecReply> parse_exec_reply(ByteView payload) {
  COVE_TRY(const auto map, decode_cbor(payload));
  Fields fields(map);
  ExecReply reply{.outcome = read_outcome(fields)};
  reply.duration = std::chrono::microseconds(fields.signed_number("duration_us"));
  reply.out = read_counts(fields, "out");
  reply.err = read_counts(fields, "err");
  COVE_TRY_VOID(fields.result());
  return reply;
}

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
  return encode_cbor({{"info", to_fields(opened.info)}, {"length", opened.length}});
}

Result<OpenedReply> parse_opened(ByteView payload) {
  COVE_TRY(const auto map, decode_cbor(payload));
  Fields fields(map);
  Fields info = fields.inner("info");
  OpenedReply opened{read_file_info(info), fields.number("length")};
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
  CountReply reply{fields.number("count"), fields.bytes("next")};
  COVE_TRY_VOID(fields.result());
  return reply;
}

std::vector<Bytes> encode_entries(const std::vector<FileInfo>& entries) {
  constexpr std::size_t kPayload = 32 * 1024;
  constexpr std::size_t kEntryOverhead = 64;
  std::vector<Bytes> payloads;
  json list = json::array();
  std::size_t bytes = 0;
  for (const auto& entry : entries) {
    list.push_back(to_fields(entry));
    bytes += entry.path.size() + entry.link_target.size() + kEntryOverhead;
    if (bytes < kPayload) continue;
    payloads.push_back(encode_cbor(list));
    list = json::array();
    bytes = 0;
  }
  if (!list.empty()) payloads.push_back(encode_cbor(list));
  return payloads;
}

Result<std::vector<FileInfo>> parse_entries(ByteView payload) {
  COVE_TRY(const auto list, decode_cbor(payload));
  if (!list.is_array()) return Error(ErrorCode::kIntegrity, "wire: entries that are no list");
  std::vector<FileInfo> entries;
  for (const auto& entry : list) {
    Fields fields(entry);
    entries.push_back(read_file_info(fields));
    COVE_TRY_VOID(fields.result());
  }
  return entries;
}

Bytes encode_nothing() { return encode_cbor(json::object()); }

Bytes encode_error(const Error& error) {
  return encode_cbor(
      {{"code", static_cast<std::uint32_t>(error.code())}, {"message", as_text(error.describe())}});
}

std::optional<Error> parse_error(ByteView payload) {
  const auto map = decode_cbor(payload);
  if (!map) return std::nullopt;
  Fields fields(*map);
  const std::uint32_t code = fields.small("code");
  std::string message = printable(fields.text("message"));
  if (!fields.result()) return std::nullopt;
  const bool known = code >= 1 && code <= static_cast<std::uint32_t>(ErrorCode::kInternal);
  if (message.empty()) message = "the agent gave no reason";
  return Error(known ? static_cast<ErrorCode>(code) : ErrorCode::kProvider, std::move(message));
}

}  // namespace cove::wire
