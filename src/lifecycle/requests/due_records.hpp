/// What a query finds, in batches: oldest first, and no source holds up the others.
///
/// A batch has at most so many of one source; what is left of it comes in the next ones, while the
/// batch looks further for other sources. Within a batch the sources take turns. Memory is bounded
/// by the batch and how far it looks, not by how many are due.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include <cove/metadata_store.hpp>

#include "lifecycle/records/record_store.hpp"

namespace cove::lifecycle {

class DueRecords {
 public:
  /// How many of one source a batch has at most, how many in all, and how many pages it looks at.
  struct Bounds {
    std::uint32_t share = 100;
    std::uint32_t batch = 1000;
    std::uint32_t page = 1000;
    std::uint32_t pages = 10;
  };
  using LeavesOut = std::function<bool(const std::string& source)>;

  /// `leaves_out` may be empty.
  DueRecords(RecordStore& records, DocumentQuery query, LeavesOut leaves_out, Bounds bounds);
  DueRecords(RecordStore& records, DocumentQuery query, LeavesOut leaves_out = {});

  /// The next batch; empty = that was all.
  Task<Result<std::vector<SandboxId>>> next(const CallContext& call);

 private:
  struct Batch;
  static std::vector<SandboxId> in_turns(Batch& batch);
  void sort_in(const DocumentPage& page, const std::string& from, Batch& batch);

  RecordStore& records_;
  DocumentQuery query_;
  LeavesOut leaves_out_;
  Bounds bounds_;
  bool at_end_ = false;
  std::set<std::string> ahead_;  // given out already, though they come again
};

}  // namespace cove::lifecycle
