#include "lifecycle/requests/source.hpp"

#include <functional>
#include <optional>
#include <utility>

#include "lifecycle/requests/settle.hpp"

namespace cove::lifecycle {
namespace {

using Edit = std::function<void(SourceDocument& document)>;

struct StoredSource {
  SourceDocument document;
  std::optional<Version> version;  // none = it is not in the store yet
};

Task<Result<StoredSource>> load_source(Core& core, std::string source, const CallContext& call) {
  const DocumentId name = document_of_source(source);
  COVE_CO_TRY(const auto found, co_await core.parts.store.find(name, call));
  StoredSource stored;
  stored.document.source = std::move(source);
  if (!found) co_return stored;
  COVE_CO_TRY(stored.document, parse_source(found->document.body));
  stored.version = found->version;
  co_return stored;
}

/// Changes what is known of a source. What `edit` does twice is as good as once.
Task<Result<void>> edit_source(Core& core, std::string source, Edit edit, const CallContext& call) {
  const DocumentId name = document_of_source(source);
  for (int round = 0;; ++round) {
    COVE_CO_TRY(StoredSource stored, co_await load_source(core, source, call));
    edit(stored.document);
    const Document next{to_json(stored.document), index_of(stored.document)};
    Result<Version> written = Error(ErrorCode::kInternal, "nothing was written");
    if (stored.version) {
      written = co_await core.parts.store.compare_and_swap(name, *stored.version, next,
                                                           Durability::kDurable, call);
    } else {
      written = co_await core.parts.store.insert(name, next, Durability::kDurable, call);
    }
    if (written) co_return ok();
    const ErrorCode code = written.error().code();
    const bool again = code == ErrorCode::kConflict || code == ErrorCode::kAlreadyExists ||
                       code == ErrorCode::kUnavailable;
    if (!again || round >= 10) co_return written.error();
  }
}

Result<void> check_policy(const IdlePolicy& policy) {
  using std::chrono::milliseconds;
  const milliseconds none{0};
  if (policy.stop_after.value_or(none) >= none && policy.archive_after.value_or(none) >= none) {
    return {};
  }
  return Error(ErrorCode::kInvalidArgument, "the times of an idle policy must not be below 0");
}

/// Everything of one source, gone.
class SourceEnd {
 public:
  SourceEnd(std::shared_ptr<Core> core, std::string source, SourceProgressSink progress)
      : core_(std::move(core)), source_(std::move(source)), progress_(std::move(progress)) {}

  /// From the start again until a whole pass finds none: one may have come meanwhile.
  Task<Result<std::uint32_t>> run(const CallContext& call) {
    for (;;) {
      const std::uint32_t before = seen_.destroyed;
      first_error_.reset();
      COVE_CO_TRY_VOID(co_await pass(call));
      if (seen_.destroyed == before) break;
    }
    if (first_error_) co_return *first_error_;
    co_return seen_.destroyed;
  }

 private:
  Task<Result<void>> pass(const CallContext& call) {
    DocumentQuery query;
    query.source = source_;
    do {
      COVE_CO_TRY(const auto page, co_await core_->records.query(query, call));
      for (const StoredDocument& document : page.documents) {
        COVE_CO_TRY_VOID(core_->check(call));
        co_await destroy(SandboxId(document.id.name), call);
      }
      query.after = page.next;
    } while (!query.after.empty());
    co_return ok();
  }

  Task<void> destroy(SandboxId sandbox, const CallContext& call) {
    const StopOptions options{StopDrain::kCancel};
    const Request request{Goal::kGone, options, Reason::kSource};
    const auto done = co_await settle(core_, sandbox, request, call);
    seen_.sandbox = sandbox;
    if (done || done.error().code() == ErrorCode::kNotFound) {
      ++seen_.destroyed;
    } else {
      ++seen_.failed;
      if (!first_error_) first_error_ = done.error().with_context("sandbox", sandbox.str());
    }
    if (progress_) progress_(seen_);
  }

  std::shared_ptr<Core> core_;
  std::string source_;
  SourceProgressSink progress_;
  SourceProgress seen_;
  std::optional<Error> first_error_;
};

}  // namespace

Task<Result<void>> check_source(Core& core, WorkspaceKey key, const CallContext& call) {
  const std::string source = key.source_type + "/" + key.source_id;
  COVE_CO_TRY(const StoredSource stored, co_await load_source(core, source, call));
  if (!stored.document.is_deleted()) co_return ok();
  co_return Error(ErrorCode::kFailedPrecondition,
                  "source '" + source + "' was deleted; revive it to use its workspaces again");
}

Task<Result<std::uint32_t>> destroy_source(std::shared_ptr<Core> core, std::string source,
                                           SourceProgressSink progress, const CallContext& call) {
  COVE_CO_TRY(const StoreTime now, co_await core->records.now(call));
  const Edit edit = [now](SourceDocument& document) { document.deleted_at = now; };
  COVE_CO_TRY_VOID(co_await edit_source(*core, source, edit, call));
  SourceEnd end(core, std::move(source), std::move(progress));
  co_return co_await end.run(call);
}

Task<Result<void>> revive_source(std::shared_ptr<Core> core, std::string source,
                                 const CallContext& call) {
  const Edit edit = [](SourceDocument& document) { document.deleted_at = StoreTime{}; };
  co_return co_await edit_source(*core, std::move(source), edit, call);
}

Task<Result<void>> set_idle_policy(std::shared_ptr<Core> core, std::string source,
                                   IdlePolicy policy, const CallContext& call) {
  COVE_CO_TRY_VOID(check_policy(policy));
  const Edit edit = [policy](SourceDocument& document) { document.idle = policy; };
  co_return co_await edit_source(*core, std::move(source), edit, call);
}

Task<Result<IdlePolicy>> idle_policy(std::shared_ptr<Core> core, std::string source,
                                     const CallContext& call) {
  COVE_CO_TRY(const StoredSource stored, co_await load_source(*core, std::move(source), call));
  co_return stored.document.idle;
}

Task<Result<std::map<std::string, IdlePolicy>>> idle_policies(std::shared_ptr<Core> core,
                                                              const CallContext& call) {
  DocumentQuery query;
  query.kind = DocumentKind::kSource;
  query.state = kHasIdlePolicy;
  std::map<std::string, IdlePolicy> policies;
  do {
    COVE_CO_TRY(const auto page, co_await core->records.query(query, call));
    for (const StoredDocument& stored : page.documents) {
      COVE_CO_TRY(auto document, parse_source(stored.document.body));
      policies.emplace(std::move(document.source), document.idle);
    }
    query.after = page.next;
  } while (!query.after.empty());
  co_return policies;
}

}  // namespace cove::lifecycle
