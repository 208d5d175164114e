/// SearchService: answers the requests that search. A search sends within credit and otherwise
/// waits; one that is cancelled or whose time is over answers at once with what it has found.
#pragma once

#include <map>
#include <memory>

#include "agent/files.hpp"
#include "agent/loop/event_loop.hpp"
#include "agent/search/search.hpp"
#include "agent/server/connection.hpp"
#include "wire/search_request.hpp"

namespace cove::agent {

class SearchService {
 public:
  /// Both are borrowed and outlive the service.
  SearchService(EventLoop& loop, const Files& files);

  std::shared_ptr<StreamHandler> grep(wire::GrepRequest request, const StreamRef& stream);
  std::shared_ptr<StreamHandler> find(wire::FindRequest request, const StreamRef& stream);

 private:
  class SearchStream;
  template <class Kind, class Query>
  std::shared_ptr<StreamHandler> begin(const wire::SearchStart& start, Query query,
                                       const StreamRef& stream);

  EventLoop& loop_;
  ThreadBudget budget_;
  SearchGround ground_;
  std::uint64_t next_number_ = 1;
  std::map<std::uint64_t, std::shared_ptr<Search>> searches_;  ///< until their threads are through
};

}  // namespace cove::agent
