#include "agent/search/newest.hpp"

#include <algorithm>
#include <utility>

#include "wire/search_batch.hpp"

namespace cove::agent {
namespace {

constexpr std::size_t kSegment = 48U * 1024;

}  // namespace

bool Newest::is_before(const FileInfo& a, const FileInfo& b) {
  if (a.modified != b.modified) return a.modified > b.modified;
  return a.path < b.path;
}

void Newest::add(const std::string& path, const FileInfo& facts) {
  FileInfo entry = facts;
  entry.path = path;
  const std::lock_guard lock(mutex_);
  if (heap_.size() == limit_) {
    if (!is_before(entry, heap_.front())) return;
    std::pop_heap(heap_.begin(), heap_.end(), is_before);
    heap_.pop_back();
  }
  heap_.push_back(std::move(entry));
  std::push_heap(heap_.begin(), heap_.end(), is_before);
}

Found Newest::take(bool with_facts) {
  std::vector<FileInfo> entries;
  {
    const std::lock_guard lock(mutex_);
    entries = std::exchange(heap_, {});
  }
  std::sort(entries.begin(), entries.end(), is_before);
  Found found;
  FoundSegment segment;
  segment.kind = FoundSegment::Kind::kEntries;
  for (const FileInfo& entry : entries) {
    FileInfo facts = entry;
    facts.path.clear();
    wire::pack_entry(segment.bytes, entry.path, entry.type, with_facts ? &facts : nullptr);
    ++segment.matches;
    segment.cuts.push_back(static_cast<std::uint32_t>(segment.bytes.size()));
    if (segment.bytes.size() < kSegment) continue;
    found.segments.push_back(std::exchange(segment, FoundSegment()));
    segment.kind = FoundSegment::Kind::kEntries;
  }
  found.segments.push_back(std::move(segment));
  return found;
}

}  // namespace cove::agent
