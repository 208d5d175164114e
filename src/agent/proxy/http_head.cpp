#include "agent/proxy/http_head.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cove::agent {
namespace {

constexpr std::uint16_t kHttpPort = 80;
constexpr std::size_t kMostHeaders = 200;

Error bad(const std::string& what) { return {ErrorCode::kInvalidArgument, what}; }

bool is_letter_or_digit(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// RFC 9110, 5.6.2.
bool is_token(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter_or_digit(c) ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

struct RequestLine {
  std::string_view method;
  std::string_view target;
  std::string_view version;
};

struct Header {
  std::string_view name;
  std::string_view value;
  std::string key;  ///< the name in lower case
};

/// Takes a line off the front, without its end.
Result<std::string_view> next_line(std::string_view& text) {
  const std::size_t end = text.find("\r\n");
  if (end == std::string_view::npos) return bad("the request's head is not whole");
  const std::string_view line = text.substr(0, end);
  // A bare CR, LF or NUL is a line end to some servers: two would see two requests.
  const bool odd = std::any_of(line.begin(), line.end(), [](char c) {
    return (c >= '\0' && c < ' ' && c != '\t') || c == '\x7F';
  });
  if (odd) return bad("the request's head has control characters");
  text.remove_prefix(end + 2);
  return line;
}

Result<RequestLine> parse_request_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return bad("this is no HTTP request");
  const RequestLine parsed{line.substr(0, first), line.substr(first + 1, last - first - 1),
                           line.substr(last + 1)};
  const bool is_good = is_token(parsed.method) && !parsed.target.empty() &&
                       std::all_of(parsed.target.begin(), parsed.target.end(),
                                   [](char c) { return c > ' ' && c <= '~'; });
  if (!is_good) return bad("this is no HTTP request");
  if (parsed.version != "HTTP/1.1" && parsed.version != "HTTP/1.0") {
    return bad("this proxy speaks HTTP/1.0 and HTTP/1.1");
  }
  return parsed;
}

Result<std::vector<Header>> parse_headers(std::string_view text) {
  std::vector<Header> headers;
  for (;;) {
    COVE_TRY(const std::string_view line, next_line(text));
    if (line.empty()) return headers;
    const std::size_t colon = line.find(':');
    // Also refuses folded lines, and a name with space behind it.
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
      return bad("a header of the request is malformed");
    }
    if (headers.size() == kMostHeaders) return bad("the request has more than 200 headers");
    const std::string_view name = line.substr(0, colon);
    headers.push_back({name, trimmed(line.substr(colon + 1)), lower(name)});
  }
}

/// Headers that are between client and proxy, or that the proxy writes itself.
std::set<std::string> dropped_headers(const std::vector<Header>& headers) {
  std::set<std::string> dropped{
      "connection", "keep-alive", "proxy-connection", "proxy-authorization", "te",
      "upgrade",    "host"};
  for (const Header& header : headers) {
    if (header.key != "connection") continue;
    std::string_view rest = header.value;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(','), rest.size());
      dropped.insert(lower(trimmed(rest.substr(0, end))));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  // What frames the body stays, whatever the client says of it.
  dropped.erase("content-length");
  dropped.erase("transfer-encoding");
  return dropped;
}

Result<RequestBody> body_of(const std::vector<Header>& headers, std::string_view version) {
  std::optional<std::uint64_t> length;
  bool is_chunked = false;
  for (const Header& header : headers) {
    if (header.key == "content-length") {
      // One that is said twice, or beside chunks, is how requests are smuggled.
      if (length) return bad("the request has two lengths");
      length = number_in<std::uint64_t>(header.value);
      if (!length) return bad("the request's length is no number");
    }
    if (header.key == "transfer-encoding") {
      if (is_chunked) return bad("the request has two transfer encodings");
      if (lower(header.value) != "chunked" || version != "HTTP/1.1") {
        return Error(ErrorCode::kUnsupported, "this proxy knows no transfer encoding but chunked");
      }
      is_chunked = true;
    }
  }
  if (is_chunked && length) return bad("the request has a length and a transfer encoding");
  if (is_chunked) return RequestBody::chunked();
  return length ? RequestBody::of_length(*length) : RequestBody();
}

struct AbsoluteUrl {
  EgressTarget target;
  std::string_view authority;
  std::string path;
};

Result<AbsoluteUrl> parse_url(const RequestLine& line) {
  constexpr std::string_view kScheme = "http://";
  const std::string_view url = line.target;
  if (lower(url.substr(0, kScheme.size())) != kScheme) {
    if (url.starts_with('/') || url == "*") {
      return bad("this is the sandbox's proxy, no server: ask it for whole URLs");
    }
    return Error(ErrorCode::kUnsupported,
                 "this proxy fetches http:// only; use CONNECT or SOCKS5 for everything else");
  }
  std::string_view rest = url.substr(kScheme.size());
  rest = rest.substr(0, rest.find('#'));
  const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
  AbsoluteUrl parsed;
  parsed.authority = rest.substr(0, end);
  const auto target = parse_authority(parsed.authority, kHttpPort);
  if (!target) return bad("the URL names no host");
  parsed.target = *target;
  parsed.path = rest.substr(end);
  if (parsed.path.empty() && line.method == "OPTIONS") parsed.path = "*";
  if (!parsed.path.starts_with('/') && parsed.path != "*") parsed.path.insert(0, "/");
  return parsed;
}

std::string rewritten(const RequestLine& line, const AbsoluteUrl& url,
                      const std::vector<Header>& headers) {
  const std::set<std::string> dropped = dropped_headers(headers);
  std::string head;
  head.append(line.method).append(" ").append(url.path).append(" ").append(line.version);
  head.append("\r\nHost: ").append(url.authority).append("\r\n");
  for (const Header& header : headers) {
    if (dropped.contains(header.key)) continue;
    head.append(header.name).append(": ").append(header.value).append("\r\n");
  }
  return head.append("Connection: close\r\n\r\n");
}

}  // namespace

bool is_host_text(std::string_view text) noexcept {
  constexpr std::size_t kMost = 255;
  return !text.empty() && text.size() <= kMost && std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter_or_digit(c) || c == '.' || c == ':' || c == '-' || c == '_';
  });
}

std::optional<EgressTarget> parse_authority(std::string_view text, std::uint16_t otherwise) {
  std::string_view host = text;
  std::string_view port;
  bool has_port = false;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    host = text.substr(1, end - 1);
    const std::string_view behind = text.substr(end + 1);
    has_port = behind.starts_with(':');
    if (!behind.empty() && !has_port) return std::nullopt;
    if (has_port) port = behind.substr(1);
    if (host.find(':') == std::string_view::npos) return std::nullopt;
  } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    has_port = true;
  }
  if (!is_host_text(host)) return std::nullopt;
  EgressTarget target{std::string(host), otherwise};
  if (has_port && !port.empty()) {
    const auto number = number_in<std::uint16_t>(port);
    if (!number) return std::nullopt;
    target.port = *number;
  }
  if (target.port == 0) return std::nullopt;
  return target;
}

Result<Opening> parse_http_head(std::string_view head) {
  COVE_TRY(const std::string_view first, next_line(head));
  COVE_TRY(const RequestLine line, parse_request_line(first));
  COVE_TRY(const std::vector<Header> headers, parse_headers(head));
  Opening opening;
  if (line.method == "CONNECT") {
    const auto target = parse_authority(line.target, 0);
    if (!target) return bad("CONNECT names no host and port");
    opening.target = *target;
    return opening;
  }
  COVE_TRY(const AbsoluteUrl url, parse_url(line));
  COVE_TRY(opening.body, body_of(headers, line.version));
  opening.via = EgressVia::kHttp;
  opening.target = url.target;
  opening.first = rewritten(line, url, headers);
  return opening;
}

}  // namespace cove::agent
