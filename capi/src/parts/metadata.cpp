#include "parts/metadata.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "parts/documents.hpp"

namespace cove::capi {
namespace {

using Slots = cove_metadata_store;

static_assert(static_cast<int>(Durability::kRelaxed) == COVE_DURABILITY_RELAXED);
static_assert(static_cast<int>(Durability::kDurable) == COVE_DURABILITY_DURABLE);

/// What a slot is called with, for as long as it may be called.
struct Asking {
  GivenPtr<Slots> given;
  std::shared_ptr<const GivenDocument> document;
  DocumentId id;
  std::uint64_t expected = 0;
  std::int32_t durability = COVE_DURABILITY_DURABLE;
  std::shared_ptr<const GivenQuery> query;

  const Slots& slots() const noexcept { return given->slots; }
  void* self() const noexcept { return given->user.get(); }
  std::uint32_t kind() const noexcept { return static_cast<std::uint32_t>(id.kind); }
};

class HostMetadata final : public MetadataStore {
 public:
  HostMetadata(GivenPtr<Slots> given, PartRuntime runtime, unsigned threads)
      : given_(std::move(given)), part_("metadata store", std::move(runtime), threads) {}

  Task<Result<Version>> insert(const DocumentId& id, const Document& document,
                               Durability durability, const CallContext& call) override {
    COVE_CO_TRY(Asking asking, about(id, document, durability, call));
    AskHost ask = [asking = std::move(asking)](cove_done* done) {
      asking.slots().insert(asking.self(), &asking.document->view(), asking.durability, done);
    };
    Task<Result<Version>> answer = part_.ask<Version>("insert", std::move(ask), call);
    co_return co_await answer;
  }

  Task<Result<std::optional<StoredDocument>>> find(const DocumentId& id,
                                                   const CallContext& call) override {
    COVE_CO_TRY(Asking asking, about(id, call));
    AskHost ask = [asking = std::move(asking)](cove_done* done) {
      asking.slots().find(asking.self(), asking.kind(), asking.id.name.c_str(), done);
    };
    using Found = std::optional<StoredDocument>;
    Task<Result<Found>> answer = part_.ask<Found>("find", std::move(ask), call);
    COVE_CO_TRY(Found found, co_await answer);
    if (found && found->id != id) {
      co_return part_.nonsense("find", "a document of another name or kind");
    }
    co_return found;
  }

  Task<Result<Version>> compare_and_swap(const DocumentId& id, Version expected,
                                         const Document& next, Durability durability,
                                         const CallContext& call) override {
    COVE_CO_TRY(Asking asking, about(id, next, durability, call));
    asking.expected = static_cast<std::uint64_t>(expected);
    AskHost ask = [asking = std::move(asking)](cove_done* done) {
      asking.slots().compare_and_swap(asking.self(), &asking.document->view(), asking.expected,
                                      asking.durability, done);
    };
    Task<Result<Version>> answer = part_.ask<Version>("compare_and_swap", std::move(ask), call);
    COVE_CO_TRY(const Version written, co_await answer);
    if (written > expected) co_return written;
    co_return part_.nonsense(
        "compare_and_swap",
        "version " + text_of(written) + ", which is not greater than " + text_of(expected));
  }

  Task<Result<void>> remove(const DocumentId& id, Version expected,
                            const CallContext& call) override {
    COVE_CO_TRY(Asking asking, about(id, call));
    asking.expected = static_cast<std::uint64_t>(expected);
    AskHost ask = [asking = std::move(asking)](cove_done* done) {
      asking.slots().remove(asking.self(), asking.kind(), asking.id.name.c_str(), asking.expected,
                            done);
    };
    Task<Result<void>> answer = part_.tell("remove", std::move(ask), call);
    co_return co_await answer;
  }

  Task<Result<DocumentPage>> query(const DocumentQuery& query, const CallContext& call) override {
    COVE_CO_TRY_VOID(call.check(part_.tools().clock()));
    COVE_CO_TRY(const auto start, base::start_of(query));
    Asking asking;
    asking.given = given_;
    asking.query = std::make_shared<GivenQuery>(query, start);
    AskHost ask = [asking = std::move(asking)](cove_done* done) {
      asking.slots().query(asking.self(), &asking.query->view(), done);
    };
    Task<Result<DocumentsAnswer>> answer =
        part_.ask<DocumentsAnswer>("query", std::move(ask), call);
    COVE_CO_TRY(DocumentsAnswer found, co_await answer);
    co_return page_of(query, start, std::move(found));
  }

  Task<Result<StoreTime>> now(const CallContext& call) override {
    AskHost ask = [given = given_](cove_done* done) { given->slots.now(given->user.get(), done); };
    Task<Result<StoreTime>> answer = part_.ask<StoreTime>("now", std::move(ask), call);
    COVE_CO_TRY(const StoreTime time, co_await answer);
    const std::lock_guard lock(mutex_);
    last_time_ = std::max(last_time_, time);
    co_return last_time_;
  }

 private:
  static std::string text_of(Version version) {
    return std::to_string(static_cast<std::uint64_t>(version));
  }

  Result<Asking> about(const DocumentId& id, const CallContext& call) const {
    COVE_TRY_VOID(call.check(part_.tools().clock()));
    COVE_TRY_VOID(base::check_document_id(id));
    Asking asking;
    asking.given = given_;
    asking.id = id;
    return asking;
  }

  Result<Asking> about(const DocumentId& id, const Document& document, Durability durability,
                       const CallContext& call) const {
    COVE_TRY(Asking asking, about(id, call));
    COVE_TRY_VOID(base::check_document(document));
    COVE_TRY_VOID(check_index(document.index));
    asking.document = std::make_shared<GivenDocument>(id, document);
    asking.durability = static_cast<std::int32_t>(durability);
    return asking;
  }

  const GivenPtr<Slots> given_;
  Part part_;  // ends first: nothing calls a slot any more
  std::mutex mutex_;
  StoreTime last_time_ = StoreTime::min();  // guarded by mutex_
};

}  // namespace

Result<void> check_given(const cove_metadata_store& slots) {
  constexpr const char* kName = "cove_metadata_store";
  COVE_TRY_VOID(read_threads(slots.flags, 0, slots.threads, kName));
  COVE_TRY_VOID(check_flags(slots.reserved0, 0, "cove_metadata_store.reserved0"));
  COVE_TRY_VOID(require_slot(slots.insert, kName, "insert"));
  COVE_TRY_VOID(require_slot(slots.find, kName, "find"));
  COVE_TRY_VOID(require_slot(slots.compare_and_swap, kName, "compare_and_swap"));
  COVE_TRY_VOID(require_slot(slots.remove, kName, "remove"));
  COVE_TRY_VOID(require_slot(slots.query, kName, "query"));
  return require_slot(slots.now, kName, "now");
}

std::shared_ptr<MetadataStore> make_host_metadata(GivenPtr<cove_metadata_store> given,
                                                  PartRuntime runtime) {
  const Slots& slots = given->slots;
  const unsigned threads =
      read_threads(slots.flags, 0, slots.threads, "cove_metadata_store").value_or(0);
  return std::make_shared<HostMetadata>(std::move(given), std::move(runtime), threads);
}

}  // namespace cove::capi
