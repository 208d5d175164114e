/// The head of a request to an HTTP/1 proxy.
#pragma once

#include <string_view>

#include <cove/result.hpp>

#include "agent/proxy/opening.hpp"

namespace cove::agent {

/// Reads a head up to and with its empty line. A request in absolute form becomes one in origin
/// form for the server that it names, without what is between client and proxy only, and asks it to
/// close after the answer. Errors, for an HTTP answer: kInvalidArgument (400), kUnsupported (501).
Result<Opening> parse_http_head(std::string_view head);

/// The text of a host and port: `example.org:443`, `[::1]:80`, `example.org`. `otherwise`: the port
/// where none is named; 0 = one must be. Brackets go. None where it is neither name nor address.
std::optional<EgressTarget> parse_authority(std::string_view text, std::uint16_t otherwise);

/// Whether a text may be a host: 1 to 255 letters, digits and `. : - _`.
bool is_host_text(std::string_view text) noexcept;

}  // namespace cove::agent
