#include "snapshot/archive_run.hpp"

namespace cove::snapshot {

Error wrong(const ObjectKey& key, const std::string& how) {
  return Error(ErrorCode::kIntegrity, "snapshot object '" + key.str() + "' " + how)
      .with_context("hint",
                    "nothing was deleted: bring the object back under this key from a backup of "
                    "the object store, and try again; where it is lost for good, destroy the "
                    "sandbox to begin anew");
}

Task<Result<Bytes>> ArchiveSource::next(const CallContext& call) {
  while (!finished_) {
    COVE_CO_TRY_VOID(call.check(machine_.clock));
    const auto work = [this] { return produce(); };
    COVE_CO_TRY(Bytes piece, co_await base::offload(machine_.executor, machine_.scheduler, work));
    if (!piece.empty()) co_return piece;
  }
  co_return Bytes();
}

Result<Bytes> ArchiveSource::produce() {
  COVE_TRY(const bool more, tree_.step(archive_));
  if (!more) {
    COVE_TRY_VOID(archive_.finish());
    finished_ = true;
  }
  Bytes piece = archive_.take();
  hash_.update(piece);
  size_ += piece.size();
  return piece;
}

Result<void> ObjectCheck::add(ByteView bytes) {
  size_ += bytes.size();
  if (size_ > expected_.size) {
    return wrong(expected_.key, "is longer than its " + std::to_string(expected_.size) + " bytes");
  }
  hash_.update(bytes);
  return {};
}

Result<void> ObjectCheck::finish() {
  if (size_ != expected_.size) {
    return wrong(expected_.key, "has " + std::to_string(size_) + " bytes, not its " +
                                    std::to_string(expected_.size));
  }
  if (hash_.hex() != expected_.sha256) return wrong(expected_.key, "has another checksum");
  return {};
}

Task<Result<void>> ArchiveRun::run(ByteSource& source, const CallContext& call) {
  Bytes piece;
  do {
    COVE_CO_TRY_VOID(call.check(machine_.clock));
    COVE_CO_TRY(piece, co_await source.next(call));
    const auto first = [this, &piece] { return take(piece); };
    COVE_CO_TRY(auto progress,
                co_await base::offload(machine_.executor, machine_.scheduler, first));
    const auto more = [this] { return reader_.step(); };
    while (progress == ArchiveReader::Progress::kMore) {
      COVE_CO_TRY_VOID(call.check(machine_.clock));
      COVE_CO_TRY(progress, co_await base::offload(machine_.executor, machine_.scheduler, more));
    }
  } while (!piece.empty());
  co_return ok();
}

Result<ArchiveReader::Progress> ArchiveRun::take(const Bytes& piece) {
  if (check_ != nullptr) {
    COVE_TRY_VOID(piece.empty() ? check_->finish() : check_->add(piece));
  }
  if (spool_ != nullptr) {
    COVE_TRY_VOID(spool_->append(piece));
  }
  reader_.feed(piece);
  return reader_.step();
}

}  // namespace cove::snapshot
