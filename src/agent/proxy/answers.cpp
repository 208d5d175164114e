#include "agent/proxy/answers.hpp"

namespace cove::agent {
namespace {

struct Answer {
  int status;
  char socks;  ///< RFC 1928, section 6
};

Answer answer_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::kPermissionDenied: return {403, '\x02'};
    case ErrorCode::kInvalidArgument: return {400, '\x01'};
    case ErrorCode::kNotFound: return {502, '\x04'};
    case ErrorCode::kUnavailable: return {502, '\x05'};
    case ErrorCode::kTimeout: return {504, '\x04'};
    case ErrorCode::kTooLarge: return {431, '\x01'};
    case ErrorCode::kUnsupported: return {501, '\x01'};
    case ErrorCode::kFailedPrecondition:
    case ErrorCode::kQuotaExceeded: return {503, '\x01'};
    default: return {502, '\x01'};
  }
}

/// Of a tunnel that is refused many clients show only this line, so it says what the body says.
const char* reason_of(int status) {
  switch (status) {
    case 400: return "Bad Request";
    case 403: return "Forbidden by cove (policy.proxy.allow)";
    case 408: return "Request Timeout";
    case 431: return "Request Header Fields Too Large";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable (cove)";
    case 504: return "Gateway Timeout";
    default: return "Bad Gateway";
  }
}

std::string socks_answer(char reply) {
  // The address that was bound is nobody's business: 0.0.0.0:0.
  return {'\x05', reply, '\0', '\x01', '\0', '\0', '\0', '\0', '\0', '\0'};
}

}  // namespace

std::string accepted_answer(EgressVia via) {
  if (via == EgressVia::kSocks) return socks_answer('\0');
  if (via == EgressVia::kConnect) return "HTTP/1.1 200 Connection established\r\n\r\n";
  return {};
}

std::string refused_answer(EgressVia via, const Error& error) {
  const Answer answer = answer_for(error.code());
  if (via == EgressVia::kSocks) return socks_answer(answer.socks);
  return http_refusal(answer.status, error.message());
}

std::string http_refusal(int status, const std::string& text) {
  const std::string body = "cove: " + text + "\n";
  return "HTTP/1.1 " + std::to_string(status) + " " + reason_of(status) +
         "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body;
}

}  // namespace cove::agent
