/// What every metadata store does alike: the limits of documents, and pages with their tokens.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <cove/metadata_store.hpp>

namespace cove::base {

inline constexpr std::size_t kMaxDocumentName = 512;
inline constexpr std::size_t kMaxDocumentBody = std::size_t{1} << 20U;
inline constexpr std::uint32_t kMaxPageDocuments = 1000;
/// A page ends early once its bodies have this many bytes together.
inline constexpr std::size_t kMaxPageBytes = std::size_t{16} << 20U;

/// kInvalidArgument - the name is empty, too long or has a NUL.
Result<void> check_document_id(const DocumentId& id);

/// kTooLarge - the body is over kMaxDocumentBody.
Result<void> check_document(const Document& document);

/// Where a page ended: the last document's place in the query's order.
struct PagePosition {
  StoreTime time{};  ///< by which the query orders; 0 where it orders by name
  std::string name;

  friend auto operator<=>(const PagePosition&, const PagePosition&) = default;
};

/// The place of a document in an order; nothing where the order leaves it out.
std::optional<PagePosition> position_of(const DocumentId& id, const DocumentIndex& index,
                                        QueryOrder order);

/// Checks a query's limit and reads its `after`; nothing = from the start.
/// kInvalidArgument - the limit is out of bounds, or `after` is no `next` of this kind and order.
Result<std::optional<PagePosition>> start_of(const DocumentQuery& query);

/// Collects a page from documents that come in the query's order.
class PageBuilder {
 public:
  /// `query` outlives this.
  explicit PageBuilder(const DocumentQuery& query) : query_(query) {}

  /// Takes the next document. False: the page was full, and ends before this one.
  bool add(StoredDocument document);

  /// The page ends with the last document that was taken, and others follow it.
  void end_early();

  /// The page; its `next` is empty unless an add() was refused, or it ended early.
  DocumentPage finish() && { return std::move(page_); }

 private:
  const DocumentQuery& query_;
  DocumentPage page_;
  std::size_t bytes_ = 0;
};

}  // namespace cove::base
