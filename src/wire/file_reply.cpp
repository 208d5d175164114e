#include "wire/file_reply.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include "wire/answer_path.hpp"
#include "wire/cbor.hpp"
#include "wire/fields.hpp"
#include "wire/long_list.hpp"

namespace cove::wire {
namespace {

using nlohmann::json;

constexpr std::size_t kEventOverhead = 32;

Result<std::vector<EditOutcome>> read_outcomes(const json* list) {
  std::vector<EditOutcome> outcomes;
  if (list == nullptr) return outcomes;
  for (const json& outcome : *list) {
    const bool good = outcome.is_array() && outcome.size() == 2 &&
                      outcome[0].is_number_unsigned() && outcome[1].is_number_unsigned();
    if (!good) return Error(ErrorCode::kIntegrity, "wire: an edit's outcome is malformed");
    outcomes.push_back({outcome[0], outcome[1]});
  }
  return outcomes;
}

json event_fields(const FileEvent& event) {
  json map = {{"change", static_cast<unsigned>(event.change)}, {"path", byte_string(event.path)}};
  if (!event.old_path.empty()) map["old"] = byte_string(event.old_path);
  if (event.is_directory) map["directory"] = true;
  return map;
}

FileEvent read_event(Fields& fields) {
  FileEvent event;
  const std::uint32_t change = fields.small("change");
  // What a newer agent tells of is something to look at anew.
  const bool known = change >= 1 && change <= static_cast<std::uint32_t>(FileChange::kOverflow);
  event.change = known ? static_cast<FileChange>(change) : FileChange::kOverflow;
  event.path = read_path_below(fields, "path");
  event.old_path = read_path_below(fields, "old");
  event.is_directory = fields.flag("directory");
  return event;
}

}  // namespace

Bytes encode_line_slice(const LineSlice& slice) {
  json map = {{"first", slice.first},         {"count", slice.count},
              {"offset", slice.offset},       {"cut", slice.cut},
              {"type", slice.content_type},   {"bytes", slice.text.size()},
              {"info", to_fields(slice.info)}};
  if (slice.next) map["next"] = *slice.next;
  if (slice.total_lines) map["total"] = *slice.total_lines;
  return encode_cbor(map);
}

Result<LineSlice> parse_line_slice(ByteView payload, std::string text) {
  COVE_TRY(const auto map, decode_cbor(payload));
  Fields fields(map);
  LineSlice slice;
  slice.text = std::move(text);
  slice.first = fields.number("first", 1);
  slice.count = fields.number("count");
  slice.offset = fields.number("offset");
  slice.cut = fields.flag("cut");
  slice.content_type = fields.word("type");
  if (fields.has("next")) slice.next = fields.number("next");
  if (fields.has("total")) slice.total_lines = fields.number("total");
  if (fields.number("bytes") != slice.text.size()) fields.fail("bytes is not how many came");
  if (slice.offset > UINT64_MAX - slice.text.size()) fields.fail("offset is too large");
  // Who reads on from there is to come further each time.
  const bool goes_on = slice.count > 0 && slice.count <= UINT64_MAX - slice.first;
  if (slice.next && (!goes_on || *slice.next != slice.first + slice.count)) {
    fields.fail("next is not the line after the last");
  }
  Fields info = fields.inner("info");
  slice.info = read_file_info(info);
  adopt(fields, info);
  COVE_TRY_VOID(fields.result());
  return slice;
}

Bytes encode_edit_result(const EditResult& result) {
  json edits = json::array();
  for (const EditOutcome& edit : result.edits) {
    edits.push_back(json::array({edit.replaced, edit.first_line}));
  }
  return encode_cbor({{"info", to_fields(result.info)}, {"edits", std::move(edits)}});
}

Result<EditResult> parse_edit_result(ByteView payload) {
  COVE_TRY(const auto map, decode_cbor(payload));
  Fields fields(map);
  EditResult result;
  COVE_TRY(result.edits, read_outcomes(fields.list("edits")));
  Fields info = fields.inner("info");
  result.info = read_file_info(info);
  adopt(fields, info);
  COVE_TRY_VOID(fields.result());
  return result;
}

Bytes encode_tree_counts(const TreeCounts& counts) {
  return encode_cbor(
      {{"entries", counts.entries}, {"bytes", counts.bytes}, {"skipped", counts.skipped}});
}

Result<TreeCounts> parse_tree_counts(ByteView payload) {
  COVE_TRY(const auto map, decode_cbor(payload));
  Fields fields(map);
  const TreeCounts counts{fields.number("entries"), fields.number("bytes"),
                          fields.number("skipped")};
  COVE_TRY_VOID(fields.result());
  return counts;
}

std::vector<Bytes> encode_file_events(const std::vector<FileEvent>& events) {
  const auto bytes_of = [](const FileEvent& event) {
    return event.path.size() + event.old_path.size() + kEventOverhead;
  };
  return encode_long_list(events, &event_fields, bytes_of);
}

Result<std::vector<FileEvent>> parse_file_events(ByteView payload) {
  return parse_long_list<FileEvent>(payload, "events", &read_event);
}

}  // namespace cove::wire
