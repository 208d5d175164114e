/// GrepSearch: lines that match a pattern, in the files below a directory.
#pragma once

#include <memory>
#include <optional>

#include "agent/search/pattern/pattern.hpp"
#include "agent/search/search.hpp"

namespace cove::agent {

class GrepSearch final : public Search {
 public:
  GrepSearch(SearchGround& ground, GuestPath path, GrepQuery query, SearchEvents events);
  ~GrepSearch() override { end(); }

 private:
  class Filter final : public EntryFilter {
   public:
    bool wants(std::string_view path, std::string_view name, unsigned char type) const override;
    GlobList include;
  };
  class Worker;

  Result<void> prepare() override;
  const EntryFilter& filter() const override { return filter_; }
  EntryFilter& filter() override { return filter_; }
  std::unique_ptr<SearchWorker> make_worker() override;
  bool takes_file() const override { return true; }

  GrepQuery query_;
  Filter filter_;
  std::optional<Pattern> pattern_;
};

}  // namespace cove::agent
