/// Searches of a client. All references outlive the tasks.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include <cove/guest_search.hpp>
#include <cove/sandbox_search.hpp>

#include "client/exec_steering.hpp"
#include "client/guest_link.hpp"

namespace cove::client {

/// Collects what a search finds; its limit bounds how much that is.
Task<Result<GrepResult>> collect(GuestLink& link, const GuestPath& path, const GrepQuery& query,
                                 const CallContext& call);
Task<Result<FindResult>> collect(GuestLink& link, const GuestPath& path, const FindQuery& query,
                                 const CallContext& call);

/// Gives what a search finds to `sink`, on the calling thread, which blocks.
Result<SearchSummary> give_each(GuestLink& link, const GuestPath& path, const GrepQuery& query,
                                const FoundSink<GrepLine>& sink, const CallContext& call);
Result<SearchSummary> give_each(GuestLink& link, const GuestPath& path, const FindQuery& query,
                                const FoundSink<FindEntry>& sink, const CallContext& call);

/// A search that is given to a callback as it goes.
template <class Found, class Query>
struct StreamedSearch {
  GuestPath path;
  Query query;
  std::function<Flow(std::span<const Found>)> on_found;
  std::shared_ptr<ExecSteering> steering;
  std::stop_token callers_stop;
};
Task<Result<SearchSummary>> stream(GuestLink& link,
                                   const StreamedSearch<GrepLine, GrepQuery>& search,
                                   const CallContext& call);
Task<Result<SearchSummary>> stream(GuestLink& link,
                                   const StreamedSearch<FindEntry, FindQuery>& search,
                                   const CallContext& call);

}  // namespace cove::client
