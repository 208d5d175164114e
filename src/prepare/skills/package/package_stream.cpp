#include "prepare/skills/package/package_stream.hpp"

#include <utility>

namespace cove::prepare {

void PackageStream::offer(const PackageEntry& file) {
  // What is there twice is refused in the end, or alike.
  if (error_ || !gone_.insert(file.path).second) return;
  offered_.push_back(file);
  wake();
}

void PackageStream::finish(std::shared_ptr<const Package> package) {
  package_ = std::move(package);
  wake();
}

void PackageStream::fail(Error error) {
  if (package_ || error_) return;
  error_ = std::move(error);
  offered_.clear();
  pieces_ = TarPieces();
  wake();
}

Task<Result<Bytes>> PackageStream::next(const CallContext& call) {
  Bytes piece = TarPieces::empty_piece();
  for (;;) {
    while (!TarPieces::is_full(piece) && (!pieces_.is_empty() || advance())) pieces_.take(piece);
    if (error_) co_return *error_;
    if (!piece.empty() || ended_) co_return piece;
    waiter_ = base::Completion<Result<void>>::make(scheduler_);
    COVE_CO_TRY_VOID(co_await base::wait_bounded<void>(waiter_, scheduler_, call));
  }
}

/// Makes the next entry wait; false: there is none now.
bool PackageStream::advance() {
  if (offered_.empty()) return advance_to_the_rest();
  const PackageEntry next = std::move(offered_.front());
  offered_.pop_front();
  pieces_.add(next, next.path);
  return true;
}

bool PackageStream::advance_to_the_rest() {
  if (!package_ || ended_) return false;
  const auto& entries = package_->entries;
  while (at_ < entries.size() && gone_.contains(entries[at_].path)) ++at_;
  if (at_ < entries.size()) {
    const PackageEntry& entry = entries[at_++];
    pieces_.add(entry, entry.path);
  } else {
    ended_ = true;
    pieces_.end();
  }
  return true;
}

void PackageStream::wake() {
  if (const auto waiter = std::exchange(waiter_, nullptr)) waiter->complete(ok());
}

}  // namespace cove::prepare
