/// SandboxSearch: the searches of a SandboxClient.
///
///     auto found = client.grep("src", {.pattern = "TODO", .literal = true});
///     client.find_each(".", {.glob = "*.log", .limit = {}}, [](auto entries) {
///       for (const auto& entry : entries) note(entry.path);
///       return cove::ok();
///     });
///
/// Threads, blocking and callbacks: as of SandboxClient. What is searched, and how: search.hpp.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include <cove/call_context.hpp>
#include <cove/flow.hpp>
#include <cove/result.hpp>
#include <cove/sandbox_files.hpp>
#include <cove/search.hpp>

namespace cove {

/// Takes what a search finds, some at a time, in order; an error ends the search and is returned.
template <class Found>
using FoundSink = std::function<Result<void>(std::span<const Found> found)>;

/// What a search gives as it goes.
template <class Found>
struct SearchCallbacks {
  /// The next results in order; may be empty, then they are only counted. After kPause nothing more
  /// comes, and the search waits, until SearchHandle::resume.
  std::function<Flow(std::span<const Found> found)> on_found;

  /// Called exactly once, last.
  std::function<void(Result<SearchSummary> summary)> on_done;
};

/// Steers a search that was started. Copies steer the same one; letting go of it ends nothing.
class SearchHandle {
 public:
  /// Lets results come again after a callback answered kPause. Harmless otherwise. Any thread.
  void resume() const;

  /// Ends the search; on_done gets kCancelled in the summary. Any thread.
  void cancel() const;

 private:
  friend class SandboxSearch;
  class Impl;
  explicit SearchHandle(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

class SandboxSearch {
 public:
  /// Searches the files below a directory, or one file, and collects at most 10,000 matching lines
  /// (64 MiB with their context). When the deadline passes or the call is cancelled, what was found
  /// by then comes back, and the summary says so. Errors: as GuestSearch::grep; kTooLarge.
  Result<GrepResult> grep(const std::string& path, const GrepQuery& query,
                          const CallContext& call = {}) const;

  /// Gives the lines to `sink` as they are found, on the calling thread; `query.limit` may be none.
  Result<SearchSummary> grep_each(const std::string& path, const GrepQuery& query,
                                  const FoundSink<GrepLine>& sink,
                                  const CallContext& call = {}) const;

  /// Looks for names below a directory; as grep.
  Result<FindResult> find(const std::string& path, const FindQuery& query = {},
                          const CallContext& call = {}) const;
  Result<SearchSummary> find_each(const std::string& path, const FindQuery& query,
                                  const FoundSink<FindEntry>& sink,
                                  const CallContext& call = {}) const;

  /// Start a search and return at once; everything else comes through the callbacks.
  SearchHandle grep_async(std::string path, GrepQuery query, SearchCallbacks<GrepLine> callbacks,
                          CallContext call = {}) const;
  SearchHandle find_async(std::string path, FindQuery query, SearchCallbacks<FindEntry> callbacks,
                          CallContext call = {}) const;

 protected:
  /// As of SandboxFiles.
  using Reach = SandboxFiles::Reach;
  explicit SandboxSearch(std::shared_ptr<const Reach> reach) : reach_(std::move(reach)) {}

 private:
  std::shared_ptr<const Reach> reach_;
};

}  // namespace cove
