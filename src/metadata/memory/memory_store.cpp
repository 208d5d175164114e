#include "metadata/memory/memory_store.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/text/document_rules.hpp"

namespace cove::metadata {
namespace {

struct Entry {
  Version version{};
  Document document;
};
using Documents = std::map<DocumentId, Entry>;

bool holds(const std::optional<std::string>& wanted, const std::string& value) {
  return !wanted || (!value.empty() && value == *wanted);
}

bool holds(const std::optional<StoreTime>& before, const std::optional<StoreTime>& value) {
  return !before || (value && *value < *before);
}

bool matches(const DocumentQuery& query, const DocumentIndex& index) {
  return holds(query.state, index.state) && holds(query.source, index.source) &&
         holds(query.node, index.node) && holds(query.active_before, index.active_at) &&
         holds(query.heartbeat_before, index.heartbeat_at);
}

struct Candidate {
  base::PagePosition position;
  Documents::const_iterator entry;
};

/// What the query asks for, after `start`, not sorted.
std::vector<Candidate> candidates(const Documents& documents, const DocumentQuery& query,
                                  const std::optional<base::PagePosition>& start) {
  std::vector<Candidate> found;
  const auto first = documents.lower_bound(DocumentId{query.kind, std::string()});
  for (auto it = first; it != documents.end() && it->first.kind == query.kind; ++it) {
    const DocumentIndex& index = it->second.document.index;
    if (!matches(query, index)) continue;
    auto position = base::position_of(it->first, index, query.order);
    if (!position || (start && *position <= *start)) continue;
    found.push_back({std::move(*position), it});
  }
  return found;
}

class MemoryStore final : public MetadataStore {
 public:
  MemoryStore(const Clock& clock, std::function<StoreTime()> time)
      : clock_(clock), time_(std::move(time)) {}

  Task<Result<Version>> insert(const DocumentId& id, const Document& document, Durability,
                               const CallContext& call) override {
    COVE_CO_TRY_VOID(call.check(clock_));
    COVE_CO_TRY_VOID(base::check_document_id(id));
    COVE_CO_TRY_VOID(base::check_document(document));
    const std::lock_guard lock(mutex_);
    const auto [it, added] = documents_.try_emplace(id);
    if (!added) co_return Error(ErrorCode::kAlreadyExists, "the document is there already");
    it->second = Entry{next_version(), document};
    co_return it->second.version;
  }

  Task<Result<std::optional<StoredDocument>>> find(const DocumentId& id,
                                                   const CallContext& call) override {
    COVE_CO_TRY_VOID(call.check(clock_));
    COVE_CO_TRY_VOID(base::check_document_id(id));
    const std::lock_guard lock(mutex_);
    const auto it = documents_.find(id);
    std::optional<StoredDocument> found;
    if (it != documents_.end()) found = StoredDocument{id, it->second.version, it->second.document};
    co_return found;
  }

  Task<Result<Version>> compare_and_swap(const DocumentId& id, Version expected,
                                         const Document& next, Durability,
                                         const CallContext& call) override {
    COVE_CO_TRY_VOID(call.check(clock_));
    COVE_CO_TRY_VOID(base::check_document_id(id));
    COVE_CO_TRY_VOID(base::check_document(next));
    const std::lock_guard lock(mutex_);
    const auto it = documents_.find(id);
    if (it == documents_.end() || it->second.version != expected) co_return conflict();
    it->second = Entry{next_version(), next};
    co_return it->second.version;
  }

  Task<Result<void>> remove(const DocumentId& id, Version expected,
                            const CallContext& call) override {
    COVE_CO_TRY_VOID(call.check(clock_));
    COVE_CO_TRY_VOID(base::check_document_id(id));
    const std::lock_guard lock(mutex_);
    const auto it = documents_.find(id);
    if (it == documents_.end() || it->second.version != expected) co_return conflict();
    documents_.erase(it);
    co_return ok();
  }

  Task<Result<DocumentPage>> query(const DocumentQuery& query, const CallContext& call) override {
    COVE_CO_TRY_VOID(call.check(clock_));
    COVE_CO_TRY(const auto start, base::start_of(query));
    const std::lock_guard lock(mutex_);
    std::vector<Candidate> found = candidates(documents_, query, start);
    const auto wanted = std::min<std::size_t>(found.size(), std::size_t{query.limit} + 1);
    std::partial_sort(
        found.begin(), found.begin() + static_cast<std::ptrdiff_t>(wanted), found.end(),
        [](const Candidate& a, const Candidate& b) { return a.position < b.position; });
    base::PageBuilder page(query);
    for (std::size_t i = 0; i < wanted; ++i) {
      const auto& [id, entry] = *found[i].entry;
      if (!page.add(StoredDocument{id, entry.version, entry.document})) break;
    }
    co_return std::move(page).finish();
  }

  Task<Result<StateCounts>> count_by_state(DocumentKind kind, const CallContext& call) override {
    COVE_CO_TRY_VOID(call.check(clock_));
    const std::lock_guard lock(mutex_);
    StateCounts counts;
    const auto first = documents_.lower_bound(DocumentId{kind, std::string()});
    for (auto it = first; it != documents_.end() && it->first.kind == kind; ++it) {
      const std::string& state = it->second.document.index.state;
      if (!state.empty()) ++counts[state];
    }
    co_return counts;
  }

  Task<Result<StoreTime>> now(const CallContext& call) override {
    COVE_CO_TRY_VOID(call.check(clock_));
    const StoreTime time = time_ ? time_() : time_of_clock();
    const std::lock_guard lock(mutex_);
    last_time_ = std::max(last_time_, time);
    co_return last_time_;
  }

 private:
  static Error conflict() {
    return {ErrorCode::kConflict, "the document was changed or removed by somebody else"};
  }

  StoreTime time_of_clock() const {
    return StoreTime(
        std::chrono::floor<std::chrono::milliseconds>(clock_.now().time_since_epoch()));
  }

  /// One counter for all documents, so a version is not used again after a removal either.
  Version next_version() { return Version{++last_version_}; }

  const Clock& clock_;
  const std::function<StoreTime()> time_;
  std::mutex mutex_;  // guards all below
  Documents documents_;
  std::uint64_t last_version_ = 0;
  StoreTime last_time_{};
};

}  // namespace

std::shared_ptr<MetadataStore> make_memory_store(const Clock& clock,
                                                 std::function<StoreTime()> time) {
  return std::make_shared<MemoryStore>(clock, std::move(time));
}

}  // namespace cove::metadata
