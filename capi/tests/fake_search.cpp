/// The puppet's searches: what was asked is kept, and so are the callbacks, for the test to call.
#include "fake_answers.hpp"

namespace cove {

using fake::world;

class SearchHandle::Impl {};

void SearchHandle::resume() const { ++world().resumed; }
void SearchHandle::cancel() const { ++world().cancelled; }

Result<GrepResult> SandboxSearch::grep(const std::string& path, const GrepQuery& query,
                                       const CallContext& call) const {
  world().path = path;
  world().grep = query;
  world().call = call;
  return fake::reply(world().lines);
}

Result<FindResult> SandboxSearch::find(const std::string& path, const FindQuery& query,
                                       const CallContext& call) const {
  world().path = path;
  world().find = query;
  world().call = call;
  return fake::reply(world().entries);
}

SearchHandle SandboxSearch::grep_async(std::string path, GrepQuery query,
                                       SearchCallbacks<GrepLine> callbacks,
                                       CallContext call) const {
  world().path = std::move(path);
  world().grep = std::move(query);
  world().call = std::move(call);
  world().grep_callbacks = std::move(callbacks);
  return SearchHandle(nullptr);
}

SearchHandle SandboxSearch::find_async(std::string path, FindQuery query,
                                       SearchCallbacks<FindEntry> callbacks,
                                       CallContext call) const {
  world().path = std::move(path);
  world().find = std::move(query);
  world().call = std::move(call);
  world().find_callbacks = std::move(callbacks);
  return SearchHandle(nullptr);
}

}  // namespace cove
