#include "snapshot/tar_snapshotter.hpp"

#include <optional>
#include <utility>

#include "base/async/byte_sources.hpp"
#include "base/sha256.hpp"
#include "snapshot/archive_run.hpp"
#include "snapshot/manifest.hpp"
#include "snapshot/snapshot_list.hpp"
#include "snapshot/tree/tree_writer.hpp"

namespace cove::snapshot {
namespace {

constexpr std::uint32_t kPage = 1000;

/// An error of the archive itself is told with the object's name.
Error named(const Error& error, const ObjectKey& key) {
  const bool is_named = error.message().find(key.str()) != std::string::npos;
  if (error.code() != ErrorCode::kIntegrity || is_named) return error;
  return wrong(key, "is wrong: " + error.message());
}

Result<void> check_shape(const SnapshotRef& snapshot) {
  if (snapshot.format != kFormat && snapshot.format != kFormatWithHome) {
    return Error(ErrorCode::kUnsupported, "the snapshot is of format " +
                                              std::to_string(snapshot.format) +
                                              "; this version reads the formats 1 and 2");
  }
  const std::size_t objects = snapshot.format == kFormat ? 2 : 3;
  if (snapshot.objects.size() != objects) {
    return Error(ErrorCode::kIntegrity, "a snapshot of format " + std::to_string(snapshot.format) +
                                            " has " + std::to_string(objects) +
                                            " objects, this one " +
                                            std::to_string(snapshot.objects.size()));
  }
  return {};
}

Error has_no_home() {
  return {
      ErrorCode::kUnsupported,
      "this provider's volume has no HOME that can be opened, and the snapshot has or is to have "
      "one; see \"snapshot\": {\"include_home\"} of the configuration"};
}

class TarSnapshotter final : public Snapshotter {
 public:
  TarSnapshotter(ObjectStore& store, const Machine& machine, std::string spool_directory,
                 LogSink* log, Keeps keeps)
      : store_(store),
        machine_(machine),
        spool_directory_(std::move(spool_directory)),
        log_(log),
        keeps_(keeps) {}

  Task<Result<SnapshotRef>> save(OfflineVolume& volume, const SnapshotOwner& owner,
                                 const OperationId& attempt, const CallContext& call) override {
    if (attempt.empty()) {
      co_return Error(ErrorCode::kInvalidArgument, "a snapshot's attempt has no id");
    }
    COVE_CO_TRY(const std::string prefix, prefix_of(owner, attempt));
    const bool with_home = keeps_ == Keeps::kHomeToo;
    if (with_home && volume.home() < 0) co_return has_no_home();
    Manifest manifest;
    manifest.owner = owner;
    manifest.attempt = attempt;
    const Place workspace{volume.workspace(), volume.ids()};
    ObjectKey key(prefix + "data.tar.zst");
    COVE_CO_TRY(manifest.workspace, co_await save_tree(workspace, std::move(key), call));
    if (with_home) {
      const Place home{volume.home(), volume.ids()};
      ObjectKey home_key(prefix + "home.tar.zst");
      COVE_CO_TRY(manifest.home, co_await save_tree(home, std::move(home_key), call));
    }
    report(manifest);
    co_return co_await finish_save(manifest, ObjectKey(prefix + "manifest.json"), call);
  }

  Task<Result<void>> verify(const SnapshotRef& snapshot, const CallContext& call) override {
    COVE_CO_TRY(const Manifest manifest, co_await check_manifest(snapshot, call));
    COVE_CO_TRY_VOID(co_await check_data(manifest.workspace, nullptr, call));
    if (!manifest.home) co_return ok();
    co_return co_await check_data(*manifest.home, nullptr, call);
  }

  Task<Result<void>> restore(const SnapshotRef& snapshot, OfflineVolume& volume,
                             const CallContext& call) override {
    COVE_CO_TRY(const Manifest manifest, co_await check_manifest(snapshot, call));
    if (manifest.home && volume.home() < 0) co_return has_no_home();
    const Place place{volume.workspace(), volume.ids()};
    COVE_CO_TRY(Restoring workspace, co_await prepare(manifest.workspace, place, call));
    std::optional<Restoring> home;
    if (manifest.home) {
      const Place home_place{volume.home(), volume.ids()};
      COVE_CO_TRY(home, co_await prepare(*manifest.home, home_place, call));
    }
    COVE_CO_TRY_VOID(co_await extract(workspace, manifest.workspace.data.key, call));
    if (home) COVE_CO_TRY_VOID(co_await extract(*home, manifest.home->data.key, call));
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
  /// A directory of a volume; borrowed from it.
  struct Place {
    int directory;
    IdMapping ids;
  };

  /// A tree whose bytes are here and right, of which nothing is written yet.
  struct Restoring {
    TreeWriter tree;
    Spool spool;
  };

  Task<Result<SavedTree>> save_tree(Place place, ObjectKey key, const CallContext& call) {
    const auto open = [&place] { return TreeReader::open(place.directory, place.ids); };
    COVE_CO_TRY(const auto tree,
                co_await base::offload(machine_.executor, machine_.scheduler, open));
    SavedTree saved;
    saved.data.key = std::move(key);
    ArchiveSource archive(*tree, machine_);
    COVE_CO_TRY(const ObjectInfo stored,
                co_await store_.put_if_absent(saved.data.key, archive, call));
    if (stored.size != archive.size()) co_return wrong(saved.data.key, "was not stored whole");
    saved.data.size = archive.size();
    saved.data.sha256 = archive.sha256();
    saved.counts = tree->counts();
    co_return saved;
  }

  Task<Result<Restoring>> prepare(const SavedTree& saved, Place place, const CallContext& call) {
    const ArchiveTotals totals{saved.counts.entries, saved.counts.content_bytes};
    const auto open = [&] { return TreeWriter::open(place.directory, place.ids, totals); };
    COVE_CO_TRY(TreeWriter tree,
                co_await base::offload(machine_.executor, machine_.scheduler, open));
    const auto make = [this] { return Spool::create(spool_directory_); };
    COVE_CO_TRY(Spool spool, co_await base::offload(machine_.executor, machine_.scheduler, make));
    COVE_CO_TRY_VOID(co_await check_data(saved, &spool, call));
    co_return Restoring{std::move(tree), std::move(spool)};
  }

  Task<Result<void>> extract(Restoring& restoring, const ObjectKey& key, const CallContext& call) {
    ArchiveRun extraction(restoring.tree, nullptr, nullptr, machine_);
    const auto source = restoring.spool.read(machine_.executor, machine_.scheduler);
    const Result<void> extracted = co_await extraction.run(*source, call);
    if (!extracted) co_return named(extracted.error(), key);
    co_return ok();
  }

  Task<Result<SnapshotRef>> finish_save(const Manifest& manifest, ObjectKey key,
                                        const CallContext& call) {
    const std::string text = to_json(manifest);
    SnapshotObject object;
    object.key = std::move(key);
    object.size = text.size();
    object.sha256 = base::sha256_hex(text);
    base::TextSource source(text);
    COVE_CO_TRY(const ObjectInfo stored, co_await store_.put_if_absent(object.key, source, call));
    if (stored.size != object.size) co_return wrong(object.key, "was not stored whole");
    co_return reference_of(manifest, std::move(object));
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
  Task<Result<Manifest>> check_manifest(const SnapshotRef& snapshot, const CallContext& call) {
    COVE_CO_TRY_VOID(check_shape(snapshot));
    const SnapshotObject& object = snapshot.objects.back();
    COVE_CO_TRY(const std::string text, co_await read_manifest(object, call));
    Result<Manifest> manifest = parse_manifest(text);
    if (!manifest) co_return named(manifest.error(), object.key);
    if (reference_of(*manifest, object) != snapshot) {
      co_return wrong(object.key, "is of another snapshot than the record names");
    }
    co_return manifest;
  }

  /// Reads the data to its end; keeps it in `spool` where there is one.
  Task<Result<void>> check_data(const SavedTree& saved, Spool* spool, const CallContext& call) {
    const SnapshotObject& object = saved.data;
    COVE_CO_TRY(const auto source, co_await open(object.key, call));
    ObjectCheck check(object);
    CountingSink counter({saved.counts.entries, saved.counts.content_bytes});
    ArchiveRun run(counter, &check, spool, machine_);
    const Result<void> checked = co_await run.run(*source, call);
    if (!checked) co_return named(checked.error(), object.key);
    co_return ok();
  }

  void report(const Manifest& manifest) const {
    TreeCounts counts = manifest.workspace.counts;
    if (manifest.home) {
      counts.sockets += manifest.home->counts.sockets;
      counts.devices += manifest.home->counts.devices;
    }
    if (log_ == nullptr || counts.sockets + counts.devices == 0) return;
    log_->write(LogLevel::kInfo, "snapshot of " + manifest.owner.sandbox.str() + " left out " +
                                     std::to_string(counts.sockets) + " sockets and " +
                                     std::to_string(counts.devices) + " devices");
  }

  ObjectStore& store_;
  Machine machine_;
  std::string spool_directory_;
  LogSink* log_;
  Keeps keeps_;
};

}  // namespace

std::unique_ptr<Snapshotter> make_tar_snapshotter(ObjectStore& store,
                                                  base::BlockingExecutor& executor,
                                                  Scheduler& scheduler, const Clock& clock,
                                                  const std::string& spool_directory, LogSink* log,
                                                  Keeps keeps) {
  return std::make_unique<TarSnapshotter>(store, Machine{executor, scheduler, clock},
                                          spool_directory, log, keeps);
}

}  // namespace cove::snapshot
