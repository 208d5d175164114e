/// FindSearch: names that match a glob, below a directory.
#pragma once

#include <memory>
#include <optional>

#include "agent/search/newest.hpp"
#include "agent/search/search.hpp"

namespace cove::agent {

class FindSearch final : public Search {
 public:
  FindSearch(SearchGround& ground, GuestPath path, FindQuery query, SearchEvents events);
  ~FindSearch() override { end(); }

 private:
  class Filter final : public EntryFilter {
   public:
    bool wants(std::string_view path, std::string_view name, unsigned char type) const override;
    std::optional<GlobList> glob;
    std::optional<FileType> type;
  };
  class Worker;

  Result<void> prepare() override;
  const EntryFilter& filter() const override { return filter_; }
  EntryFilter& filter() override { return filter_; }
  std::unique_ptr<SearchWorker> make_worker() override;
  bool takes_file() const override { return false; }
  std::optional<std::uint32_t> max_depth() const override { return query_.max_depth; }
  Found last() override;
  bool needs_facts() const;
  bool accepts(const FileInfo& info) const;

  FindQuery query_;
  Filter filter_;
  std::optional<Newest> newest_;
};

}  // namespace cove::agent
