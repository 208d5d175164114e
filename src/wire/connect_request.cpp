#include "wire/connect_request.hpp"

#include <algorithm>
#include <limits>

#include "wire/cbor.hpp"
#include "wire/fields.hpp"

namespace cove::wire {
namespace {

constexpr std::uint32_t kConnectKind = 1;
constexpr std::size_t kMaxHostBytes = 255;

bool is_host(const std::string& text) {
  return !text.empty() && text.size() <= kMaxHostBytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

/// It is told for accounts only, so one that is not known is no fault.
EgressVia via_of(std::uint32_t number) {
  const auto via = static_cast<EgressVia>(number);
  if (number == 1 || number == 3) return via;
  return EgressVia::kConnect;
}

}  // namespace

Bytes encode_connect(const ConnectRequest& request) {
  return encode_cbor({{"kind", kConnectKind},
                      {"host", request.target.host},
                      {"port", request.target.port},
                      {"via", static_cast<std::uint32_t>(request.via)},
                      {"credit", request.credit}});
}

Result<ConnectRequest> parse_connect(ByteView payload) {
  COVE_TRY(const auto map, decode_cbor(payload));
  Fields fields(map);
  const std::uint32_t kind = fields.small("kind");
  COVE_TRY_VOID(fields.result());
  if (kind != kConnectKind) {
    return Error(ErrorCode::kUnsupported,
                 "this host does not know requests of kind " + std::to_string(kind));
  }
  ConnectRequest request;
  request.target.host = fields.text("host");
  if (!is_host(request.target.host)) fields.fail("host is no name");
  const std::uint32_t port = fields.small("port");
  if (port == 0 || port > std::numeric_limits<std::uint16_t>::max()) fields.fail("port is none");
  request.target.port = static_cast<std::uint16_t>(port & 0xFFFFU);
  request.via = via_of(fields.small("via"));
  request.credit = fields.number("credit");
  COVE_TRY_VOID(fields.result());
  return request;
}

}  // namespace cove::wire
