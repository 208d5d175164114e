#include "client/transfer.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "base/async/completion.hpp"
#include "client/file_calls.hpp"
#include "client/host_calls.hpp"

namespace cove::client {
namespace {

void tell(const Progress& progress, std::uint64_t done, std::optional<std::uint64_t> total) {
  if (progress) progress(done, total);
}

Result<void> pour(Scheduler& scheduler, ByteSource& source, std::optional<std::uint64_t> total,
                  const Outlet& outlet, const CallContext& call) {
  std::uint64_t done = 0;
  for (;;) {
    COVE_TRY(const Bytes piece, base::sync_wait(scheduler, source.next(call)));
    if (piece.empty()) return ok();
    COVE_TRY_VOID(call_host<void>("the sink", outlet.sink, ByteView(piece)));
    done += piece.size();
    tell(outlet.progress, done, total);
  }
}

/// The next piece of an upload, of which the host hears once more: what it throws there ends the
/// upload as what it throws in its source does.
Result<Bytes> next_piece(const Inlet& inlet, std::uint64_t& done) {
  COVE_TRY(Bytes piece, call_host<Bytes>("the source", inlet.source));
  done += piece.size();
  if (!inlet.progress || piece.empty()) return piece;
  const auto report = [&] {
    inlet.progress(done, std::nullopt);
    return ok();
  };
  COVE_TRY_VOID(call_host<void>("the progress callback", report));
  return piece;
}

/// A source that asks the calling thread for each piece and waits without blocking the scheduler.
template <class T>
class AskingSource final : public ByteSource {
 public:
  explicit AskingSource(Scheduler& scheduler) : scheduler_(scheduler) {}

  Task<Result<Bytes>> next(const CallContext& call) override {
    const auto answer = base::Completion<Result<Bytes>>::make(scheduler_);
    {
      const std::lock_guard lock(mutex_);
      asked_ = answer;
    }
    changed_.notify_one();
    co_return co_await base::wait_bounded<Bytes>(answer, scheduler_, call);
  }

  void finish(Result<T> result) {
    const std::lock_guard lock(mutex_);
    finished_.emplace(std::move(result));
    changed_.notify_one();
  }

  /// Answers each question with a piece of the source, until what it is for is done or refused.
  Result<T> serve(const Inlet& inlet) {
    std::uint64_t done = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return finished_ || asked_; });
      if (finished_) return *finished_;
      const auto answer = std::exchange(asked_, nullptr);
      lock.unlock();
      answer->complete(next_piece(inlet, done));
      lock.lock();
    }
  }

 private:
  Scheduler& scheduler_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<base::Completion<Result<Bytes>>> asked_;
  std::optional<Result<T>> finished_;
};

template <class FileCall>
Task<void> send_asked(GuestLink& link,
                      std::shared_ptr<AskingSource<typename FileCall::Value>> source,
                      FileCall file_call, CallContext call) {
  std::optional<Result<typename FileCall::Value>> result;
  try {
    Task<Result<typename FileCall::Value>> task = ask_call(link, std::move(file_call), call);
    Result<typename FileCall::Value> sent = co_await task;
    result.emplace(std::move(sent));
  } catch (...) {
    result.emplace(base::caught_error());
  }
  source->finish(std::move(*result));
}

}  // namespace

Result<void> download_file(GuestLink& link, const GuestPath& path, const Outlet& outlet,
                           const CallContext& call) {
  return run_here<void>(link, call, [&](const CallContext& inner) -> Result<void> {
    Scheduler& scheduler = link.scheduler();
    COVE_TRY(GuestFile file, base::sync_wait(scheduler, ask_call(link, OpenCall{path, {}}, inner)));
    const Held<ByteSource> source(scheduler, std::move(file.content));
    return pour(scheduler, *source, file.length, outlet, inner);
  });
}

Result<void> download_tree(GuestLink& link, const GuestPath& path, const Outlet& outlet,
                           const CallContext& call) {
  return run_here<void>(link, call, [&](const CallContext& inner) -> Result<void> {
    Scheduler& scheduler = link.scheduler();
    COVE_TRY(auto opened, base::sync_wait(scheduler, ask_call(link, OpenTreeCall{path}, inner)));
    const Held<ByteSource> source(scheduler, std::move(opened));
    return pour(scheduler, *source, std::nullopt, outlet, inner);
  });
}

Result<FileInfo> upload_file(GuestLink& link, const GuestPath& path, const Inlet& inlet,
                             const WriteOptions& options, const CallContext& call) {
  return run_here<FileInfo>(link, call, [&](const CallContext& inner) {
    const auto asking = std::make_shared<AskingSource<FileInfo>>(link.scheduler());
    UploadCall upload{path, options, asking.get()};
    base::spawn(link.scheduler(), send_asked(link, asking, std::move(upload), inner));
    return asking->serve(inlet);
  });
}

Result<TreeCounts> upload_tree(GuestLink& link, const GuestPath& path, const Inlet& inlet,
                               const CallContext& call) {
  return run_here<TreeCounts>(link, call, [&](const CallContext& inner) {
    const auto asking = std::make_shared<AskingSource<TreeCounts>>(link.scheduler());
    WriteTreeCall upload{path, asking.get()};
    base::spawn(link.scheduler(), send_asked(link, asking, std::move(upload), inner));
    return asking->serve(inlet);
  });
}

Result<void> follow_watch(GuestLink& link, const GuestPath& path, const WatchOptions& options,
                          const std::function<bool(const FileEvent&)>& on_event,
                          const CallContext& call) {
  return run_here<void>(link, call, [&](const CallContext& inner) -> Result<void> {
    Scheduler& scheduler = link.scheduler();
    WatchCall opening{path, options};
    COVE_TRY(auto opened, base::sync_wait(scheduler, ask_call(link, std::move(opening), inner)));
    const Held<GuestWatch> watch(scheduler, std::move(opened));
    for (;;) {
      COVE_TRY(const auto events, base::sync_wait(scheduler, (*watch).next(inner)));
      for (const FileEvent& event : events) {
        if (!on_event(event)) return ok();
      }
    }
  });
}

Task<Result<void>> run_watch(GuestLink& link, const GuestPath& path, const WatchOptions& options,
                             const std::function<void(std::vector<FileEvent>)>& on_events,
                             const CallContext& call) {
  WatchCall opening{path, options};
  COVE_CO_TRY(const auto watch, co_await ask_call(link, std::move(opening), call));
  for (;;) {
    COVE_CO_TRY(auto events, co_await watch->next(call));
    if (on_events) on_events(std::move(events));
  }
}

}  // namespace cove::client
