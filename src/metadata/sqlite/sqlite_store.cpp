#include "metadata/sqlite/sqlite_store.hpp"

#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/text/document_rules.hpp"
#include "metadata/sqlite/connection.hpp"
#include "metadata/sqlite/documents.hpp"
#include "metadata/sqlite/patience.hpp"
#include "metadata/sqlite/query.hpp"
#include "metadata/sqlite/schema.hpp"
#include "metadata/sqlite/store_clock.hpp"
#include "metadata/sqlite/turn_queue.hpp"
#include "metadata/sqlite/waiting_line.hpp"

namespace cove::metadata {
namespace {

using namespace sqlite;  // this file is where its parts come together

/// A clock that was set ahead moves the offset; from this much on it is kept in the file at once,
/// so that other processes do not see the store's time go back when the clock is set back.
constexpr std::int64_t kOffsetStepMs = 1000;

/// What one try gave; empty: the file is busy, and nothing was done.
template <class T>
using Attempt = std::optional<Result<T>>;

/// Gives the place in the line back, however the call ends.
class LeaveAtEnd {
 public:
  explicit LeaveAtEnd(WaitingLine& line) : line_(line) {}
  ~LeaveAtEnd() { line_.leave(); }
  LeaveAtEnd(const LeaveAtEnd&) = delete;
  LeaveAtEnd& operator=(const LeaveAtEnd&) = delete;

 private:
  WaitingLine& line_;
};

class SqliteStore final : public MetadataStore {
 public:
  struct Parts {
    std::unique_ptr<Connection> writer;
    WaitingLine line;
    std::unique_ptr<StoreClock> time;
  };

  SqliteStore(Parts parts, base::BlockingExecutor& executor, Scheduler& scheduler,
              const Clock& clock)
      : file_(parts.writer->file()),
        executor_(executor),
        scheduler_(scheduler),
        clock_(clock),
        time_(std::move(parts.time)),
        turns_(scheduler),
        line_(std::move(parts.line)),
        writer_(std::move(parts.writer)) {}

  Task<Result<Version>> insert(const DocumentId& id, const Document& document,
                               Durability durability, const CallContext& call) override {
    COVE_CO_TRY_VOID(base::check_document_id(id));
    COVE_CO_TRY_VOID(base::check_document(document));
    const auto work = [&](Connection& writer) {
      return insert_document(writer, *time_, id, document);
    };
    co_return co_await write<Version>(work, durability, call);
  }

  Task<Result<std::optional<StoredDocument>>> find(const DocumentId& id,
                                                   const CallContext& call) override {
    COVE_CO_TRY_VOID(base::check_document_id(id));
    const auto work = [&](Connection& reader) { return find_document(reader, id); };
    co_return co_await read<std::optional<StoredDocument>>(work, call);
  }

  Task<Result<Version>> compare_and_swap(const DocumentId& id, Version expected,
                                         const Document& next, Durability durability,
                                         const CallContext& call) override {
    COVE_CO_TRY_VOID(base::check_document_id(id));
    COVE_CO_TRY_VOID(base::check_document(next));
    const auto work = [&](Connection& writer) {
      return swap_document(writer, *time_, id, expected, next);
    };
    co_return co_await write<Version>(work, durability, call);
  }

  Task<Result<void>> remove(const DocumentId& id, Version expected,
                            const CallContext& call) override {
    COVE_CO_TRY_VOID(base::check_document_id(id));
    const auto work = [&](Connection& writer) {
      return remove_document(writer, *time_, id, expected);
    };
    co_return co_await write<void>(work, Durability::kDurable, call);
  }

  Task<Result<DocumentPage>> query(const DocumentQuery& query, const CallContext& call) override {
    COVE_CO_TRY(const auto start, base::start_of(query));
    const auto work = [&](Connection& reader) { return query_page(reader, query, start); };
    co_return co_await read<DocumentPage>(work, call);
  }

  Task<Result<StateCounts>> count_by_state(DocumentKind kind, const CallContext& call) override {
    const auto work = [kind](Connection& reader) { return count_states(reader, kind); };
    co_return co_await read<StateCounts>(work, call);
  }

  Task<Result<StoreTime>> now(const CallContext& call) override {
    const auto look = [](Connection& reader) { return read_offset(reader); };
    COVE_CO_TRY(const std::int64_t kept, co_await read<std::int64_t>(look, call));
    time_->learn_offset(kept);
    const StoreMoment moment = time_->now();
    if (moment.offset - kept >= kOffsetStepMs) {
      const auto keep = [&](Connection& writer) { return keep_offset(writer, *time_); };
      COVE_CO_TRY_VOID(co_await write<void>(keep, Durability::kRelaxed, call));
    }
    co_return StoreTime(std::chrono::milliseconds(moment.time));
  }

 private:
  /// Runs `work` on the one writing connection, when it is this call's turn here and this
  /// process's turn among all.
  template <class T, class Work>
  Task<Result<T>> write(Work work, Durability durability, const CallContext& call) {
    COVE_CO_TRY_VOID(call.check(clock_));
    Patience patience(file_, clock_, call);
    Result<Turn> turn = co_await turns_.wait(patience.call());
    if (!turn) co_return patience.explain(turn.error());
    const LeaveAtEnd leave(line_);
    const auto attempt = [&] { return try_write<T>(work, durability); };
    for (;;) {
      Attempt<T> result = co_await base::offload(executor_, scheduler_, attempt);
      if (result) co_return std::move(*result);
      COVE_CO_TRY_VOID(co_await patience.pause(scheduler_));
    }
  }

  template <class T, class Work>
  Attempt<T> try_write(const Work& work, Durability durability) {
    const Result<bool> first = line_.is_first(clock_.now());
    if (!first) return Result<T>(first.error());
    if (*first) {
      Result<T> result = use_writer<T>(work, durability);
      if (result || !writer_->was_busy()) return result;
    }
    const Result<void> joined = line_.join(clock_.now());
    if (!joined) return Result<T>(joined.error());
    return std::nullopt;
  }

  template <class T, class Work>
  Result<T> use_writer(const Work& work, Durability durability) {
    COVE_TRY_VOID(writer_->start());
    COVE_TRY_VOID(writer_->set_durability(durability));
    return work(*writer_);
  }

  /// Runs `work` on a connection that nobody uses. Readers are in nobody's way but at the moments
  /// when the file is recovered, made or closed for the last time.
  template <class T, class Work>
  Task<Result<T>> read(Work work, const CallContext& call) {
    COVE_CO_TRY_VOID(call.check(clock_));
    Patience patience(file_, clock_, call);
    const auto attempt = [&] { return try_read<T>(work); };
    for (;;) {
      Attempt<T> result = co_await base::offload(executor_, scheduler_, attempt);
      if (result) co_return std::move(*result);
      COVE_CO_TRY_VOID(co_await patience.pause(scheduler_));
    }
  }

  template <class T, class Work>
  Attempt<T> try_read(const Work& work) {
    std::unique_ptr<Connection> reader = take_reader();
    if (reader == nullptr) {
      reader = std::make_unique<Connection>(file_);
      const Result<void> connected = reader->connect();
      if (!connected && reader->was_busy()) return std::nullopt;
      if (!connected) return Result<T>(connected.error());
    }
    const Result<void> started = reader->start();
    Result<T> result = started ? work(*reader) : Result<T>(started.error());
    const bool busy = !result && reader->was_busy();
    give_back(std::move(reader));
    if (busy) return std::nullopt;
    return result;
  }

  std::unique_ptr<Connection> take_reader() {
    const std::lock_guard lock(readers_mutex_);
    if (readers_.empty()) return nullptr;
    std::unique_ptr<Connection> reader = std::move(readers_.back());
    readers_.pop_back();
    return reader;
  }

  void give_back(std::unique_ptr<Connection> reader) {
    const std::lock_guard lock(readers_mutex_);
    readers_.push_back(std::move(reader));
  }

  const std::string file_;
  base::BlockingExecutor& executor_;
  Scheduler& scheduler_;
  const Clock& clock_;
  const std::unique_ptr<StoreClock> time_;
  TurnQueue turns_;
  WaitingLine line_;                    // used by the turn's owner only
  std::unique_ptr<Connection> writer_;  // likewise
  std::mutex readers_mutex_;
  std::vector<std::unique_ptr<Connection>> readers_;  // at rest; guarded by readers_mutex_
};

Result<std::unique_ptr<Connection>> try_open(const std::string& path, const std::string& mode_of,
                                             StoreClock& time, bool& busy) {
  auto connection = std::make_unique<Connection>(path);
  Result<void> opened = connection->connect(mode_of);
  if (opened) opened = prepare_schema(*connection, time);
  busy = connection->was_busy();
  if (!opened) return opened.error();
  return connection;
}

/// Blocks while others are in the way: at the file's making, its recovery, its last closing.
Result<std::unique_ptr<Connection>> open_writer(const std::string& path, const std::string& mode_of,
                                                StoreClock& time) {
  constexpr auto kPause = std::chrono::milliseconds(2);
  constexpr int kTries = 5000;
  for (int tries = 1;; ++tries) {
    bool busy = false;
    auto connection = try_open(path, mode_of, time, busy);
    if (connection || !busy) return connection;
    if (tries == kTries) return busy_for_too_long(path);
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

Result<std::shared_ptr<MetadataStore>> open_sqlite_store(const std::string& path,
                                                         base::BlockingExecutor& executor,
                                                         Scheduler& scheduler, const Clock& clock) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    return Error(ErrorCode::kInvalidArgument, "the metadata store's path is empty or has a NUL");
  }
  if (sqlite3_threadsafe() == 0) {
    return Error(ErrorCode::kUnsupported, "this SQLite was built without threads");
  }
  const std::string line_path = path + "-queue";
  COVE_TRY(auto line, WaitingLine::open(line_path));
  auto time = std::make_unique<StoreClock>([&clock] { return read_clocks(clock); });
  // The line's file has the mode that the database must get, and SQLite takes it over; changing
  // the umask would change it for the whole process.
  COVE_TRY(auto writer, open_writer(path, line_path, *time));
  SqliteStore::Parts parts{std::move(writer), std::move(line), std::move(time)};
  return std::shared_ptr<MetadataStore>(
      std::make_shared<SqliteStore>(std::move(parts), executor, scheduler, clock));
}

}  // namespace cove::metadata
