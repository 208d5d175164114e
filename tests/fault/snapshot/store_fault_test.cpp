// A snapshotter over a store, a clock and a disk that fail.
#include <algorithm>

#include <catch2/catch.hpp>

#include "objects/directory/directory_objects.hpp"
#include "support/fakes/fault_object_store.hpp"
#include "support/fixtures/snapshot_fixture.hpp"
#include "support/trees/small_disk.hpp"
#include "support/trees/tree_builder.hpp"
#include "support/trees/tree_description.hpp"

using cove::CallContext;
using cove::Error;
using cove::ErrorCode;
using cove::SnapshotRef;
using cove::test::describe_tree;
using cove::test::FaultKind;
using cove::test::FaultObjectStore;
using cove::test::kSingle;
using cove::test::SnapshotFixture;
using cove::test::TreeBuilder;

namespace {

std::string noise(std::size_t size) {
  std::string text(size, '\0');
  std::uint32_t state = 3;
  for (char& c : text) c = static_cast<char>((state = state * 1664525U + 1013904223U) >> 24);
  return text;
}

/// About 1.5 MB that do not compress, so that the archive has several pieces.
void build(const std::string& directory) {
  TreeBuilder tree(directory);
  tree.directory("d");
  tree.file("d/noise", noise(1'500'000));
  tree.file("text", "hello");
  tree.symlink("link", "text");
}

struct Faulty {
  Faulty() { build(fixture.source.path()); }

  std::unique_ptr<cove::ObjectStore> memory = cove::objects::make_memory_objects();
  FaultObjectStore store{*memory};
  SnapshotFixture fixture{kSingle, &store};
};

}  // namespace

TEST_CASE("Snapshot: a fault at any store call of a save leaves a whole snapshot or none",
          "[fault][snapshot]") {
  const auto kind = GENERATE(FaultKind::kBefore, FaultKind::kAfter, FaultKind::kHalfWay);
  for (int n = 0;; ++n) {
    REQUIRE(n < 50);
    Faulty run;
    const auto before = describe_tree(run.fixture.source.path());
    run.store.fail_at(n, kind);
    const auto saved = run.fixture.save();
    const bool fired = run.store.fired();
    run.store.fail_at(-1);
    CHECK(saved.has_value() == !fired);
    CHECK(describe_tree(run.fixture.source.path()) == before);
    if (saved) {
      CHECK(run.fixture.verify(*saved));
      CHECK(run.fixture.restore(*saved));
      CHECK(describe_tree(run.fixture.target.path()) == before);
      CHECK(n == 2);  // the two puts had their turn
      break;
    }
    CHECK(saved.error().code() == ErrorCode::kUnavailable);
    CHECK(run.fixture.remove_all("attempt1"));
    CHECK(run.fixture.objects.keys().empty());
    CHECK(run.fixture.save({}, "attempt2"));
  }
}

TEST_CASE("Snapshot: a fault at any store call of verify or restore writes nothing",
          "[fault][snapshot]") {
  const auto kind = GENERATE(FaultKind::kBefore, FaultKind::kBadBytes);
  const auto code = kind == FaultKind::kBefore ? ErrorCode::kUnavailable : ErrorCode::kIntegrity;
  Faulty run;
  const SnapshotRef snapshot = run.fixture.save().value();
  int faults = 0;
  for (int n = 0;; ++n) {
    REQUIRE(n < 100);
    run.store.fail_at(n, kind);
    const auto verified = run.fixture.verify(snapshot);
    if (!run.store.fired()) {
      CHECK(verified);
      break;
    }
    run.store.fail_at(n, kind);
    const auto restored = run.fixture.restore(snapshot);
    CHECK(run.store.fired());
    CHECK(verified.has_value() == restored.has_value());
    if (restored) {
      // A flipped bit in the answer to a get itself, or in the end of a stream, is none.
      REQUIRE(kind == FaultKind::kBadBytes);
      const std::string clean = "find '" + run.fixture.target.path() + "' -mindepth 1 -delete";
      REQUIRE(std::system(clean.c_str()) == 0);
      continue;
    }
    ++faults;
    CHECK(verified.error().code() == code);
    CHECK(restored.error().code() == code);
    CHECK(run.fixture.target_is_empty());
  }
  CHECK(faults >= 7);
  run.store.fail_at(-1);
  CHECK(run.fixture.restore(snapshot));
}

TEST_CASE("Snapshot: a fault in removing is told, and repeating it completes the work",
          "[fault][snapshot]") {
  for (int n = 0;; ++n) {
    REQUIRE(n < 20);
    Faulty run;
    const SnapshotRef snapshot = run.fixture.save().value();
    run.store.fail_at(n);
    const auto removed = run.fixture.remove_all();
    const bool fired = run.store.fired();
    run.store.fail_at(-1);
    CHECK(removed.has_value() == !fired);
    if (fired) CHECK(removed.error().code() == ErrorCode::kUnavailable);
    CHECK(run.fixture.remove_all());
    CHECK(run.fixture.remove(snapshot));
    CHECK(run.fixture.objects.keys().empty());
    if (!fired) break;
  }
}

namespace {

/// Every look at it is one later.
class CountingClock final : public cove::Clock {
 public:
  cove::Instant now() const override { return cove::Instant(cove::Duration(looks_++)); }

 private:
  mutable std::atomic<int> looks_{0};
};

CallContext after_looks(int looks) { return {.deadline = cove::Instant(cove::Duration(looks))}; }

/// Cancels at its n-th look, from there on it is an ordinary clock.
class StoppingClock final : public cove::Clock {
 public:
  StoppingClock(int at, std::stop_source& stop) : left_(at), stop_(stop) {}
  cove::Instant now() const override {
    if (left_-- == 0) stop_.request_stop();
    return {};
  }

 private:
  mutable std::atomic<int> left_;
  std::stop_source& stop_;
};

}  // namespace

TEST_CASE("Snapshot: a deadline between any two pieces ends save and verify with kTimeout",
          "[fault][snapshot]") {
  Faulty run;
  const SnapshotRef snapshot = run.fixture.save().value();
  const std::string spool = run.fixture.scratch.path("spool");
  int ended = 0;
  for (int looks = 1;; ++looks) {
    REQUIRE(looks < 200);
    const CountingClock clock;
    const auto snapshotter = cove::snapshot::make_tar_snapshotter(*run.memory, run.fixture.pool,
                                                                  run.fixture.loop, clock, spool);
    // The memory store knows no clock: only the snapshotter's own looks count.
    const CallContext call = after_looks(looks);
    const auto verified =
        cove::base::sync_wait(run.fixture.loop, snapshotter->verify(snapshot, call));
    if (verified) break;
    CHECK(verified.error().code() == ErrorCode::kTimeout);
    ++ended;
  }
  CHECK(ended >= 7);
}

TEST_CASE("Snapshot: a save that is cancelled between pieces leaves no object",
          "[fault][snapshot]") {
  Faulty run;
  const auto owner = cove::test::test_owner();
  const cove::OperationId attempt("cancelled");
  int cancelled = 0;
  for (int look = 0;; ++look) {
    REQUIRE(look < 200);
    std::stop_source stop;
    CallContext call{.stop = stop.get_token()};
    call.deadline = cove::Instant::max();  // so that the clock is looked at
    const StoppingClock clock(look, stop);
    const auto snapshotter = cove::snapshot::make_tar_snapshotter(
        *run.memory, run.fixture.pool, run.fixture.loop, clock, run.fixture.scratch.path("spool"));
    const auto saved = cove::base::sync_wait(
        run.fixture.loop, snapshotter->save(run.fixture.source, owner, attempt, call));
    if (saved) break;
    CHECK(saved.error().code() == ErrorCode::kCancelled);
    const auto keys = run.fixture.objects.keys();
    CHECK(std::none_of(keys.begin(), keys.end(),
                       [](const auto& key) { return key.ends_with("manifest.json"); }));
    CHECK(run.fixture.remove_all("cancelled"));
    ++cancelled;
  }
  CHECK(cancelled >= 4);
}

TEST_CASE("Snapshot: a restore that is cancelled between pieces ends so, and a new volume works",
          "[fault][snapshot]") {
  Faulty run;
  const SnapshotRef snapshot = run.fixture.save().value();
  int cancelled = 0;
  for (int look = 0;; ++look) {
    REQUIRE(look < 200);
    std::stop_source stop;
    CallContext call{.stop = stop.get_token()};
    call.deadline = cove::Instant::max();
    const StoppingClock clock(look, stop);
    const auto snapshotter = cove::snapshot::make_tar_snapshotter(
        *run.memory, run.fixture.pool, run.fixture.loop, clock, run.fixture.scratch.path("spool"));
    cove::test::DirectoryVolume volume(run.fixture.scratch.path("v" + std::to_string(look)),
                                       kSingle);
    const auto restored =
        cove::base::sync_wait(run.fixture.loop, snapshotter->restore(snapshot, volume, call));
    if (restored) {
      CHECK(describe_tree(volume.path()) == describe_tree(run.fixture.source.path()));
      break;
    }
    CHECK(restored.error().code() == ErrorCode::kCancelled);
    CHECK(volume.syncs == 0);
    ++cancelled;
  }
  CHECK(cancelled >= 10);
}

TEST_CASE("Snapshot: no piece of a save is larger than a MiB", "[fault][snapshot][pain-64]") {
  // A store that takes pieces of any size shows what it was given.
  class Watching final : public cove::ByteSource {
   public:
    explicit Watching(cove::ByteSource& inner) : inner_(inner) {}
    cove::Task<cove::Result<cove::Bytes>> next(const CallContext& call) override {
      COVE_CO_TRY(cove::Bytes piece, co_await inner_.next(call));
      largest = std::max(largest, piece.size());
      co_return piece;
    }
    std::size_t largest = 0;

   private:
    cove::ByteSource& inner_;
  };
  class WatchingStore final : public cove::ObjectStore {
   public:
    explicit WatchingStore(cove::ObjectStore& inner) : inner_(inner) {}
    cove::Task<cove::Result<cove::ObjectInfo>> put_if_absent(const cove::ObjectKey& key,
                                                             cove::ByteSource& content,
                                                             const CallContext& call) override {
      Watching watching(content);
      auto put = co_await inner_.put_if_absent(key, watching, call);
      largest = std::max(largest, watching.largest);
      co_return put;
    }
    cove::Task<cove::Result<std::unique_ptr<cove::ByteSource>>> get(
        const cove::ObjectKey& key, const CallContext& call) override {
      co_return co_await inner_.get(key, call);
    }
    cove::Task<cove::Result<cove::ObjectInfo>> stat(const cove::ObjectKey& key,
                                                    const CallContext& call) override {
      co_return co_await inner_.stat(key, call);
    }
    cove::Task<cove::Result<cove::ObjectPage>> list(const std::string& prefix,
                                                    const std::string& after, std::uint32_t limit,
                                                    const CallContext& call) override {
      co_return co_await inner_.list(prefix, after, limit, call);
    }
    cove::Task<cove::Result<void>> remove(const cove::ObjectKey& key,
                                          const CallContext& call) override {
      co_return co_await inner_.remove(key, call);
    }
    std::size_t largest = 0;

   private:
    cove::ObjectStore& inner_;
  };
  const auto memory = cove::objects::make_memory_objects();
  WatchingStore store(*memory);
  SnapshotFixture fixture(kSingle, &store);
  TreeBuilder(fixture.source.path()).file("large", noise(20'000'000));
  REQUIRE(fixture.save());
  CHECK(store.largest > 100'000);
  CHECK(store.largest <= 1 << 20);
}
