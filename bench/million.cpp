#include "million.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <cove/record.hpp>

namespace bench {
namespace {

constexpr std::int64_t kSandboxKind = 2;
constexpr std::uint32_t kPage = 200;
constexpr std::int64_t kYear = std::int64_t{365} * 24 * 3600 * 1000;

std::int64_t now_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

cove::SandboxState state_of(std::uint32_t number) {
  if (number % 20 == 0) return cove::SandboxState::kRunning;
  return number % 20 < 4 ? cove::SandboxState::kStopped : cove::SandboxState::kArchived;
}

/// Spread over a year without an order that an index could profit from.
std::int64_t active_at(std::uint32_t number, std::int64_t now) {
  const std::uint64_t mixed = std::uint64_t{number} * 0x9E3779B97F4A7C15ULL >> 20U;
  return now - static_cast<std::int64_t>(mixed % static_cast<std::uint64_t>(kYear));
}

cove::Record record_of(std::uint32_t number, std::int64_t active) {
  cove::Record record;
  record.sandbox_id = cove::SandboxId(record_name(number));
  record.key = {"bench", "app" + std::to_string(number % 100), "user" + std::to_string(number)};
  record.state = state_of(number);
  record.provider = "local";
  record.node = cove::NodeId("another-node");
  record.incarnation = cove::Incarnation("0123456789abcdef0123456789abcdef");
  record.epoch = cove::Epoch(3);
  record.last_active_at = record.created_at = cove::StoreTime(std::chrono::milliseconds(active));
  if (record.state == cove::SandboxState::kArchived) {
    cove::SnapshotRef snapshot;
    snapshot.objects.push_back({cove::ObjectKey("cove/v1/bench/" + record_name(number) + "/0"),
                                4096, std::string(64, 'a')});
    record.snapshot = snapshot;
  } else {
    record.generation = cove::Generation("fedcba9876543210fedcba9876543210");
  }
  return record;
}

}  // namespace

BareSqlite::BareSqlite(const std::string& path) {
  check(sqlite3_open(path.c_str(), &db_));
  sqlite3_busy_timeout(db_, 10'000);
  run("PRAGMA journal_mode=WAL");
  set_full(false);
  page_ = prepare(
      "SELECT name, version, state, source, node, active_at, heartbeat_at, body FROM documents"
      " WHERE kind = 2 AND state = CAST('running' AS BLOB) AND active_at < ?1"
      " AND (active_at, name) > (?2, ?3) ORDER BY active_at, name LIMIT ?4");
  begin_ = prepare("BEGIN IMMEDIATE");
  commit_ = prepare("COMMIT");
  version_ =
      prepare("UPDATE cove_store SET last_version = last_version + 1 RETURNING last_version");
  update_ = prepare(
      "UPDATE documents SET version = ?1, active_at = ?2, body = ?3"
      " WHERE kind = 2 AND name = ?4 AND version = ?5");
  find_ = prepare("SELECT version FROM documents WHERE kind = 2 AND name = ?1");
}

BareSqlite::~BareSqlite() {
  for (sqlite3_stmt* statement : {page_, begin_, commit_, version_, update_, find_}) {
    sqlite3_finalize(statement);
  }
  sqlite3_close(db_);
}

void BareSqlite::check(int code) const {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  std::fprintf(stderr, "bare SQLite: %s\n", sqlite3_errmsg(db_));
  std::exit(1);
}

sqlite3_stmt* BareSqlite::prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  check(sqlite3_prepare_v3(db_, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr));
  return statement;
}

void BareSqlite::run(const std::string& sql) {
  check(sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr));
}

int BareSqlite::next_page(std::int64_t active_before) {
  sqlite3_bind_int64(page_, 1, active_before);
  sqlite3_bind_int64(page_, 2, after_time_);
  sqlite3_bind_blob(page_, 3, after_name_.data(), static_cast<int>(after_name_.size()),
                    SQLITE_TRANSIENT);
  sqlite3_bind_int64(page_, 4, kPage);
  int rows = 0;
  std::size_t bytes = 0;
  for (; sqlite3_step(page_) == SQLITE_ROW; ++rows) {
    for (int column = 0; column < 8; ++column) {
      static_cast<void>(sqlite3_column_blob(page_, column));
      bytes += static_cast<std::size_t>(sqlite3_column_bytes(page_, column));
    }
    after_time_ = sqlite3_column_int64(page_, 5);
    after_name_.assign(static_cast<const char*>(sqlite3_column_blob(page_, 0)),
                       static_cast<std::size_t>(sqlite3_column_bytes(page_, 0)));
  }
  check(sqlite3_reset(page_));
  if (rows == 0) after_name_.clear();
  if (rows == 0) after_time_ = 0;
  return bytes > 0 ? rows : 0;
}

bool BareSqlite::swap(const std::string& name, std::int64_t expected, std::int64_t active,
                      const std::string& body) {
  const auto step = [this](sqlite3_stmt* statement) {
    check(sqlite3_step(statement));
    check(sqlite3_reset(statement));
  };
  step(begin_);
  check(sqlite3_step(version_));
  const std::int64_t version = sqlite3_column_int64(version_, 0);
  check(sqlite3_reset(version_));
  sqlite3_bind_int64(update_, 1, version);
  sqlite3_bind_int64(update_, 2, active);
  sqlite3_bind_blob(update_, 3, body.data(), static_cast<int>(body.size()), SQLITE_STATIC);
  sqlite3_bind_blob(update_, 4, name.data(), static_cast<int>(name.size()), SQLITE_STATIC);
  sqlite3_bind_int64(update_, 5, expected);
  step(update_);
  const bool done = sqlite3_changes(db_) == 1;
  step(commit_);
  return done;
}

std::int64_t BareSqlite::version_of(const std::string& name) {
  sqlite3_bind_blob(find_, 1, name.data(), static_cast<int>(name.size()), SQLITE_STATIC);
  const bool found = sqlite3_step(find_) == SQLITE_ROW;
  const std::int64_t version = found ? sqlite3_column_int64(find_, 0) : 0;
  check(sqlite3_reset(find_));
  return version;
}

std::string record_name(std::uint32_t number) {
  std::string name = std::to_string(1'000'000'000U + number);
  return "bench-" + name;
}

std::int64_t due_before() { return now_ms() - kYear / 2; }

void fill_with_records(BareSqlite& database, std::uint32_t count) {
  constexpr std::uint32_t kAtOnce = 50'000;
  sqlite3_stmt* insert = database.prepare(
      "INSERT INTO documents(kind, name, version, state, source, node, active_at, heartbeat_at,"
      " body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, NULL, ?8)");
  const std::int64_t now = now_ms();
  const auto bind = [&](int parameter, const std::string& text) {
    sqlite3_bind_blob(insert, parameter, text.data(), static_cast<int>(text.size()),
                      SQLITE_TRANSIENT);
  };
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i % kAtOnce == 0) database.run("BEGIN IMMEDIATE");
    const std::int64_t active = active_at(i, now);
    const cove::Record record = record_of(i, active);
    sqlite3_bind_int64(insert, 1, kSandboxKind);
    bind(2, record.sandbox_id.str());
    sqlite3_bind_int64(insert, 3, std::int64_t{i} + 100);
    bind(4, std::string(name_of(record.state)));
    bind(5, record.key.source_type + "/" + record.key.source_id);
    bind(6, record.node.str());
    sqlite3_bind_int64(insert, 7, active);
    bind(8, cove::to_json(record));
    database.check(sqlite3_step(insert));
    database.check(sqlite3_reset(insert));
    if (i % kAtOnce == kAtOnce - 1 || i + 1 == count) {
      if (i + 1 == count) {
        database.run("UPDATE cove_store SET last_version = max(last_version, " +
                     std::to_string(std::int64_t{count} + 1000) + ")");
      }
      database.run("COMMIT");
    }
  }
  sqlite3_finalize(insert);
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace bench
