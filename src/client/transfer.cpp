#include "client/transfer.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>

#include "base/async/completion.hpp"
#include "client/file_calls.hpp"

namespace cove::client {
namespace {

Error blocking_refused() {
  return Error(ErrorCode::kFailedPrecondition,
               "a transfer inside one of Cove's callbacks would wait for itself; make it on a "
               "thread of your own");
}

template <class T, class... Args>
Result<T> call_host(const char* name, const std::function<Result<T>(Args...)>& function,
                    Args... args) {
  try {
    return function(args...);
  } catch (const std::exception& e) {
    return Error(ErrorCode::kInternal, std::string(name) + " threw: " + e.what());
  } catch (...) {
    return Error(ErrorCode::kInternal, std::string(name) + " threw");
  }
}

Result<void> pour(Scheduler& scheduler, ByteSource& source,
                  const std::function<Result<void>(ByteView)>& sink, const CallContext& call) {
  for (;;) {
    COVE_TRY(const Bytes piece, base::sync_wait(scheduler, source.next(call)));
    if (piece.empty()) return ok();
    COVE_TRY_VOID(call_host<void, ByteView>("the sink", sink, ByteView(piece)));
  }
}

Task<int> destroy(std::unique_ptr<ByteSource>& source) {
  source.reset();
  co_return 0;
}

/// A source that asks the calling thread for each piece and waits without blocking the scheduler.
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

  void finish(Result<FileInfo> result) {
    const std::lock_guard lock(mutex_);
    finished_.emplace(std::move(result));
    changed_.notify_one();
  }

  /// Answers each question with a piece of `source`, until the file is written or refused.
  Result<FileInfo> serve(const std::function<Result<Bytes>()>& source) {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return finished_ || asked_; });
      if (finished_) return *finished_;
      const auto answer = std::exchange(asked_, nullptr);
      lock.unlock();
      answer->complete(call_host<Bytes>("the source", source));
      lock.lock();
    }
  }

 private:
  Scheduler& scheduler_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<base::Completion<Result<Bytes>>> asked_;
  std::optional<Result<FileInfo>> finished_;
};

struct Upload {
  GuestPath path;
  WriteOptions options;
  CallContext call;
};

Task<void> write_asked(GuestLink& link, std::shared_ptr<AskingSource> source, Upload upload) {
  std::optional<Result<FileInfo>> result;
  try {
    Result<FileInfo> written =
        co_await write_from(link, upload.path, *source, upload.options, upload.call);
    result.emplace(std::move(written));
  } catch (const std::exception& e) {
    result.emplace(error_of(e));
  } catch (...) {
    result.emplace(error_of_unknown());
  }
  source->finish(std::move(*result));
}

Result<void> download(GuestLink& link, const GuestPath& path,
                      const std::function<Result<void>(ByteView)>& sink, const CallContext& call) {
  COVE_TRY(const std::unique_ptr<CallScope> scope, link.begin(call));
  if (link.on_scheduler()) return blocking_refused();
  Scheduler& scheduler = link.scheduler();
  COVE_TRY(std::unique_ptr<ByteSource> source,
           base::sync_wait(scheduler, open_file(link, path, scope->context())));
  Result<void> poured = pour(scheduler, *source, sink, scope->context());
  base::sync_wait(scheduler, destroy(source));  // it belongs to the scheduler's thread
  return poured;
}

}  // namespace

Result<void> download_to(GuestLink& link, const GuestPath& path,
                         const std::function<Result<void>(ByteView)>& sink,
                         const CallContext& call) {
  try {
    return download(link, path, sink, call);
  } catch (const std::exception& e) {
    return error_of(e);
  } catch (...) {
    return error_of_unknown();
  }
}

Result<FileInfo> upload_from(GuestLink& link, const GuestPath& path,
                             const std::function<Result<Bytes>()>& source,
                             const WriteOptions& options, const CallContext& call) {
  try {
    COVE_TRY(const std::unique_ptr<CallScope> scope, link.begin(call));
    if (link.on_scheduler()) return blocking_refused();
    const auto asking = std::make_shared<AskingSource>(link.scheduler());
    base::spawn(link.scheduler(),
                write_asked(link, asking, Upload{path, options, scope->context()}));
    return asking->serve(source);
  } catch (const std::exception& e) {
    return error_of(e);
  } catch (...) {
    return error_of_unknown();
  }
}

}  // namespace cove::client
