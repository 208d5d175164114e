/// What a guest does to search: the part of the seam guest.hpp that looks through a workspace.
#pragma once

#include <memory>
#include <vector>

#include <cove/guest_files.hpp>
#include <cove/search.hpp>

namespace cove {

/// What a search finds, as it is asked for: not asking is what makes the search wait, so nobody
/// ever holds all results. One caller at a time.
template <class Found>
class SearchStream {
 public:
  /// Lets go of the search: one that still runs is cancelled, in the background.
  virtual ~SearchStream() = default;

  /// Gives the next results in order; empty = there are no more, which stays so. When the deadline
  /// of `call` passes or it is cancelled, the search ends early: what was found by then still
  /// comes, and the summary says so. Errors: kUnavailable; kIntegrity.
  virtual Task<Result<std::vector<Found>>> next(const CallContext& call) = 0;

  /// How it ended. REQUIRES: `next` gave an empty list.
  virtual const SearchSummary& summary() const = 0;
};

/// The lines that a grep finds, as it finds them.
using GrepStream = SearchStream<GrepLine>;
/// The entries that a find finds, as it finds them.
using FindStream = SearchStream<FindEntry>;

/// Looks through the files of an instance.
class GuestSearch {
 public:
  virtual ~GuestSearch() = default;

  /// Searches the files below a directory, or one file. The deadline of `call` is the search's own.
  /// Errors: kInvalidArgument - a pattern, glob or limit is wrong, and where; kNotFound;
  /// kPathEscape; kFailedPrecondition - a FIFO, socket or device; kUnsupported - the guest cannot.
  virtual Task<Result<std::unique_ptr<GrepStream>>> grep(const GuestPath& path,
                                                         const GrepQuery& query,
                                                         const CallContext& call) = 0;

  /// Looks for names below a directory. Errors: as grep; kFailedPrecondition - no directory.
  virtual Task<Result<std::unique_ptr<FindStream>>> find(const GuestPath& path,
                                                         const FindQuery& query,
                                                         const CallContext& call) = 0;
};

}  // namespace cove
