/// The seam to where records live: small documents, each changed by compare-and-swap alone.
///
/// Every implementation promises, and tests/contract/metadata_store_test.cpp checks:
/// - linearizable for one document; nothing is promised across two;
/// - an operation that returned is seen by every later call of any client of the same store;
/// - versions of one document only grow, and one is never used again, not even after a removal;
/// - `now` never goes back for one client, and is the same clock for all clients of the store.
///
/// The store knows no lifecycle: a document is text plus the few values it can be found by. A host
/// can write one in a page. All calls are safe from any thread and complete on Cove's scheduler.
/// After kUnavailable, kTimeout or kCancelled a write is either done or not done: read again.
///
/// Besides the errors named below, every call may end with kInvalidArgument (the name),
/// kUnavailable, kTimeout, kCancelled, kQuotaExceeded (the store's disk is full: nothing was done),
/// kIntegrity (what is stored is damaged) and kUnsupported (a newer Cove has changed the store's
/// form).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cove/call_context.hpp>
#include <cove/ids.hpp>
#include <cove/task.hpp>

namespace cove {

/// The kinds of documents; the number is stored by some implementations and never changes.
enum class DocumentKind : std::uint8_t {
  kDeployment = 1,  ///< one: what this store belongs to
  kSandbox = 2,     ///< a record, by sandbox id
  kSource = 3,      ///< a source's tombstone and overrides
  kLease = 4,       ///< a named lease
  kQuota = 5,       ///< ids that hold a place
  kTombstone = 6,   ///< what a destroyed sandbox left to be swept again
};

/// What names a document.
struct DocumentId {
  DocumentKind kind = DocumentKind::kSandbox;
  std::string name;  ///< 1 to 512 bytes, any but NUL; compared as bytes

  friend auto operator<=>(const DocumentId&, const DocumentId&) = default;
};

/// What a query can ask for. All optional: an empty text or no time is "none", which no filter on
/// that value matches.
struct DocumentIndex {
  std::string state;                      ///< a record's state
  std::string source;                     ///< `source_type/source_id`
  std::string node;                       ///< the record's node
  std::optional<StoreTime> active_at;     ///< last activity
  std::optional<StoreTime> heartbeat_at;  ///< of the operation in the record, where there is one

  friend bool operator==(const DocumentIndex&, const DocumentIndex&) = default;
};

/// A document as it is written.
struct Document {
  std::string body;  ///< JSON text of up to 1 MiB; the store does not look inside
  DocumentIndex index;
};

/// Counts the changes of a document; only grows, and is never used again.
enum class Version : std::uint64_t {};

/// A document as it was found.
struct StoredDocument {
  DocumentId id;
  Version version{};
  Document document;
};

/// How long a write that returned must last.
enum class Durability : std::uint8_t {
  kRelaxed,  ///< over the end of any process; a crash of the machine may lose it (touches,
             ///< heartbeats)
  kDurable,  ///< over a crash of the machine: on disk before the call returns
};

/// By what the documents of a query are ordered.
enum class QueryOrder : std::uint8_t {
  kByName,       ///< bytes of the name
  kByActivity,   ///< oldest active_at first, then name
  kByHeartbeat,  ///< oldest heartbeat_at first, then name
};

/// Documents of one kind for which every given filter holds. An order by a time leaves out
/// documents without that time.
struct DocumentQuery {
  DocumentKind kind = DocumentKind::kSandbox;
  QueryOrder order = QueryOrder::kByName;
  std::optional<std::string> state;
  std::optional<std::string> source;
  std::optional<std::string> node;
  std::optional<StoreTime> active_before;     ///< active_at < this
  std::optional<StoreTime> heartbeat_before;  ///< heartbeat_at < this
  std::uint32_t limit = 100;                  ///< 1 to 1000 documents a page
  std::string after;  ///< a page's `next`, of this kind and order; empty = from the start
};

/// A page is not a snapshot: a document changed between two pages may appear twice or not at all;
/// one that is not changed appears exactly once.
struct DocumentPage {
  std::vector<StoredDocument> documents;
  std::string next;  ///< for `after`; empty = this was the last page
};

/// How many there are, by state.
using StateCounts = std::map<std::string, std::uint64_t>;

/// Keeps documents, for all processes of a deployment.
class MetadataStore {
 public:
  virtual ~MetadataStore() = default;

  /// Adds a document that is not there.
  /// Errors: kAlreadyExists - it is, and was not changed; kTooLarge - the body.
  virtual Task<Result<Version>> insert(const DocumentId& id, const Document& document,
                                       Durability durability, const CallContext& call) = 0;

  /// Reads one document; nothing where it is absent.
  virtual Task<Result<std::optional<StoredDocument>>> find(const DocumentId& id,
                                                           const CallContext& call) = 0;

  /// Replaces the document if its version is still `expected`.
  /// Errors: kConflict - the version differs, or it is gone: read and decide again; kTooLarge.
  virtual Task<Result<Version>> compare_and_swap(const DocumentId& id, Version expected,
                                                 const Document& next, Durability durability,
                                                 const CallContext& call) = 0;

  /// Removes the document if its version is still `expected`; durable.
  /// Errors: kConflict - the version differs, or it is gone.
  virtual Task<Result<void>> remove(const DocumentId& id, Version expected,
                                    const CallContext& call) = 0;

  /// Reads a page; it may have fewer documents than `limit`, where they are large: only an empty
  /// `next` says that it was the last. Errors: kInvalidArgument - limit or `after`.
  virtual Task<Result<DocumentPage>> query(const DocumentQuery& query, const CallContext& call) = 0;

  /// The store's time.
  virtual Task<Result<StoreTime>> now(const CallContext& call) = 0;

  /// How many documents of a kind have each state, by the index; those without one are not counted.
  /// A store that has no cheaper way may leave it as it is: this one reads every document, page by
  /// page. Exact where nothing is written meanwhile.
  virtual Task<Result<StateCounts>> count_by_state(DocumentKind kind, const CallContext& call) {
    DocumentQuery all;
    all.kind = kind;
    all.limit = 1000;
    StateCounts counts;
    do {
      auto page = co_await query(all, call);
      if (!page) co_return page.error();
      for (const StoredDocument& stored : page->documents) {
        const std::string& state = stored.document.index.state;
        if (!state.empty()) ++counts[state];
      }
      all.after = std::move(page->next);
    } while (!all.after.empty());
    co_return counts;
  }
};

}  // namespace cove
