#include "wire/command_reply.hpp"

#include <algorithm>

#include "base/text/display_text.hpp"
#include "base/text/hex.hpp"
#include "base/text/utf8.hpp"
#include "wire/answer_path.hpp"
#include "wire/cbor.hpp"
#include "wire/fields.hpp"
#include "wire/request_id.hpp"

namespace cove::wire {
namespace {

using nlohmann::json;
using std::chrono::microseconds;

constexpr std::size_t kMaxName = 100;
constexpr std::size_t kMaxCommand = 1024;
constexpr std::size_t kMaxPath = 4096;

enum class Ending : std::uint32_t {
  kExited = 1,
  kSignaled = 2,
  kTimedOut = 3,
  kCancelled = 4,
  kOutputLimit = 5,
  kOutOfMemory = 6,
  kCpuLimit = 7,
};

struct EndingOf {
  Ending operator()(const Exited&) const { return Ending::kExited; }
  Ending operator()(const Signaled&) const { return Ending::kSignaled; }
  Ending operator()(const TimedOut&) const { return Ending::kTimedOut; }
  Ending operator()(const Cancelled&) const { return Ending::kCancelled; }
  Ending operator()(const OutputLimitReached&) const { return Ending::kOutputLimit; }
  Ending operator()(const OutOfMemory&) const { return Ending::kOutOfMemory; }
  Ending operator()(const CpuLimitReached&) const { return Ending::kCpuLimit; }
};

std::uint32_t value_of(const Outcome& outcome) {
  if (const auto* exited = std::get_if<Exited>(&outcome)) {
    return static_cast<std::uint32_t>(exited->code);
  }
  if (const auto* signaled = std::get_if<Signaled>(&outcome)) {
    return static_cast<std::uint32_t>(signaled->signal);
  }
  const auto* late = std::get_if<TimedOut>(&outcome);
  return late != nullptr && late->quiet ? 1 : 0;
}

Outcome read_outcome(Fields& fields) {
  const std::uint32_t value = fields.small("value");
  switch (static_cast<Ending>(fields.small("ending"))) {
    case Ending::kExited:
      if (value > 255) fields.fail("an exit code above 255");
      return Exited{static_cast<std::int32_t>(value)};
    case Ending::kSignaled:
      if (value < 1 || value > 64) fields.fail("a signal that does not exist");
      return Signaled{static_cast<std::int32_t>(value)};
    case Ending::kTimedOut: return TimedOut{value == 1};
    case Ending::kCancelled: return Cancelled{};
    case Ending::kOutputLimit: return OutputLimitReached{};
    case Ending::kOutOfMemory: return OutOfMemory{};
    case Ending::kCpuLimit: return CpuLimitReached{};
  }
  fields.fail("an ending that is not known");
  return Cancelled{};
}

json count_fields(const StreamCounts& counts) {
  json map = {{"head", counts.head_bytes},
              {"tail", counts.tail_bytes},
              {"total", counts.total_bytes},
              {"dropped", counts.dropped_bytes}};
  if (!counts.spill_path.empty()) map["spill"] = byte_string(counts.spill_path);
  return map;
}

StreamCounts read_counts(Fields& outer, const char* name) {
  Fields fields = outer.inner(name);
  StreamCounts counts{fields.number("head"), fields.number("tail"), fields.number("total"),
                      fields.number("dropped"), read_answer_path(fields, "spill")};
  if (counts.spill_path.size() > kMaxPath) fields.fail("a path that is too long");
  adopt(outer, fields);
  return counts;
}

json usage_fields(const ResourceUsage& usage) {
  return {
      {"memory", usage.peak_memory_bytes},
      {"user_us", static_cast<std::uint64_t>(std::max<std::int64_t>(usage.user_cpu.count(), 0))},
      {"system_us",
       static_cast<std::uint64_t>(std::max<std::int64_t>(usage.system_cpu.count(), 0))},
      {"whole", !usage.best_effort}};
}

microseconds read_time(Fields& fields, const char* name) {
  constexpr std::uint64_t kLongest = 1ULL << 60;
  return microseconds(std::min(fields.number(name), kLongest));
}

ResourceUsage read_usage(Fields& outer) {
  Fields fields = outer.inner("usage");
  const ResourceUsage usage{fields.number("memory"), read_time(fields, "user_us"),
                            read_time(fields, "system_us"), !fields.flag("whole")};
  adopt(outer, fields);
  return usage;
}

json reply_fields(const ExecReply& reply) {
  return {{"ending", static_cast<std::uint32_t>(std::visit(EndingOf{}, reply.outcome))},
          {"value", value_of(reply.outcome)},
          {"duration_us",
           static_cast<std::uint64_t>(std::max<std::int64_t>(reply.duration.count(), 0))},
          {"out", count_fields(reply.out)},
          {"err", count_fields(reply.err)},
          {"usage", usage_fields(reply.usage)}};
}

ExecReply read_reply(Fields& fields) {
  ExecReply reply{.outcome = read_outcome(fields)};
  reply.duration = read_time(fields, "duration_us");
  reply.out = read_counts(fields, "out");
  reply.err = read_counts(fields, "err");
  reply.usage = read_usage(fields);
  return reply;
}

ExecReply reply_of(const ExecResult& result) {
  const auto counts = [](const StreamOutput& stream) {
    return StreamCounts{0, 0, stream.total_bytes, stream.dropped_bytes, stream.spill_path};
  };
  return {.outcome = result.outcome,
          .duration = result.duration,
          .out = counts(result.out),
          .err = counts(result.err),
          .usage = result.usage};
}

std::string cut(std::string text, std::size_t limit) {
  text = base::harmless(text);
  text.resize(base::cut_before(text, limit));
  return text;
}

}  // namespace

Bytes encode_exec_reply(const ExecReply& reply) { return encode_cbor(reply_fields(reply)); }

Result<ExecReply> parse_exec_reply(ByteView payload) {
  COVE_TRY(const auto map, decode_cbor(payload));
  Fields fields(map);
  ExecReply reply = read_reply(fields);
  COVE_TRY_VOID(fields.result());
  return reply;
}

ExecResult result_of(const ExecReply& reply) {
  ExecResult result;
  result.outcome = reply.outcome;
  result.duration = reply.duration;
  result.usage = reply.usage;
  for (const auto& [counts, stream] :
       {std::pair{&reply.out, &result.out}, {&reply.err, &result.err}}) {
    stream->total_bytes = counts->total_bytes;
    stream->dropped_bytes = counts->dropped_bytes;
    stream->spill_path = counts->spill_path;
  }
  return result;
}

Bytes encode_process_info(const ProcessInfo& info) {
  json map = {{"id", byte_string(info.id.str())},
              {"name", byte_string(cut(info.name, kMaxName))},
              {"command", byte_string(cut(info.command, kMaxCommand))},
              {"cwd", byte_string(info.cwd)},
              {"started_ms", info.started_at.time_since_epoch().count()},
              {"keep_alive_s", info.keep_alive.count()},
              {"terminal", info.has_terminal},
              {"stdin", info.stdin_open},
              {"out", info.out_bytes},
              {"err", info.err_bytes}};
  if (info.end) map["end"] = reply_fields(reply_of(*info.end));
  return encode_cbor(map);
}

Result<ProcessInfo> parse_process_info(ByteView payload) {
  COVE_TRY(const auto map, decode_cbor(payload));
  Fields fields(map);
  ProcessInfo info;
  info.id = ProcessId(fields.bytes("id"));
  if (!id_from_hex(info.id.str())) fields.fail("a process's id that is not 32 hex digits");
  info.name = cut(fields.bytes("name"), kMaxName);
  info.command = cut(fields.bytes("command"), kMaxCommand);
  info.cwd = read_answer_path(fields, "cwd");
  if (info.cwd.size() > kMaxPath) fields.fail("a path that is too long");
  info.started_at = std::chrono::sys_time<std::chrono::milliseconds>(
      std::chrono::milliseconds(fields.signed_number("started_ms")));
  info.keep_alive = std::chrono::seconds(fields.small("keep_alive_s"));
  info.has_terminal = fields.flag("terminal");
  info.stdin_open = fields.flag("stdin");
  info.out_bytes = fields.number("out");
  info.err_bytes = fields.number("err");
  if (fields.has("end")) {
    Fields end = fields.inner("end");
    info.end = result_of(read_reply(end));
    adopt(fields, end);
  }
  COVE_TRY_VOID(fields.result());
  return info;
}

Bytes encode_slice(const SliceReply& reply) {
  return encode_cbor({{"offset", reply.offset}, {"gone", reply.gone}, {"end", reply.at_end}});
}

Result<SliceReply> parse_slice(ByteView payload) {
  COVE_TRY(const auto map, decode_cbor(payload));
  Fields fields(map);
  const SliceReply reply{fields.number("offset"), fields.number("gone"), fields.flag("end")};
  COVE_TRY_VOID(fields.result());
  return reply;
}

}  // namespace cove::wire
