/// Documents and queries as a metadata store of the host gets and gives them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <cove/metadata_store.hpp>

#include "abi.hpp"
#include "base/text/document_rules.hpp"
#include "parts/answer.hpp"

namespace cove::capi {

/// kInvalidArgument: it says something that no document can be.
Result<StoredDocument> document_of(const cove_document& read);

/// A document for the host, with what it points to.
class GivenDocument {
 public:
  GivenDocument(const DocumentId& id, const Document& document);
  GivenDocument(const GivenDocument&) = delete;
  GivenDocument& operator=(const GivenDocument&) = delete;

  const cove_document& view() const noexcept { return view_; }

 private:
  const std::string name_;
  const Document document_;
  cove_document view_{};
};

/// A query for the host, with what it points to.
class GivenQuery {
 public:
  GivenQuery(const DocumentQuery& query, const std::optional<base::PagePosition>& start);
  GivenQuery(const GivenQuery&) = delete;
  GivenQuery& operator=(const GivenQuery&) = delete;

  const cove_document_query& view() const noexcept { return view_; }

 private:
  const DocumentQuery query_;
  const std::string after_;
  cove_document_query view_{};
};

/// kInvalidArgument - a value of the index has a NUL, which C cannot say.
Result<void> check_index(const DocumentIndex& index);

/// The page that an answer to a query makes. kInternal - it is none: documents that were not asked
/// for, another order, too many, or nothing though there are more.
Result<DocumentPage> page_of(const DocumentQuery& query,
                             const std::optional<base::PagePosition>& start,
                             DocumentsAnswer answer);

}  // namespace cove::capi
