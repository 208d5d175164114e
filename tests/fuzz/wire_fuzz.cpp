// Feeds bytes to everything of the wire that reads what the other side sent: the first byte says
// how they are cut into reads, the rest is a connection's stream.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "wire/connect_request.hpp"
#include "wire/file_reply.hpp"
#include "wire/frame.hpp"
#include "wire/greeting.hpp"
#include "wire/reply.hpp"
#include "wire/request.hpp"
#include "wire/search_batch.hpp"

namespace {

using namespace cove;

void must(bool holds) {
  if (!holds) std::abort();
}

/// A request that is understood is encoded to one that is understood.
void check_request(ByteView payload) {
  const auto request = wire::parse_request(payload);
  if (!request) return;
  const auto encoded = wire::encode_request(*request);
  if (!encoded) {
    must(encoded.error().code() == ErrorCode::kTooLarge);
    return;
  }
  must(wire::parse_request(*encoded).has_value());
}

/// What an agent asks for is asked for again in the same words.
void check_connect(ByteView payload) {
  const auto request = wire::parse_connect(payload);
  if (!request) return;
  must(!request->target.host.empty() && request->target.host.size() <= 255);
  const auto again = wire::parse_connect(wire::encode_connect(*request));
  must(again.has_value() && again->target == request->target && again->via == request->via);
}

/// What is known of a process is told again in the same words.
void check_process_info(ByteView payload) {
  const auto info = wire::parse_process_info(payload);
  if (!info) return;
  must(info->name.size() <= 100 && info->command.size() <= 1024);
  const auto again = wire::parse_process_info(wire::encode_process_info(*info));
  must(again.has_value() && again->command == info->command && again->name == info->name);
}

void read_payload(ByteView payload) {
  check_request(payload);
  check_connect(payload);
  (void)wire::parse_greeting(payload).has_value();
  (void)wire::parse_cancel(payload).has_value();
  (void)wire::parse_exec_reply(payload).has_value();
  (void)wire::parse_slice(payload).has_value();
  check_process_info(payload);
  (void)wire::parse_status(payload).has_value();
  (void)wire::parse_file_info(payload).has_value();
  (void)wire::parse_opened(payload).has_value();
  (void)wire::parse_count(payload).has_value();
  (void)wire::parse_entries(payload).has_value();
  (void)wire::parse_search_summary(payload).has_value();
  if (const auto lines = wire::unpack_lines(payload)) must(lines->size() <= payload.size());
  if (const auto found = wire::unpack_entries(payload)) must(found->size() <= payload.size());
  (void)wire::parse_line_slice(payload, "text").has_value();
  (void)wire::parse_edit_result(payload).has_value();
  (void)wire::parse_tree_counts(payload).has_value();
  (void)wire::parse_file_events(payload).has_value();
  (void)wire::read_credit(payload).has_value();
  if (const auto error = wire::parse_error(payload)) must(error->message().size() <= 1024);
  ExecSpec spec;
  (void)wire::unpack_arguments(payload, spec).has_value();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = std::size_t{1} + data[0];
  ByteView rest = std::as_bytes(std::span(data, size)).subspan(1);
  wire::FrameDecoder decoder;
  while (!rest.empty()) {
    const auto space = decoder.space();
    const std::size_t count = std::min({piece, rest.size(), space.size()});
    std::copy_n(rest.begin(), count, space.begin());
    decoder.filled(count);
    rest = rest.subspan(count);
    for (;;) {
      const auto frame = decoder.next();
      if (!frame) return 0;
      if (!*frame) break;
      must((*frame)->payload.size() <= wire::kMaxDataBytes);
      read_payload((*frame)->payload);
    }
  }
  return 0;
}
