#include "prepare/skills/package/package_hashing.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cove::prepare {
namespace {

constexpr std::size_t kPiece = std::size_t{4} << 20U;

}  // namespace

bool PieceHash::step() {
  if (is_done()) return true;
  const ByteView piece = rest_.first(std::min(kPiece, rest_.size()));
  hash_.update(piece);
  rest_ = rest_.subspan(piece.size());
  return is_done();
}

Task<void> HashingBeside::add(std::vector<ContentHash> files) {
  std::move(files.begin(), files.end(), std::back_inserter(waiting_));
  if (running_ && !is_over_) co_return;
  co_await take_over();
  is_over_ = false;
  running_ = base::begin_offload(executor_, scheduler_, [this] {
    work_out(working_);
    packed_.step();
    is_over_ = true;
    return 0;
  });
}

Task<std::vector<ContentHash>> HashingBeside::end() {
  co_await take_over();
  co_return std::move(hashed_);
}

Task<void> HashingBeside::take_over() {
  if (running_) co_await running_->wait();
  running_.reset();
  std::move(working_.begin(), working_.end(), std::back_inserter(hashed_));
  working_ = std::exchange(waiting_, {});
}

}  // namespace cove::prepare
