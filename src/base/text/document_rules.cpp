#include "base/text/document_rules.hpp"

#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "base/sha256.hpp"
#include "base/text/hex.hpp"

namespace cove::base {
namespace {

// A token is hex of: 8 bytes of digest, 8 bytes of time (big-endian), the name. The digest covers
// kind and order too, so a token of another query, or one that was cut or mistyped, is refused and
// not taken for a place where nothing is.
constexpr std::size_t kDigestBytes = 8;
constexpr std::size_t kTimeBytes = 8;

std::string digest(const DocumentQuery& query, std::string_view place) {
  std::string input = "cove-page-1";
  input += static_cast<char>(query.kind);
  input += static_cast<char>(query.order);
  input += place;
  return sha256_hex(input).substr(0, 2 * kDigestBytes);
}

std::string token_of(const DocumentQuery& query, const PagePosition& position) {
  const auto time = static_cast<std::uint64_t>(position.time.time_since_epoch().count());
  std::string place;
  for (unsigned i = 0; i < kTimeBytes; ++i) {
    place += static_cast<char>(time >> (8 * (kTimeBytes - 1 - i)) & 0xFFU);
  }
  place += position.name;
  return digest(query, place) + to_hex(std::as_bytes(std::span(place)));
}

std::string from_hex(std::string_view digits) {
  const auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(value(digits[i]) * 16 + value(digits[i + 1]));
  }
  return bytes;
}

std::optional<PagePosition> parse_token(const DocumentQuery& query) {
  const std::string& token = query.after;
  constexpr std::size_t kShortest = 2 * (kDigestBytes + kTimeBytes + 1);
  constexpr std::size_t kLongest = 2 * (kDigestBytes + kTimeBytes + kMaxDocumentName);
  const bool well_formed = token.size() >= kShortest && token.size() <= kLongest &&
                           token.size() % 2 == 0 && is_hex(token, token.size());
  if (!well_formed) return std::nullopt;
  const std::string place = from_hex(std::string_view(token).substr(2 * kDigestBytes));
  if (digest(query, place) != token.substr(0, 2 * kDigestBytes)) return std::nullopt;
  std::uint64_t time = 0;
  for (std::size_t i = 0; i < kTimeBytes; ++i) {
    time = time << 8U | static_cast<unsigned char>(place[i]);
  }
  const auto since_epoch = std::chrono::milliseconds(static_cast<std::int64_t>(time));
  return PagePosition{StoreTime(since_epoch), place.substr(kTimeBytes)};
}

}  // namespace

Result<void> check_document_id(const DocumentId& id) {
  if (id.name.empty() || id.name.size() > kMaxDocumentName) {
    return Error(ErrorCode::kInvalidArgument,
                 "the document's name has " + std::to_string(id.name.size()) +
                     " bytes; it must have 1 to " + std::to_string(kMaxDocumentName));
  }
  if (id.name.find('\0') != std::string::npos) {
    return Error(ErrorCode::kInvalidArgument, "the document's name has a NUL byte");
  }
  return {};
}

Result<void> check_document(const Document& document) {
  if (document.body.size() <= kMaxDocumentBody) return {};
  return Error(ErrorCode::kTooLarge, "the document has " + std::to_string(document.body.size()) +
                                         " bytes; it may have " + std::to_string(kMaxDocumentBody));
}

std::optional<PagePosition> position_of(const DocumentId& id, const DocumentIndex& index,
                                        QueryOrder order) {
  if (order == QueryOrder::kByName) return PagePosition{StoreTime{}, id.name};
  const auto& time = order == QueryOrder::kByActivity ? index.active_at : index.heartbeat_at;
  if (!time) return std::nullopt;
  return PagePosition{*time, id.name};
}

Result<std::optional<PagePosition>> start_of(const DocumentQuery& query) {
  if (query.limit == 0 || query.limit > kMaxPageDocuments) {
    return Error(ErrorCode::kInvalidArgument, "the limit is " + std::to_string(query.limit) +
                                                  "; it must be 1 to " +
                                                  std::to_string(kMaxPageDocuments));
  }
  if (query.after.empty()) return std::optional<PagePosition>();
  auto position = parse_token(query);
  if (!position) {
    return Error(ErrorCode::kInvalidArgument,
                 "'after' is not the 'next' of a page of the same kind and order");
  }
  return position;
}

void PageBuilder::end_early() {
  const StoredDocument& last = page_.documents.back();
  const auto position = position_of(last.id, last.document.index, query_.order);
  page_.next = position ? token_of(query_, *position) : std::string();
}

bool PageBuilder::add(StoredDocument document) {
  const std::size_t size = document.document.body.size();
  const bool full = page_.documents.size() >= query_.limit ||
                    (!page_.documents.empty() && bytes_ + size > kMaxPageBytes);
  if (full) {
    end_early();
    return false;
  }
  bytes_ += size;
  page_.documents.push_back(std::move(document));
  return true;
}

}  // namespace cove::base
