// The SQLite store's file: what is on the disk, when, and what is refused.
#include <atomic>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "metadata/sqlite/sqlite_store.hpp"
#include "support/fixtures/metadata_stores.hpp"
#include "support/raw/raw_sqlite.hpp"

using namespace cove;
using cove::test::RawSqlite;
using cove::test::sandbox;
using cove::test::SqliteMetadata;
using cove::test::StoreDirectory;
using cove::test::text;

namespace {

std::atomic<int> disk_waits{0};

}  // namespace

// Stands before the C library's for this binary: SQLite calls it wherever it waits for the disk.
extern "C" __attribute__((visibility("default"))) int fdatasync(int fd) {
  ++disk_waits;
  return static_cast<int>(::syscall(SYS_fdatasync, fd));
}

namespace {

Error refusal_of(const std::string& path) {
  const base::SystemClock clock;
  base::IoLoop loop;
  base::WorkerPool pool(1);
  const auto store = metadata::open_sqlite_store(path, pool, loop, clock);
  REQUIRE_FALSE(store);
  return store.error();
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

unsigned mode_of(const std::string& path) {
  struct stat status{};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777U;
}

}  // namespace

TEST_CASE("SqliteStore: a durable write waits for the disk and a relaxed one does not",
          "[fault][metadata]") {
  SqliteMetadata store;
  Version version = store.insert(sandbox("a"), text("0"), Durability::kDurable).value();
  const auto waits_of = [&](Durability durability) {
    const int before = disk_waits;
    version = store.swap(sandbox("a"), version, text("x"), durability).value();
    return disk_waits - before;
  };
  for (int i = 0; i < 5; ++i) {
    CHECK(waits_of(Durability::kRelaxed) == 0);
    CHECK(waits_of(Durability::kDurable) >= 1);
  }
  const int before = disk_waits;
  REQUIRE(store.remove(sandbox("a"), version));
  CHECK(disk_waits > before);
}

TEST_CASE("SqliteStore: its files are the owner's alone, whatever the path's characters",
          "[fault][metadata]") {
  const StoreDirectory directory;
  const std::string path = directory.file("odd ?name#%41\xFF&modeof=x.db");
  SqliteMetadata store(path);
  REQUIRE(store.insert(sandbox("a"), text("1")));
  REQUIRE(store.find(sandbox("a")).value());
  for (const char* suffix : {"", "-wal", "-shm", "-queue"}) CHECK(mode_of(path + suffix) == 0600);
  CHECK(RawSqlite(path).run("PRAGMA journal_mode") == "wal");
}

TEST_CASE("SqliteStore: documents, versions and time are there after it is opened again",
          "[fault][metadata]") {
  const StoreDirectory directory;
  const std::string path = directory.file("metadata.db");
  Version last{};
  StoreTime time;
  {
    SqliteMetadata store(path);
    REQUIRE(store.insert(sandbox("a"), text("kept")));
    const Version gone = store.insert(sandbox("b"), text("x")).value();
    REQUIRE(store.remove(sandbox("b"), gone));
    last = gone;
    time = store.now().value();
  }
  SqliteMetadata store(path);
  CHECK(store.find(sandbox("a")).value()->document.body == "kept");
  CHECK(store.insert(sandbox("b"), text("x")).value() > last);
  CHECK(store.now().value() >= time);
}

TEST_CASE("SqliteStore: a time ahead that another process has seen holds here too",
          "[fault][metadata]") {
  const StoreDirectory directory;
  const std::string path = directory.file("metadata.db");
  SqliteMetadata store(path);
  const StoreTime before = store.now().value();
  RawSqlite(path).run("UPDATE cove_store SET offset_ms = offset_ms + 3600000");
  CHECK(store.now().value() >= before + std::chrono::hours(1));
  SqliteMetadata again(path);
  CHECK(again.now().value() >= before + std::chrono::hours(1));
}

TEST_CASE("SqliteStore: after a boot it goes on from the newest time that was written",
          "[fault][metadata]") {
  const StoreDirectory directory;
  const std::string path = directory.file("metadata.db");
  const StoreTime before = SqliteMetadata(path).now().value();
  // The other boot's offset means nothing now; its time, two hours ahead of the wall clock, does.
  RawSqlite(path).run(
      "UPDATE cove_store SET boot_id = 'another', offset_ms = offset_ms + 36000000,"
      " time_ms = time_ms + 7200000");
  SqliteMetadata store(path);
  const StoreTime time = store.now().value();
  CHECK(time > before + std::chrono::minutes(119));
  CHECK(time < before + std::chrono::minutes(150));
}

TEST_CASE("SqliteStore: a file that is no database is refused and left as it is",
          "[fault][metadata]") {
  const StoreDirectory directory;
  const std::string path = directory.file("metadata.db");
  const std::string garbage =
      GENERATE(std::string("short"), std::string(10'000, 'g'),
               std::string("SQLite format 3\0 and then nothing of the kind", 45));
  write_file(path, garbage);
  CHECK(refusal_of(path).code() == ErrorCode::kIntegrity);
  std::ifstream file(path, std::ios::binary);
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == garbage);
}

TEST_CASE("SqliteStore: the database of another program is refused and left as it is",
          "[fault][metadata]") {
  const StoreDirectory directory;
  const std::string path = directory.file("metadata.db");
  const char* theirs = GENERATE("CREATE TABLE documents(x)", "PRAGMA application_id = 7",
                                "PRAGMA application_id = 1131378277; CREATE TABLE cove_store(x)");
  RawSqlite(path).run(theirs);
  CHECK(refusal_of(path).code() == ErrorCode::kIntegrity);
  CHECK(RawSqlite(path).run("SELECT count(*) FROM sqlite_schema WHERE name LIKE '%by_state'") ==
        "0");
}

TEST_CASE("SqliteStore: a damaged page is an integrity error and no wrong answer",
          "[fault][metadata]") {
  const StoreDirectory directory;
  const std::string path = directory.file("metadata.db");
  {
    SqliteMetadata store(path);
    for (int i = 0; i < 200; ++i) {
      REQUIRE(store.insert(sandbox("name-" + std::to_string(i)), text(std::string(900, 'x'))));
    }
  }
  const auto size = std::filesystem::file_size(path);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  for (std::uintmax_t page = 2; page * 4096 < size; ++page) {
    file.seekp(static_cast<std::streamoff>(page * 4096));
    file << std::string(64, '\xEE');
  }
  file.close();
  SqliteMetadata store(path);
  CHECK(store.find(sandbox("name-7")).error().code() == ErrorCode::kIntegrity);
  CHECK(store.query({}).error().code() == ErrorCode::kIntegrity);
  CHECK(store.insert(sandbox("new"), text("x")).error().code() == ErrorCode::kIntegrity);
}

TEST_CASE("SqliteStore: the form of a newer Cove is refused, also where it comes while open",
          "[fault][metadata]") {
  const StoreDirectory directory;
  const std::string path = directory.file("metadata.db");
  SqliteMetadata store(path);
  const Version version = store.insert(sandbox("a"), text("1")).value();
  RawSqlite(path).run("UPDATE cove_store SET schema_version = 99");
  CHECK(refusal_of(path).code() == ErrorCode::kUnsupported);
  CHECK(store.swap(sandbox("a"), version, text("2")).error().code() == ErrorCode::kUnsupported);
  CHECK(store.insert(sandbox("b"), text("2")).error().code() == ErrorCode::kUnsupported);
  CHECK(store.remove(sandbox("a"), version).error().code() == ErrorCode::kUnsupported);
  CHECK(RawSqlite(path).run("SELECT count(*) FROM documents WHERE version = 1") == "1");
}

TEST_CASE("SqliteStore: a file that was moved away under it is an error, not a lost write",
          "[fault][metadata]") {
  const StoreDirectory directory;
  const std::string path = directory.file("metadata.db");
  SqliteMetadata store(path);
  const Version version = store.insert(sandbox("a"), text("1")).value();
  REQUIRE(store.find(sandbox("a")).value());
  std::filesystem::rename(path, directory.file("elsewhere.db"));
  CHECK(store.swap(sandbox("a"), version, text("2")).error().code() == ErrorCode::kIntegrity);
  CHECK(store.find(sandbox("a")).error().code() == ErrorCode::kIntegrity);
  std::filesystem::rename(directory.file("elsewhere.db"), path);
  CHECK(store.swap(sandbox("a"), version, text("2")));
}

TEST_CASE("SqliteStore: a path that cannot be opened is an error that names it",
          "[fault][metadata]") {
  const StoreDirectory directory;
  CHECK(refusal_of("").code() == ErrorCode::kInvalidArgument);
  CHECK(refusal_of(std::string("/tmp/a\0b", 8)).code() == ErrorCode::kInvalidArgument);
  const Error error = refusal_of(directory.file("none/metadata.db"));
  CHECK(error.code() == ErrorCode::kNotFound);
  CHECK(error.message().find("none/metadata.db") != std::string::npos);
}
