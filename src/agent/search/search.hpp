/// Search: one search, from the opening of its directory to its last result, on threads of its own.
///
/// It begins with one thread and takes more while there is work for them and the budget allows;
/// they end with it, so an agent that searches nothing has none.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <cove/guest_files.hpp>
#include <cove/result.hpp>
#include <cove/search.hpp>

#include "agent/files.hpp"
#include "agent/search/walk/entry_filter.hpp"
#include "agent/search/walk/walk_order.hpp"

namespace cove::agent {

/// How many threads all searches of an agent have beyond each one's first.
class ThreadBudget {
 public:
  explicit ThreadBudget(unsigned most) : left_(static_cast<int>(most)) {}
  bool take() {
    if (left_.fetch_sub(1) > 0) return true;
    left_.fetch_add(1);
    return false;
  }
  void give_back(int threads) { left_.fetch_add(threads); }

 private:
  std::atomic<int> left_;
};

/// What a search works with; borrowed, and outlives it.
struct SearchGround {
  const Files& files;
  ThreadBudget& budget;
  unsigned most_threads = 1;  ///< of one search
};

/// What is told while a search runs; by any thread.
struct SearchEvents {
  std::function<void()> on_output;  ///< see WalkOrder
  std::function<void()> on_done;    ///< nothing of it runs any more but this call
};

/// One thread's part.
class SearchWorker {
 public:
  virtual ~SearchWorker() = default;

  /// Looks at the entries of a piece. False: the search was stopped.
  virtual bool look(WalkOrder::Place place, Found& found) = 0;
};

class Search {
 public:
  virtual ~Search();
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  /// kUnavailable: the system has no thread for it.
  Result<void> start();

  /// Ends it early, keeping what it has found; its threads are through soon after.
  void stop(SearchEnd ending) { order_.stop(ending, last()); }

  std::optional<Bytes> next_output(std::size_t most) { return order_.next_output(most); }

  /// How it ended, or why it could not begin, once all output is taken.
  std::optional<Result<SearchSummary>> ending() const { return order_.ending(); }

 protected:
  Search(SearchGround& ground, GuestPath path, WalkOrder::Options options, SearchEvents events);

  /// Stops and waits for the threads; every destructor of a last class begins with it.
  void end();

  /// Checks the query, and sets the filter up but for `searched`.
  virtual Result<void> prepare() = 0;
  virtual const EntryFilter& filter() const = 0;
  virtual EntryFilter& filter() = 0;
  virtual std::unique_ptr<SearchWorker> make_worker() = 0;
  virtual bool takes_file() const = 0;  ///< a file may be searched, not only a directory
  virtual std::optional<std::uint32_t> max_depth() const { return std::nullopt; }

  /// The searched files' file system is known to give all of a file that there is at once.
  bool on_local_disk() const noexcept { return local_disk_; }

  /// What is given after everything else.
  virtual Found last() { return {}; }

  WalkOrder order_;

 private:
  Result<void> open();
  static std::shared_ptr<const IgnoreLevel> outer_rules(int root, const std::string& below);
  bool hire();
  void run(bool first);
  void work();
  std::shared_ptr<Directory> read_inner(const WalkPiece& piece, SearchSummary& counts) const;

  SearchGround& ground_;
  GuestPath path_;
  SearchEvents events_;
  bool local_disk_ = false;
  std::mutex mutex_;
  std::vector<std::thread> threads_;  ///< guarded by mutex_
  unsigned hired_ = 0;                ///< guarded by mutex_
  std::atomic<unsigned> running_{0};
};

}  // namespace cove::agent
