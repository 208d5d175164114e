#include <utility>

#include <cove/sandbox_search.hpp>

#include "client/sandbox_reach.hpp"
#include "client/search_calls.hpp"

namespace cove {

class SearchHandle::Impl : public client::ExecSteering {};

void SearchHandle::resume() const { impl_->resume(); }
void SearchHandle::cancel() const { impl_->cancel(); }

namespace {

/// Starts a search; `steering` is its handle's.
template <class Found, class Query>
void start_search(const std::shared_ptr<client::GuestLink>& link,
                  client::StreamedSearch<Found, Query> search, const CallContext& call,
                  std::function<void(Result<SearchSummary>)> on_done) {
  const CallContext steered = call.ended_by(search.steering->stop_token());
  auto kept = std::make_shared<client::StreamedSearch<Found, Query>>(std::move(search));
  client::run_async<SearchSummary>(
      link, steered,
      [link, kept = std::move(kept)](const CallContext& inner) {
        return client::stream(*link, *kept, inner);
      },
      std::move(on_done));
}

}  // namespace

Result<GrepResult> SandboxSearch::grep(const std::string& path, const GrepQuery& query,
                                       const CallContext& call) const {
  const GuestPath target = reach_->at(path);
  return client::run_blocking(*reach_->link, call, [&](const CallContext& inner) {
    return client::collect(*reach_->link, target, query, inner);
  });
}

Result<SearchSummary> SandboxSearch::grep_each(const std::string& path, const GrepQuery& query,
                                               const FoundSink<GrepLine>& sink,
                                               const CallContext& call) const {
  return client::give_each(*reach_->link, reach_->at(path), query, sink, call);
}

Result<FindResult> SandboxSearch::find(const std::string& path, const FindQuery& query,
                                       const CallContext& call) const {
  const GuestPath target = reach_->at(path);
  return client::run_blocking(*reach_->link, call, [&](const CallContext& inner) {
    return client::collect(*reach_->link, target, query, inner);
  });
}

Result<SearchSummary> SandboxSearch::find_each(const std::string& path, const FindQuery& query,
                                               const FoundSink<FindEntry>& sink,
                                               const CallContext& call) const {
  return client::give_each(*reach_->link, reach_->at(path), query, sink, call);
}

SearchHandle SandboxSearch::grep_async(std::string path, GrepQuery query,
                                       SearchCallbacks<GrepLine> callbacks,
                                       CallContext call) const {
  auto steering = std::make_shared<SearchHandle::Impl>();
  start_search<GrepLine, GrepQuery>(reach_->link,
                                    {reach_->at(std::move(path)), std::move(query),
                                     std::move(callbacks.on_found), steering, call.stop},
                                    call, std::move(callbacks.on_done));
  return SearchHandle(std::move(steering));
}

SearchHandle SandboxSearch::find_async(std::string path, FindQuery query,
                                       SearchCallbacks<FindEntry> callbacks,
                                       CallContext call) const {
  auto steering = std::make_shared<SearchHandle::Impl>();
  start_search<FindEntry, FindQuery>(reach_->link,
                                     {reach_->at(std::move(path)), std::move(query),
                                      std::move(callbacks.on_found), steering, call.stop},
                                     call, std::move(callbacks.on_done));
  return SearchHandle(std::move(steering));
}

}  // namespace cove
