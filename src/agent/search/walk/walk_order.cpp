#include "agent/search/walk/walk_order.hpp"

#include <algorithm>
#include <utility>

namespace cove::agent {
namespace {

constexpr std::size_t kMostWaiting = 4U << 20U;   // bytes found whose turn has not come
constexpr std::size_t kMostOutput = 512U * 1024;  // bytes that the consumer has not taken
constexpr std::size_t kBlock = 128U * 1024;       // small results are put together up to this

}  // namespace

WalkOrder::WalkOrder(Options options, std::function<void()> on_output)
    : options_(options), on_output_(std::move(on_output)) {}

void WalkOrder::begin(std::shared_ptr<Directory> root) {
  const auto count = static_cast<std::uint32_t>(root->entries().size());
  const std::lock_guard lock(mutex_);
  if (count == 0) return;
  items_.push_back({{std::move(root), 0, count}, false, false, {}, {}});
  items_.back().source = sources_.insert(sources_.end(), items_.begin());
}

/// There are no more directories being read than threads, so this does not look far.
std::optional<WalkOrder::Place> WalkOrder::free_piece() const {
  for (const Place& place : sources_) {
    if (!place->taken) return place;
  }
  return std::nullopt;
}

/// The first piece always may, so the walk goes on whatever waits behind it.
bool WalkOrder::may_run(Place place) const {
  if (output_bytes_ > kMostOutput) return false;
  return place == items_.begin() || waiting_bytes_ <= kMostWaiting;
}

bool WalkOrder::has_free_piece() const {
  const std::lock_guard lock(mutex_);
  return !stopped_ && free_piece().has_value();
}

std::optional<WalkOrder::Place> WalkOrder::take() {
  Lock lock(mutex_);
  for (;;) {
    if (stopped_ || items_.empty()) return std::nullopt;
    const std::optional<Place> place = free_piece();
    if (place && may_run(*place)) return cut_piece(*place);
    changed_.wait(lock);
  }
}

WalkOrder::Place WalkOrder::cut_piece(Place rest) {
  WalkPiece& all = rest->piece;
  const auto& entries = all.directory->entries();
  std::uint32_t end = all.begin + 1;
  if (entries[all.begin].type != DT_DIR) {
    const std::uint32_t most = std::min(all.end, all.begin + options_.longest_run);
    while (end < most && entries[end].type != DT_DIR) ++end;
  }
  const Place cut = items_.insert(rest, {{all.directory, all.begin, end}, true, false, {}, {}});
  if (cut->piece.is_directory()) cut->source = sources_.insert(rest->source, cut);
  all.begin = end;
  if (all.begin < all.end) return cut;
  sources_.erase(rest->source);
  items_.erase(rest);
  return cut;
}

/// What was read of a directory takes its place behind it.
void WalkOrder::expand(Place directory, std::shared_ptr<Directory> inner) {
  const auto source = directory->source;
  if (inner && !inner->entries().empty()) {
    const auto count = static_cast<std::uint32_t>(inner->entries().size());
    const Place rest =
        items_.insert(std::next(directory), {{std::move(inner), 0, count}, false, false, {}, {}});
    rest->source = sources_.insert(source, rest);
  }
  sources_.erase(source);
}

bool WalkOrder::give(Place place, Found&& found) {
  Lock lock(mutex_);
  changed_.wait(
      lock, [&] { return stopped_ || (place == items_.begin() && output_bytes_ <= kMostOutput); });
  if (stopped_) return false;
  add_counts(summary_, std::move(found.counts));
  send(std::move(found));
  notify(lock);
  return !stopped_;
}

void WalkOrder::finish(Place place, Found&& found, std::shared_ptr<Directory> inner) {
  Lock lock(mutex_);
  if (stopped_) return;
  if (place->piece.is_directory()) expand(place, std::move(inner));
  const std::size_t size = found.size();
  add_counts(summary_, std::move(found.counts));
  if (size == 0 || place == items_.begin()) {
    send(std::move(found));
    items_.erase(place);
    if (!stopped_) send_finished();
  } else {
    place->found = std::move(found);
    place->piece.directory.reset();
    place->done = true;
    waiting_bytes_ += size;
  }
  changed_.notify_all();
  notify(lock);
}

/// What has waited for the piece that was first.
void WalkOrder::send_finished() {
  while (!stopped_ && !items_.empty() && items_.front().done) {
    Found found = std::move(items_.front().found);
    waiting_bytes_ -= found.size();
    items_.pop_front();
    send(std::move(found));
  }
}

void WalkOrder::give_last(Found&& found) {
  Lock lock(mutex_);
  if (stopped_) return;
  send(std::move(found));
  notify(lock);
}

void WalkOrder::send(Found&& found) {
  for (FoundSegment& segment : found.segments) {
    if (stopped_) return;
    const std::uint64_t left =
        options_.limit ? *options_.limit - summary_.matches : std::uint64_t{segment.matches} + 1;
    if (segment.matches >= left) shorten(segment, left);
    summary_.matches += segment.matches;
    append(std::move(segment));
    if (options_.limit && summary_.matches == *options_.limit) end_walk(SearchEnd::kLimit);
  }
}

void WalkOrder::append(FoundSegment&& segment) {
  if (segment.bytes.empty()) return;
  output_bytes_ += segment.bytes.size();
  if (!output_.empty() && output_.back().size() + segment.bytes.size() <= kBlock) {
    output_.back().insert(output_.back().end(), segment.bytes.begin(), segment.bytes.end());
  } else {
    output_.push_back(std::move(segment.bytes));
  }
}

void WalkOrder::end_walk(SearchEnd ending) {
  if (over_ || stopped_) return;
  summary_.ended = ending;
  over_ = true;
  stopped_ = true;
  changed_.notify_all();
}

void WalkOrder::stop(SearchEnd ending, Found&& last) {
  Lock lock(mutex_);
  if (over_) return;
  for (Item& item : items_) {
    if (item.done) send(std::move(item.found));
    item.found = Found();
  }
  const bool has_all = over_;
  send(std::move(last));
  // As many as the limit, yet of what was seen so far: what comes last is known to be right only
  // after the whole walk.
  if (!has_all) summary_.ended = ending;
  end_walk(ending);
  notify(lock);
}

void WalkOrder::fail(const Error& error) {
  Lock lock(mutex_);
  if (over_) return;
  error_ = error;
  end_walk(SearchEnd::kCancelled);
  notify(lock);
}

void WalkOrder::close() {
  Lock lock(mutex_);
  items_.clear();
  sources_.clear();
  if (!over_) {
    over_ = true;
    summary_.ended = SearchEnd::kComplete;
  }
  notify(lock);
}

void WalkOrder::notify(Lock& lock) {
  if (announced_ || (output_.empty() && !over_)) return;
  announced_ = true;
  lock.unlock();
  on_output_();
}

std::optional<Bytes> WalkOrder::next_output(std::size_t most) {
  const std::lock_guard lock(mutex_);
  if (output_.empty()) {
    announced_ = over_;
    return std::nullopt;
  }
  if (output_.front().size() > most) return std::nullopt;
  Bytes bytes = std::move(output_.front());
  output_.pop_front();
  const bool was_full = output_bytes_ > kMostOutput;
  output_bytes_ -= bytes.size();
  if (was_full && output_bytes_ <= kMostOutput) changed_.notify_all();
  return bytes;
}

std::optional<Result<SearchSummary>> WalkOrder::ending() const {
  const std::lock_guard lock(mutex_);
  if (!over_ || !output_.empty()) return std::nullopt;
  if (error_) return Result<SearchSummary>(*error_);
  return Result<SearchSummary>(summary_);
}

}  // namespace cove::agent
