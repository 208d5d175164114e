#include "snapshot/tar_snapshotter.hpp"

#include <utility>

#include "base/async/byte_sources.hpp"
#include "base/sha256.hpp"
#include "snapshot/archive/archive_reader.hpp"
#include "snapshot/archive/spool.hpp"
#include "snapshot/manifest.hpp"
#include "snapshot/snapshot_list.hpp"
#include "snapshot/tree/tree_reader.hpp"
#include "snapshot/tree/tree_writer.hpp"

namespace cove::snapshot {
namespace {

constexpr std::uint32_t kPage = 1000;

/// What the parts below share.
struct Machine {
  base::BlockingExecutor& executor;
  Scheduler& scheduler;
  const Clock& clock;
};

Error wrong(const ObjectKey& key, const std::string& how) {
  return Error(ErrorCode::kIntegrity, "snapshot object '" + key.str() + "' " + how)
      .with_context("hint",
                    "nothing was deleted: bring the object back under this key from a backup of "
                    "the object store, and try again; where it is lost for good, destroy the "
                    "sandbox to begin anew");
}

/// The compressed archive of a workspace, made as it is asked for.
class ArchiveSource final : public ByteSource {
 public:
  ArchiveSource(TreeReader& tree, const Machine& machine) : tree_(tree), machine_(machine) {}

  Task<Result<Bytes>> next(const CallContext& call) override {
    while (!finished_) {
      COVE_CO_TRY_VOID(call.check(machine_.clock));
      const auto work = [this] { return produce(); };
      COVE_CO_TRY(Bytes piece, co_await base::offload(machine_.executor, machine_.scheduler, work));
      if (!piece.empty()) co_return piece;
    }
    co_return Bytes();
  }

  std::uint64_t size() const noexcept { return size_; }
  std::string sha256() { return hash_.hex(); }

 private:
  Result<Bytes> produce() {
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

  TreeReader& tree_;
  const Machine& machine_;
  ArchiveWriter archive_;
  base::Sha256 hash_;
  std::uint64_t size_ = 0;
  bool finished_ = false;
};

/// Compares what an object gives with what it must be.
class ObjectCheck {
 public:
  explicit ObjectCheck(const SnapshotObject& expected) : expected_(expected) {}

  Result<void> add(ByteView bytes) {
    size_ += bytes.size();
    if (size_ > expected_.size) {
      return wrong(expected_.key,
                   "is longer than its " + std::to_string(expected_.size) + " bytes");
    }
    hash_.update(bytes);
    return {};
  }

  Result<void> finish() {
    if (size_ != expected_.size) {
      return wrong(expected_.key, "has " + std::to_string(size_) + " bytes, not its " +
                                      std::to_string(expected_.size));
    }
    if (hash_.hex() != expected_.sha256) return wrong(expected_.key, "has another checksum");
    return {};
  }

 private:
  const SnapshotObject& expected_;
  base::Sha256 hash_;
  std::uint64_t size_ = 0;
};

/// Drives one archive from a source into a sink, piece by piece.
class ArchiveRun {
 public:
  /// `check` and `spool` may be null.
  ArchiveRun(EntrySink& sink, ObjectCheck* check, Spool* spool, const Machine& machine)
      : reader_(sink), check_(check), spool_(spool), machine_(machine) {}

  Task<Result<void>> run(ByteSource& source, const CallContext& call) {
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

 private:
  Result<ArchiveReader::Progress> take(const Bytes& piece) {
    if (check_ != nullptr) {
      COVE_TRY_VOID(piece.empty() ? check_->finish() : check_->add(piece));
    }
    if (spool_ != nullptr) {
      COVE_TRY_VOID(spool_->append(piece));
    }
    reader_.feed(piece);
    return reader_.step();
  }

  ArchiveReader reader_;
  ObjectCheck* check_;
  Spool* spool_;
  const Machine& machine_;
};

/// An error of the archive itself is told with the object's name.
Error named(const Error& error, const ObjectKey& key) {
  const bool is_named = error.message().find(key.str()) != std::string::npos;
  if (error.code() != ErrorCode::kIntegrity || is_named) return error;
  return wrong(key, "is wrong: " + error.message());
}

Result<void> check_shape(const SnapshotRef& snapshot) {
  if (snapshot.format != kFormat) {
    return Error(ErrorCode::kUnsupported, "the snapshot is of format " +
                                              std::to_string(snapshot.format) +
                                              "; this version reads format 1");
  }
  if (snapshot.objects.size() != 2) {
    return Error(ErrorCode::kIntegrity, "a snapshot of format 1 has 2 objects, this one " +
                                            std::to_string(snapshot.objects.size()));
  }
  return {};
}

class TarSnapshotter final : public Snapshotter {
 public:
  TarSnapshotter(ObjectStore& store, const Machine& machine, std::string spool_directory,
                 LogSink* log)
      : store_(store), machine_(machine), spool_directory_(std::move(spool_directory)), log_(log) {}

  Task<Result<SnapshotRef>> save(OfflineVolume& volume, const SnapshotOwner& owner,
                                 const OperationId& attempt, const CallContext& call) override {
    if (attempt.empty()) {
      co_return Error(ErrorCode::kInvalidArgument, "a snapshot's attempt has no id");
    }
    COVE_CO_TRY(const std::string prefix, prefix_of(owner, attempt));
    const auto open = [&volume] { return TreeReader::open(volume.workspace(), volume.ids()); };
    COVE_CO_TRY(const auto tree,
                co_await base::offload(machine_.executor, machine_.scheduler, open));
    Manifest manifest;
    manifest.owner = owner;
    manifest.attempt = attempt;
    manifest.data.key = ObjectKey(prefix + "data.tar.zst");
    ArchiveSource archive(*tree, machine_);
    COVE_CO_TRY(const ObjectInfo stored,
                co_await store_.put_if_absent(manifest.data.key, archive, call));
    if (stored.size != archive.size()) {
      co_return wrong(manifest.data.key, "was not stored whole");
    }
    manifest.data.size = archive.size();
    manifest.data.sha256 = archive.sha256();
    manifest.counts = tree->counts();
    report(manifest);
    co_return co_await finish_save(manifest, ObjectKey(prefix + "manifest.json"), call);
  }

  Task<Result<void>> verify(const SnapshotRef& snapshot, const CallContext& call) override {
    COVE_CO_TRY(const ArchiveTotals totals, co_await check_manifest(snapshot, call));
    co_return co_await check_data(snapshot.objects[0], totals, nullptr, call);
  }

  Task<Result<void>> restore(const SnapshotRef& snapshot, OfflineVolume& volume,
                             const CallContext& call) override {
    COVE_CO_TRY(const ArchiveTotals totals, co_await check_manifest(snapshot, call));
    const auto open = [&volume, &totals] {
      return TreeWriter::open(volume.workspace(), volume.ids(), totals);
    };
    COVE_CO_TRY(TreeWriter tree,
                co_await base::offload(machine_.executor, machine_.scheduler, open));
    const auto make = [this] { return Spool::create(spool_directory_); };
    COVE_CO_TRY(Spool spool, co_await base::offload(machine_.executor, machine_.scheduler, make));
    COVE_CO_TRY_VOID(co_await check_data(snapshot.objects[0], totals, &spool, call));

    ArchiveRun extraction(tree, nullptr, nullptr, machine_);
    const auto source = spool.read(machine_.executor, machine_.scheduler);
    const Result<void> extracted = co_await extraction.run(*source, call);
    if (!extracted) co_return named(extracted.error(), snapshot.objects[0].key);
    co_return co_await volume.sync(call);
  }

  Task<Result<void>> remove(const SnapshotRef& snapshot, const CallContext& call) override {
    // The manifest first: what is half removed is no snapshot any more.
    for (auto object = snapshot.objects.rbegin(); object != snapshot.objects.rend(); ++object) {
      COVE_CO_TRY_VOID(call.check(machine_.clock));
      COVE_CO_TRY_VOID(co_await store_.remove(object->key, call));
    }
    co_return ok();
  }

  Task<Result<void>> remove_all(const SnapshotOwner& owner, const OperationId& attempt,
                                const CallContext& call) override {
    COVE_CO_TRY(const std::string prefix, prefix_of(owner, attempt));
    std::string after;
    do {
      COVE_CO_TRY(const ObjectPage page, co_await store_.list(prefix, after, kPage, call));
      // Backwards for the same reason: manifest.json lies behind data.tar.zst.
      for (auto object = page.objects.rbegin(); object != page.objects.rend(); ++object) {
        COVE_CO_TRY_VOID(call.check(machine_.clock));
        COVE_CO_TRY_VOID(co_await store_.remove(object->key, call));
      }
      after = page.next;
    } while (!after.empty());
    co_return ok();
  }

  Task<Result<std::vector<DeploymentId>>> deployments(const CallContext& call) override {
    co_return co_await list_deployments(store_, call);
  }

  Task<Result<FoundSnapshots>> find(const DeploymentId& deployment, const std::string& after,
                                    const CallContext& call) override {
    co_return co_await list_snapshots(store_, deployment, after, call);
  }

 private:
  Task<Result<SnapshotRef>> finish_save(const Manifest& manifest, ObjectKey key,
                                        const CallContext& call) {
    SnapshotRef snapshot;
    snapshot.format = kFormat;
    snapshot.entries = manifest.counts.entries;
    snapshot.content_bytes = manifest.counts.content_bytes;
    const std::string text = to_json(manifest);
    SnapshotObject object;
    object.key = std::move(key);
    object.size = text.size();
    object.sha256 = base::sha256_hex(text);
    base::TextSource source(text);
    COVE_CO_TRY(const ObjectInfo stored, co_await store_.put_if_absent(object.key, source, call));
    if (stored.size != object.size) co_return wrong(object.key, "was not stored whole");
    snapshot.objects.push_back(manifest.data);
    snapshot.objects.push_back(std::move(object));
    co_return snapshot;
  }

  /// Opens an object that must be there.
  Task<Result<std::unique_ptr<ByteSource>>> open(const ObjectKey& key, const CallContext& call) {
    Result<std::unique_ptr<ByteSource>> source = co_await store_.get(key, call);
    if (!source && source.error().code() == ErrorCode::kNotFound)
      co_return wrong(key, "is missing");
    co_return source;
  }

  Task<Result<std::string>> read_manifest(const SnapshotObject& object, const CallContext& call) {
    if (object.size > kMaxManifest) co_return wrong(object.key, "is too large for a manifest");
    COVE_CO_TRY(const auto source, co_await open(object.key, call));
    ObjectCheck check(object);
    std::string text;
    for (;;) {
      COVE_CO_TRY_VOID(call.check(machine_.clock));
      COVE_CO_TRY(const Bytes piece, co_await source->next(call));
      if (piece.empty()) break;
      COVE_CO_TRY_VOID(check.add(piece));
      text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    }
    COVE_CO_TRY_VOID(check.finish());
    co_return text;
  }

  /// Reads the manifest and compares it with the record's view.
  Task<Result<ArchiveTotals>> check_manifest(const SnapshotRef& snapshot, const CallContext& call) {
    COVE_CO_TRY_VOID(check_shape(snapshot));
    const SnapshotObject& object = snapshot.objects[1];
    COVE_CO_TRY(const std::string text, co_await read_manifest(object, call));
    const Result<Manifest> manifest = parse_manifest(text);
    if (!manifest) co_return named(manifest.error(), object.key);
    if (manifest->data != snapshot.objects[0] || manifest->counts.entries != snapshot.entries ||
        manifest->counts.content_bytes != snapshot.content_bytes) {
      co_return wrong(object.key, "is of another snapshot than the record names");
    }
    co_return ArchiveTotals{snapshot.entries, snapshot.content_bytes};
  }

  /// Reads the data to its end; keeps it in `spool` where there is one.
  Task<Result<void>> check_data(const SnapshotObject& object, const ArchiveTotals& totals,
                                Spool* spool, const CallContext& call) {
    COVE_CO_TRY(const auto source, co_await open(object.key, call));
    ObjectCheck check(object);
    CountingSink counter(totals);
    ArchiveRun run(counter, &check, spool, machine_);
    const Result<void> checked = co_await run.run(*source, call);
    if (!checked) co_return named(checked.error(), object.key);
    co_return ok();
  }

  void report(const Manifest& manifest) const {
    const TreeCounts& counts = manifest.counts;
    if (log_ == nullptr || counts.sockets + counts.devices == 0) return;
    log_->write(LogLevel::kInfo, "snapshot of " + manifest.owner.sandbox.str() + " left out " +
                                     std::to_string(counts.sockets) + " sockets and " +
                                     std::to_string(counts.devices) + " devices");
  }

  ObjectStore& store_;
  Machine machine_;
  std::string spool_directory_;
  LogSink* log_;
};

}  // namespace

std::unique_ptr<Snapshotter> make_tar_snapshotter(ObjectStore& store,
                                                  base::BlockingExecutor& executor,
                                                  Scheduler& scheduler, const Clock& clock,
                                                  const std::string& spool_directory,
                                                  LogSink* log) {
  return std::make_unique<TarSnapshotter>(store, Machine{executor, scheduler, clock},
                                          spool_directory, log);
}

}  // namespace cove::snapshot
