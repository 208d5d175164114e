// The searches of a SandboxClient.
#include <utility>

#include "client/sandbox_client_impl.hpp"
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
  const CallContext steered{.deadline = call.deadline, .stop = search.steering->stop_token()};
  auto kept = std::make_shared<client::StreamedSearch<Found, Query>>(std::move(search));
  client::run_async<SearchSummary>(
      link, steered,
      [link, kept = std::move(kept)](const CallContext& inner) {
        return client::stream(*link, *kept, inner);
      },
      std::move(on_done));
}

}  // namespace

Result<GrepResult> SandboxClient::grep(const std::string& path, const GrepQuery& query,
                                       const CallContext& call) const {
  const GuestPath target = impl_->at(path);
  return client::run_blocking(*impl_->link, call, [&](const CallContext& inner) {
    return client::collect(*impl_->link, target, query, inner);
  });
}

Result<SearchSummary> SandboxClient::grep_each(
    const std::string& path, const GrepQuery& query,
    const std::function<Result<void>(std::span<const GrepLine>)>& sink,
    const CallContext& call) const {
  return client::give_each(*impl_->link, impl_->at(path), query, sink, call);
}

Result<FindResult> SandboxClient::find(const std::string& path, const FindQuery& query,
                                       const CallContext& call) const {
  const GuestPath target = impl_->at(path);
  return client::run_blocking(*impl_->link, call, [&](const CallContext& inner) {
    return client::collect(*impl_->link, target, query, inner);
  });
}

Result<SearchSummary> SandboxClient::find_each(
    const std::string& path, const FindQuery& query,
    const std::function<Result<void>(std::span<const FindEntry>)>& sink,
    const CallContext& call) const {
  return client::give_each(*impl_->link, impl_->at(path), query, sink, call);
}

SearchHandle SandboxClient::grep_async(std::string path, GrepQuery query,
                                       SearchCallbacks<GrepLine> callbacks,
                                       CallContext call) const {
  auto steering = std::make_shared<SearchHandle::Impl>();
  start_search<GrepLine, GrepQuery>(impl_->link,
                                    {impl_->at(std::move(path)), std::move(query),
                                     std::move(callbacks.on_found), steering, call.stop},
                                    call, std::move(callbacks.on_done));
  return SearchHandle(std::move(steering));
}

SearchHandle SandboxClient::find_async(std::string path, FindQuery query,
                                       SearchCallbacks<FindEntry> callbacks,
                                       CallContext call) const {
  auto steering = std::make_shared<SearchHandle::Impl>();
  start_search<FindEntry, FindQuery>(impl_->link,
                                     {impl_->at(std::move(path)), std::move(query),
                                      std::move(callbacks.on_found), steering, call.stop},
                                     call, std::move(callbacks.on_done));
  return SearchHandle(std::move(steering));
}

}  // namespace cove
