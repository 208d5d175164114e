#include "agent/proxy/opening.hpp"

#include <algorithm>
#include <utility>

#include "agent/proxy/answers.hpp"
#include "agent/proxy/http_head.hpp"

namespace cove::agent {
namespace {

constexpr std::size_t kMaxHead = 32 * 1024;
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr char kSocksVersion = 5;

std::size_t byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

std::string join_bytes(std::string_view address, std::size_t group, const char* separator) {
  constexpr const char* kHex = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < address.size(); i += group) {
    if (i > 0) text += separator;
    if (group == 1) {
      text += std::to_string(byte_at(address, i));
      continue;
    }
    for (std::size_t j = i; j < i + group; ++j) {
      text += kHex[byte_at(address, j) >> 4];
      text += kHex[byte_at(address, j) & 0xFU];
    }
  }
  return text;
}

}  // namespace

OpeningReader::State OpeningReader::take(std::string_view bytes, std::string& reply) {
  buffer_.append(bytes);
  if (buffer_.empty()) return State::kMore;
  return buffer_.front() == kSocksVersion ? take_socks(reply) : take_http(reply);
}

OpeningReader::State OpeningReader::take_http(std::string& reply) {
  // A first byte that begins no method: TLS, SOCKS4, noise. There is no sense in waiting for more.
  if (buffer_.front() < 'A' || buffer_.front() > 'Z') {
    reply += http_refusal(400, "this proxy speaks HTTP/1 and SOCKS5");
    return State::kRefused;
  }
  const std::size_t end = buffer_.find(kHeadEnd, scanned_);
  if (end == std::string::npos || end + kHeadEnd.size() > kMaxHead) {
    if (buffer_.size() <= kMaxHead) {
      // The end may have begun.
      scanned_ = buffer_.size() - std::min(buffer_.size(), kHeadEnd.size() - 1);
      return State::kMore;
    }
    reply += http_refusal(431, "the request's head is longer than 32 KiB");
    return State::kRefused;
  }
  used_ = end + kHeadEnd.size();
  Result<Opening> parsed = parse_http_head(std::string_view(buffer_).substr(0, used_));
  if (!parsed) {
    reply += refused_answer(EgressVia::kHttp, parsed.error());
    return State::kRefused;
  }
  opening_ = *std::move(parsed);
  return State::kReady;
}

OpeningReader::State OpeningReader::take_socks(std::string& reply) {
  if (has_methods_) return take_socks_request(reply);
  if (buffer_.size() < 2) return State::kMore;
  const std::size_t length = 2 + byte_at(buffer_, 1);
  if (buffer_.size() < length) return State::kMore;
  const std::string_view methods = std::string_view(buffer_).substr(2, length - 2);
  const bool has_none = methods.find('\0') != std::string_view::npos;
  reply += has_none ? std::string("\x05\0", 2) : std::string("\x05\xFF", 2);
  if (!has_none) return State::kRefused;
  has_methods_ = true;
  used_ = length;
  return take_socks_request(reply);
}

/// version | command | 0 | address type | address | port
OpeningReader::State OpeningReader::take_socks_request(std::string& reply) {
  constexpr std::size_t kBeforeAddress = 4;
  const std::string_view rest = std::string_view(buffer_).substr(used_);
  // One byte more than the least: of a name it is the length.
  if (rest.size() < kBeforeAddress + 1) return State::kMore;
  const auto refuse = [&](char code) {
    reply += std::string("\x05", 1) + code + std::string("\0\x01\0\0\0\0\0\0", 8);
    return State::kRefused;
  };
  if (rest[0] != kSocksVersion) return refuse('\x01');
  if (rest[1] != 1) return refuse('\x07');  // CONNECT alone
  const std::size_t type = byte_at(rest, 3);
  std::size_t begin = kBeforeAddress;
  std::size_t length = 0;
  if (type == 1) length = 4;
  if (type == 4) length = 16;
  if (type == 3) length = byte_at(rest, begin++);
  if (length == 0) return refuse(type == 3 ? '\x01' : '\x08');
  if (rest.size() < begin + length + 2) return State::kMore;
  const std::string_view address = rest.substr(begin, length);
  std::string host(address);
  if (type == 1) host = join_bytes(address, 1, ".");
  if (type == 4) host = join_bytes(address, 2, ":");
  const std::size_t port = byte_at(rest, begin + length) * 256 + byte_at(rest, begin + length + 1);
  if (port == 0 || !is_host_text(host)) return refuse('\x01');
  opening_.target = {std::move(host), static_cast<std::uint16_t>(port)};
  opening_.via = EgressVia::kSocks;
  used_ += begin + length + 2;
  return State::kReady;
}

}  // namespace cove::agent
