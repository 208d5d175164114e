/// What the proxy says to its clients.
#pragma once

#include <string>

#include <cove/egress.hpp>
#include <cove/error.hpp>

namespace cove::agent {

/// That the way is open; empty where the server itself answers.
std::string accepted_answer(EgressVia via);

/// Why it is not: an HTTP answer with a text for people, or SOCKS5's number for it.
std::string refused_answer(EgressVia via, const Error& error);

/// An HTTP answer; the connection is closed after it.
std::string http_refusal(int status, const std::string& text);

}  // namespace cove::agent
