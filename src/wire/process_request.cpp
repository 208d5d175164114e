#include "wire/process_request.hpp"

#include <algorithm>
#include <string>

#include "wire/cbor.hpp"

namespace cove::wire {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kLongestWait{60'000};
constexpr std::size_t kMaxHolderName = 64;

std::uint16_t read_size(Fields& fields, const char* name) {
  const std::uint32_t size = fields.small(name);
  if (size > UINT16_MAX) fields.fail(std::string(name) + " is too large");
  return static_cast<std::uint16_t>(size);
}

json process_field(const RequestId& id) { return {{"process", id_field(id)}}; }

}  // namespace

json to_fields(const PrepareStopRequest& request) {
  return {{"by", byte_string(request.by)}, {"hold_ms", request.hold_ms}};
}

json to_fields(const SignalRequest& request) {
  return {{"command", id_field(request.command)}, {"signal", request.signal}};
}

json to_fields(const ResizeRequest& request) {
  return {{"command", id_field(request.command)},
          {"rows", request.size.rows},
          {"columns", request.size.columns}};
}

json to_fields(const FindProcessRequest& request) { return process_field(request.process); }
json to_fields(const RemoveProcessRequest& request) { return process_field(request.process); }

json to_fields(const ProcessOutputRequest& request) {
  json map = process_field(request.process);
  map["stream"] = static_cast<unsigned>(request.range.stream);
  map["offset"] = request.range.offset;
  map["limit"] = request.range.limit;
  map["wait_ms"] = std::max<std::int64_t>(request.range.wait_for.count(), 0);
  return map;
}

json to_fields(const AttachRequest& request) {
  json map = process_field(request.process);
  map["out"] = request.from.out_offset;
  map["err"] = request.from.err_offset;
  map["only_new"] = request.from.only_new;
  map["credit"] = request.credit;
  return map;
}

PrepareStopRequest read_prepare_stop(Fields& fields) {
  PrepareStopRequest request{fields.bytes("by"), fields.small("hold_ms")};
  if (request.by.empty() || request.by.size() > kMaxHolderName) {
    fields.fail("by is not 1 to 64 bytes");
  }
  return request;
}

SignalRequest read_signal(Fields& fields) {
  return {read_id(fields, "command"), static_cast<std::int32_t>(fields.small("signal"))};
}

ResizeRequest read_resize(Fields& fields) {
  return {read_id(fields, "command"), {read_size(fields, "rows"), read_size(fields, "columns")}};
}

FindProcessRequest read_find_process(Fields& fields) { return {read_id(fields, "process")}; }
RemoveProcessRequest read_remove_process(Fields& fields) { return {read_id(fields, "process")}; }

ProcessOutputRequest read_process_output(Fields& fields) {
  ProcessOutputRequest request{.process = read_id(fields, "process"), .range = {}};
  const std::uint32_t stream = fields.small("stream", 1);
  if (stream != 1 && stream != 2) fields.fail("a stream that is not 1 or 2");
  request.range.stream = stream == 2 ? OutputStream::kErr : OutputStream::kOut;
  request.range.offset = fields.number("offset");
  request.range.limit = fields.small("limit");
  request.range.wait_for = std::chrono::milliseconds(fields.small("wait_ms"));
  return request;
}

AttachRequest read_attach(Fields& fields) {
  AttachRequest request{.process = read_id(fields, "process"), .from = {}};
  request.from.out_offset = fields.number("out");
  request.from.err_offset = fields.number("err");
  request.from.only_new = fields.flag("only_new");
  request.credit = fields.number("credit");
  return request;
}

Result<void> check_output_request(const OutputRequest& request) {
  const auto invalid = [](const char* what) { return Error(ErrorCode::kInvalidArgument, what); };
  if (request.limit < 1 || request.limit > kMaxSliceBytes) {
    return invalid("the limit of a slice of output is 1 byte to 256 KiB");
  }
  if (request.wait_for.count() < 0 || request.wait_for > kLongestWait) {
    return invalid("output is waited for from 0 to 60 s");
  }
  return ok();
}

}  // namespace cove::wire
