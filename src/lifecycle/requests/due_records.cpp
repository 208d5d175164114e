#include "lifecycle/requests/due_records.hpp"

#include <map>
#include <optional>
#include <utility>

namespace cove::lifecycle {

struct DueRecords::Batch {
  std::map<std::string, std::vector<SandboxId>> by_source;
  std::vector<std::string> sources;  // in the order of their oldest
  std::size_t size = 0;
  std::optional<std::string> resume;  // the page with the first one that was left for later
};

DueRecords::DueRecords(RecordStore& records, DocumentQuery query, LeavesOut leaves_out,
                       Bounds bounds)
    : records_(records),
      query_(std::move(query)),
      leaves_out_(std::move(leaves_out)),
      bounds_(bounds) {}

DueRecords::DueRecords(RecordStore& records, DocumentQuery query, LeavesOut leaves_out)
    : DueRecords(records, std::move(query), std::move(leaves_out), Bounds()) {}

void DueRecords::sort_in(const DocumentPage& page, const std::string& from, Batch& batch) {
  std::vector<std::string> taken;
  for (const StoredDocument& document : page.documents) {
    const std::string& source = document.document.index.source;
    if (leaves_out_ && leaves_out_(source)) continue;
    if (ahead_.contains(document.id.name)) {
      taken.push_back(document.id.name);
      continue;
    }
    auto& own = batch.by_source[source];
    if (own.size() >= bounds_.share || batch.size >= bounds_.batch) {
      if (!batch.resume) batch.resume = from;
      continue;
    }
    if (own.empty()) batch.sources.push_back(source);
    own.emplace_back(document.id.name);
    ++batch.size;
    taken.push_back(document.id.name);
  }
  // The next batch begins at the page of `resume`: it meets these again, or is past them.
  for (const std::string& name : taken) {
    if (batch.resume) {
      ahead_.insert(name);
    } else {
      ahead_.erase(name);
    }
  }
}

std::vector<SandboxId> DueRecords::in_turns(Batch& batch) {
  std::vector<SandboxId> due;
  for (std::size_t turn = 0; due.size() < batch.size; ++turn) {
    for (const std::string& source : batch.sources) {
      const auto& own = batch.by_source[source];
      if (turn < own.size()) due.push_back(own[turn]);
    }
  }
  return due;
}

Task<Result<std::vector<SandboxId>>> DueRecords::next(const CallContext& call) {
  Batch batch;
  // Pages that have nothing to give say nothing about those after them.
  while (!at_end_ && batch.size == 0) {
    for (std::uint32_t pages = 0; pages < bounds_.pages; ++pages) {
      // The first page has room for all of its records, so each batch gets further.
      query_.limit = pages == 0 ? bounds_.share : bounds_.page;
      const std::string from = query_.after;
      COVE_CO_TRY(const auto page, co_await records_.query(query_, call));
      sort_in(page, from, batch);
      query_.after = page.next;
      at_end_ = page.next.empty();
      if (at_end_ || batch.size >= bounds_.batch) break;
    }
    if (!batch.resume) continue;
    query_.after = *batch.resume;
    at_end_ = false;
  }
  co_return in_turns(batch);
}

}  // namespace cove::lifecycle
