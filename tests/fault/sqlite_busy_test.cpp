// The SQLite store while somebody else holds the file's write lock.
#include <catch2/catch.hpp>

#include "metadata/sqlite/sqlite_store.hpp"
#include "support/fakes/stepped_scheduler.hpp"
#include "support/fixtures/metadata_stores.hpp"
#include "support/raw/raw_sqlite.hpp"

using namespace std::chrono_literals;
using namespace cove;
using cove::test::RawSqlite;
using cove::test::sandbox;
using cove::test::SteppedScheduler;
using cove::test::StoreDirectory;
using cove::test::text;

namespace {

/// One thread, and a clock that jumps: a wait of 10 s takes no time.
struct Stepped {
  StoreDirectory directory;
  SteppedScheduler scheduler;
  base::InlineExecutor executor;
  std::string path = directory.file("metadata.db");
  std::shared_ptr<MetadataStore> store =
      metadata::open_sqlite_store(path, executor, scheduler, scheduler).value();
  DocumentId id = sandbox("a");
  Document old = text("old");
  Document next = text("next");
  CallContext calm;
  Version version = scheduler.run(store->insert(id, old, Durability::kRelaxed, calm)).value();
  RawSqlite other{path};

  Result<Version> swap(const CallContext& call) {
    return scheduler.run(store->compare_and_swap(id, version, next, Durability::kDurable, call));
  }
  std::string body() { return scheduler.run(store->find(id, calm)).value()->document.body; }
};

}  // namespace

TEST_CASE("SqliteStore: a writer that others keep out for 10 s is told when to try again",
          "[fault][metadata]") {
  Stepped s;
  s.other.run("BEGIN IMMEDIATE");
  const Instant start = s.scheduler.now();
  const auto swapped = s.swap(s.calm);
  REQUIRE_FALSE(swapped);
  CHECK(swapped.error().code() == ErrorCode::kUnavailable);
  CHECK(swapped.error().retry_after().has_value());
  CHECK(swapped.error().message().find(s.path) != std::string::npos);
  CHECK(s.scheduler.now() == start + 10s);
  s.other.run("COMMIT");
  CHECK(s.body() == "old");
  CHECK(s.swap(s.calm));
}

TEST_CASE("SqliteStore: a writer that waits ends at its deadline", "[fault][metadata]") {
  Stepped s;
  s.other.run("BEGIN IMMEDIATE");
  const CallContext call{.deadline = s.scheduler.now() + 700ms};
  CHECK(s.swap(call).error().code() == ErrorCode::kTimeout);
  CHECK(s.scheduler.now() == *call.deadline);
  CHECK(s.body() == "old");
}

TEST_CASE("SqliteStore: a writer that waits ends when it is cancelled", "[fault][metadata]") {
  Stepped s;
  s.other.run("BEGIN IMMEDIATE");
  std::stop_source stop;
  const CallContext call{.stop = stop.get_token()};
  s.scheduler.call_at(s.scheduler.now() + 300ms, [&] { stop.request_stop(); });
  CHECK(s.swap(call).error().code() == ErrorCode::kCancelled);
  CHECK(s.body() == "old");
}

TEST_CASE("SqliteStore: a writer that waits goes on once the file is free", "[fault][metadata]") {
  Stepped s;
  s.other.run("BEGIN IMMEDIATE");
  const Instant start = s.scheduler.now();
  s.scheduler.call_at(start + 1s, [&] { s.other.run("COMMIT"); });
  CHECK(s.swap(s.calm));
  CHECK(s.scheduler.now() < start + 1s + 10ms);
  CHECK(s.body() == "next");
}

TEST_CASE("SqliteStore: a call behind a waiting one ends at its own deadline",
          "[fault][metadata]") {
  Stepped s;
  s.other.run("BEGIN IMMEDIATE");
  std::optional<Result<Version>> first;
  const auto wait = [](Stepped& stage, std::optional<Result<Version>>& out) -> Task<void> {
    out.emplace(co_await stage.store->compare_and_swap(stage.id, stage.version, stage.next,
                                                       Durability::kRelaxed, stage.calm));
  };
  base::spawn(s.scheduler, wait(s, first));
  const CallContext call{.deadline = s.scheduler.now() + 50ms};
  CHECK(s.swap(call).error().code() == ErrorCode::kTimeout);
  CHECK(s.scheduler.now() == *call.deadline);
  CHECK_FALSE(first);
  s.other.run("COMMIT");
  CHECK(s.swap(s.calm).error().code() == ErrorCode::kConflict);  // the first one came before
  CHECK(first.value());
}

TEST_CASE("SqliteStore: a writer that waits holds no thread of the pool",
          "[fault][metadata][threads]") {
  const StoreDirectory directory;
  const base::SystemClock clock;
  base::IoLoop loop;
  base::WorkerPool pool(1);
  const std::string path = directory.file("metadata.db");
  const auto store = metadata::open_sqlite_store(path, pool, loop, clock).value();
  const DocumentId id = sandbox("a");
  const Document document = text("old");
  const CallContext call;
  REQUIRE(base::sync_wait(loop, store->insert(id, document, Durability::kRelaxed, call)));
  RawSqlite other(path);
  other.run("BEGIN IMMEDIATE");
  const auto completion = base::Completion<Result<void>>::make(loop);
  const auto write = [&]() -> Task<void> {
    const Result<Version> inserted =
        co_await store->insert(sandbox("b"), document, Durability::kDurable, call);
    completion->complete(inserted ? ok() : Result<void>(inserted.error()));
  };
  base::spawn(loop, write());
  for (int i = 0; i < 20; ++i) CHECK(base::sync_wait(loop, store->find(id, call)).value());
  other.run("COMMIT");
  const auto wait = [&]() -> Task<Result<void>> { co_return co_await completion->wait(); };
  CHECK(base::sync_wait(loop, wait()));
}
