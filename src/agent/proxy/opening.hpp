/// What a client inside says first: an HTTP head or SOCKS5's greeting. Every byte is hostile.
///
///     OpeningReader reader;
///     switch (reader.take(bytes, reply)) { ... }      // `reply` is to be sent, whatever comes out
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <cove/bytes.hpp>
#include <cove/egress.hpp>

#include "agent/proxy/request_body.hpp"

namespace cove::agent {

/// Where a client wants to go, and what goes there first.
struct Opening {
  EgressTarget target;
  EgressVia via = EgressVia::kConnect;
  std::string first;  ///< what is sent there before anything else: an HTTP request's own head
  RequestBody body;   ///< of kHttp: what of that which follows belongs to the request
};

class OpeningReader {
 public:
  enum class State : std::uint8_t {
    kMore,     ///< nothing can be said before more bytes came
    kReady,    ///< opening() says where it wants to go
    kRefused,  ///< the reply says why not; nothing more is read
  };

  /// Takes bytes, at most some KiB at once. What is to be sent to the client now is appended to
  /// `reply`. Not called again after it gave anything but kMore.
  State take(std::string_view bytes, std::string& reply);

  /// REQUIRES: kReady.
  Opening& opening() noexcept { return opening_; }

  /// What came after the opening. REQUIRES: kReady.
  std::string_view rest() const noexcept { return std::string_view(buffer_).substr(used_); }

 private:
  State take_http(std::string& reply);
  State take_socks(std::string& reply);
  State take_socks_request(std::string& reply);

  std::string buffer_;
  std::size_t used_ = 0;     ///< of the buffer: read and understood
  std::size_t scanned_ = 0;  ///< of the buffer: has no end of a head before
  bool has_methods_ = false;
  Opening opening_;
};

}  // namespace cove::agent
