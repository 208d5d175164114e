/// SnapshotFixture: two volumes, a store and a Snapshotter, with blocking calls.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cove/snapshot.hpp>

#include "base/async/io_loop.hpp"
#include "base/async/spawn.hpp"
#include "base/async/worker_pool.hpp"
#include "base/system_clock.hpp"
#include "base/unique_fd.hpp"
#include "objects/memory/memory_objects.hpp"
#include "snapshot/tar_snapshotter.hpp"
#include "support/blocking_objects.hpp"
#include "support/scratch_tree.hpp"

namespace cove::test {

/// A directory as an offline volume.
class DirectoryVolume final : public OfflineVolume {
 public:
  DirectoryVolume(std::string path, const IdMapping& ids) : path_(std::move(path)), ids_(ids) {
    ::mkdir(path_.c_str(), 0755);
    fd_.reset(::open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!fd_) throw std::runtime_error("no volume " + path_);
  }

  int workspace() const override { return *fd_; }
  IdMapping ids() const override { return ids_; }
  Task<Result<void>> sync(const CallContext&) override {
    ++syncs;
    co_return ok();
  }

  const std::string& path() const { return path_; }
  int syncs = 0;

 private:
  std::string path_;
  IdMapping ids_;
  base::UniqueFd fd_;
};

class MemoryLog final : public LogSink {
 public:
  void write(LogLevel, std::string_view message) override { text += std::string(message) + "\n"; }
  std::string text;
};

inline const IdMapping kSingle{.single = true};
inline const IdMapping kRange{.offset = 200'000, .count = 65'536};

inline SnapshotOwner test_owner() {
  return {DeploymentId(std::string(32, 'd')), SandboxId("app-0123456789abcdef0123456789abcdef"),
          Incarnation(std::string(32, '1')), WorkspaceKey{"app", "demo \"x\"", "an\xC3\xA4\n"}};
}

class SnapshotFixture {
 public:
  /// Uses a store of its own in memory, or the one given.
  explicit SnapshotFixture(const IdMapping& ids = kSingle, ObjectStore* other_store = nullptr)
      : source(scratch.path("source"), ids),
        target(scratch.path("target"), ids),
        store(other_store != nullptr ? other_store : memory.get()) {
    ::mkdir(scratch.path("spool").c_str(), 0700);
    snapshotter =
        snapshot::make_tar_snapshotter(*store, pool, loop, clock, scratch.path("spool"), &log);
  }

  Result<SnapshotRef> save(const CallContext& call = {}, const std::string& attempt = "attempt1") {
    const SnapshotOwner owner = test_owner();
    const OperationId id(attempt);
    return base::sync_wait(loop, snapshotter->save(source, owner, id, call));
  }
  Result<void> verify(const SnapshotRef& snapshot, const CallContext& call = {}) {
    return base::sync_wait(loop, snapshotter->verify(snapshot, call));
  }
  Result<void> restore(const SnapshotRef& snapshot, const CallContext& call = {}) {
    return base::sync_wait(loop, snapshotter->restore(snapshot, target, call));
  }
  Result<void> remove(const SnapshotRef& snapshot) {
    const CallContext call;
    return base::sync_wait(loop, snapshotter->remove(snapshot, call));
  }
  Result<void> remove_all(const std::string& attempt = "") {
    const SnapshotOwner owner = test_owner();
    const OperationId id(attempt);
    const CallContext call;
    return base::sync_wait(loop, snapshotter->remove_all(owner, id, call));
  }

  /// Whether nothing was written into the target.
  bool target_is_empty() const { return std::filesystem::is_empty(target.path()); }

  ScratchTree scratch;
  base::SystemClock clock;
  base::IoLoop loop;
  base::WorkerPool pool{2};  // ends before the loop that it posts to
  MemoryLog log;
  DirectoryVolume source;
  DirectoryVolume target;

  std::unique_ptr<ObjectStore> memory = objects::make_memory_objects();
  ObjectStore* store;
  BlockingObjects objects{*store, loop};
  std::unique_ptr<Snapshotter> snapshotter;
};

}  // namespace cove::test
