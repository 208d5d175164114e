/// WalkOrder: shares a walk among threads, and puts what they find back into the walk's order.
///
/// The walk is a list of pieces in the order of their results: directories that are still to be
/// read, runs of files, and the rests of directories that nobody has taken yet. A thread takes the
/// first free piece; a directory that was read is followed by its entries. What the first piece
/// gave goes out, and then it leaves the list. So results come in one order however many threads
/// there are, and what waits for its turn is bounded.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

#include <dirent.h>

#include <cove/bytes.hpp>
#include <cove/search.hpp>

#include "agent/search/walk/directory.hpp"
#include "agent/search/walk/found.hpp"

namespace cove::agent {

/// Entries of one directory: one inner directory, or a run of others.
struct WalkPiece {
  std::shared_ptr<Directory> directory;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  bool is_directory() const {
    return end == begin + 1 && directory->entries()[begin].type == DT_DIR;
  }
};

class WalkOrder {
 public:
  struct Options {
    std::optional<std::uint64_t> limit;  ///< matches after which the walk stops
    std::uint32_t longest_run = 16;      ///< files that one thread takes at a time
  };
  /// `on_output` is called when output is there after there was none, and at the end; by any
  /// thread, never under a lock.
  WalkOrder(Options options, std::function<void()> on_output);

  /// The walk's first directory. Before any thread takes part.
  void begin(std::shared_ptr<Directory> root);

  struct Item;
  using Place = std::list<Item>::iterator;
  struct Item {
    WalkPiece piece;
    bool taken = false;  ///< else the rest of a directory: pieces are cut off its front
    bool done = false;
    Found found;
    std::list<Place>::iterator source;  ///< in sources_, of a rest or a directory that is read
  };

  /// The first free piece; waits for one. None: the walk is over, or stopped.
  std::optional<Place> take();

  /// Gives what a piece found so far, once its turn has come and there is room. False: stopped.
  bool give(Place place, Found&& found);

  /// Ends a piece. `inner`: its directory, read, where it was one and is there.
  void finish(Place place, Found&& found, std::shared_ptr<Directory> inner);

  /// Gives what comes after everything; only once every piece is finished.
  void give_last(Found&& found);

  /// Ends the walk early: what is found and waits for its turn goes out, without what is missing
  /// between, and then `last`. Only the first ending counts.
  void stop(SearchEnd ending, Found&& last);
  void fail(const Error& error);

  /// Every thread is through.
  void close();

  /// True where another thread would find something to do.
  bool has_free_piece() const;

  const std::atomic<bool>& stopped() const noexcept { return stopped_; }

  // The consumer's side.

  /// The next output of at most `most` bytes where one block is not longer; none = not now.
  std::optional<Bytes> next_output(std::size_t most);

  /// How it ended, once it has and all output is taken.
  std::optional<Result<SearchSummary>> ending() const;

 private:
  using Lock = std::unique_lock<std::mutex>;

  std::optional<Place> free_piece() const;
  bool may_run(Place place) const;
  Place cut_piece(Place rest);
  void expand(Place directory, std::shared_ptr<Directory> inner);
  void send_finished();
  void send(Found&& found);
  void append(FoundSegment&& segment);
  void end_walk(SearchEnd ending);
  void notify(Lock& lock);

  const Options options_;
  const std::function<void()> on_output_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Item> items_;
  std::list<Place> sources_;       ///< in order: what is free, and directories that are being read
  std::size_t waiting_bytes_ = 0;  ///< found, and not its turn yet
  std::deque<Bytes> output_;
  std::size_t output_bytes_ = 0;
  SearchSummary summary_;
  std::optional<Error> error_;
  bool over_ = false;
  bool announced_ = false;  ///< the consumer knows that there is output
  std::atomic<bool> stopped_{false};
};

}  // namespace cove::agent
