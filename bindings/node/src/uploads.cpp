/// Files and directories that are sent piece by piece, on a thread of their own: C asks for the
/// pieces on the thread that made the call, which may wait there for JavaScript.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>

#include "followed.hpp"
#include "functions.hpp"
#include "results.hpp"

namespace cove_node {

/// Pieces on their way from JavaScript to the thread of the call.
struct UploadRun final : Abandonable {
  /// What waits for the call; past it JavaScript waits.
  static constexpr std::size_t kLimit = 1U << 20U;

  UploadRun(std::shared_ptr<Waker> its_waker, std::shared_ptr<CancelHandle> its_cancel)
      : waker(std::move(its_waker)), cancel(std::move(its_cancel)) {}
  UploadRun(const UploadRun&) = delete;
  UploadRun& operator=(const UploadRun&) = delete;
  ~UploadRun() override = default;

  void abandon() noexcept override {
    close(false);
    if (cancel != nullptr) cancel->library->cove_cancel_trigger(cancel->raw);
  }

  /// Whether there is room for more.
  bool give(BytesView piece) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_closed_) return true;
    waiting_.append(static_cast<const char*>(piece.data), piece.size);
    changed_.notify_all();
    return waiting_.size() - consumed_ < kLimit;
  }

  /// No piece follows: the end, or (not whole) a failure.
  void close(bool whole) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_closed_) return;
    is_closed_ = true;
    is_whole_ = whole;
    changed_.notify_all();
  }

  /// On the thread of the call.
  cove_status next(void* buffer, std::size_t capacity, std::size_t* out_size) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (waiting_.size() - consumed_ < kLimit / 2 && !is_closed_) waker->wake();
    const auto is_ready = [this] { return consumed_ < waiting_.size() || is_closed_; };
    if (!wait_until(changed_, lock, deadline, is_ready)) return COVE_TIMEOUT;
    if (is_closed_ && !is_whole_) return COVE_CANCELLED;
    const std::size_t size = std::min(capacity, waiting_.size() - consumed_);
    std::memcpy(buffer, waiting_.data() + consumed_, size);
    consumed_ += size;
    if (consumed_ >= kLimit || consumed_ == waiting_.size()) {
      waiting_.erase(0, consumed_);
      consumed_ = 0;
    }
    *out_size = size;
    return COVE_OK;
  }

  const std::shared_ptr<Waker> waker;
  const std::shared_ptr<CancelHandle> cancel;
  Deadline deadline = Deadline::max();  // set before the call begins
  std::atomic<std::uint64_t> done{0};

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string waiting_;
  std::size_t consumed_ = 0;
  bool is_closed_ = false;
  bool is_whole_ = false;
};

namespace {

cove_status next_piece(void* user_data, void* buffer, std::size_t capacity, std::size_t* out_size) {
  return static_cast<UploadRun*>(user_data)->next(buffer, capacity, out_size);
}

void on_progress(void* user_data, std::uint64_t done, std::int64_t) {
  auto& run = *static_cast<UploadRun*>(user_data);
  run.done = done;
  run.waker->wake();
}

/// Lets go of JavaScript's function when the call has ended, or never began.
struct LastWake {
  explicit LastWake(std::shared_ptr<UploadRun> its_run) : run(std::move(its_run)) {}
  LastWake(const LastWake&) = delete;
  LastWake& operator=(const LastWake&) = delete;
  ~LastWake() {
    run->close(false);
    run->waker->wake_last();
  }

  std::shared_ptr<UploadRun> run;
};

/// The body of both uploads: call(callbacks, options, &out, &error) waits to the end.
template <class Out, class Options, class Call>
napi_value upload_by(Arguments& in, const Options& options, Call call) {
  const auto workspace = in.handle<WorkspaceHandle>(0);
  std::string path = in.text(1);
  if (!is_function(in.env(), in.at(3))) in.fail("argument 3 is no function");
  if (in.has_failed()) return nullptr;
  const auto run =
      std::make_shared<UploadRun>(std::make_shared<Waker>(in.environment(), in.at(3)), in.cancel());
  if (run->cancel != nullptr) run->cancel->work = run;
  run->deadline = deadline_after(in.fields(2).u64("timeoutMs"));
  in.environment().live->add(std::static_pointer_cast<Abandonable>(run));
  napi_value const done =
      run_call<Out>(in, std::make_shared<Keep>(),
                    [workspace, run, options, call, path = std::move(path),
                     last = std::make_shared<LastWake>(run)](Out** out, cove_error** error) {
                      cove_upload_callbacks callbacks = COVE_UPLOAD_CALLBACKS_INIT;
                      callbacks.next_piece = &next_piece;
                      callbacks.on_progress = &on_progress;
                      callbacks.user_data = run.get();
                      return call(*workspace, path.c_str(), callbacks, options, out, error);
                    });
  return run_value(in.env(), wrap(in.env(), run), done);
}

/// cove_write_options and the text that it leads to.
struct WriteOptions {
  cove_write_options raw;
  std::optional<std::string> etag;
};

}  // namespace

napi_value upload(Arguments& in) {
  const Fields fields = in.fields(2);
  WriteOptions options{COVE_WRITE_OPTIONS_INIT, fields.text("ifUnchangedSince")};
  options.raw.flags = fields.flag("existingParents", COVE_WRITE_EXISTING_PARENTS) |
                      fields.flag("durable", COVE_WRITE_DURABLE) |
                      fields.flag("ifAbsent", COVE_WRITE_IF_ABSENT);
  options.raw.mode = fields.u32("mode");
  in.limits(fields, options.raw);
  return upload_by<cove_file_info>(
      in, options,
      [](const WorkspaceHandle& workspace, const char* path, const cove_upload_callbacks& callbacks,
         const WriteOptions& written, cove_file_info** out, cove_error** error) {
        cove_write_options asked = written.raw;
        asked.if_unchanged_since = written.etag ? written.etag->c_str() : nullptr;
        return workspace.library->cove_workspace_upload(workspace.raw, path, &callbacks, &asked,
                                                        out, error);
      });
}

napi_value upload_tree(Arguments& in) {
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(2), options);
  return upload_by<cove_tree_counts>(
      in, options,
      [](const WorkspaceHandle& workspace, const char* path, const cove_upload_callbacks& callbacks,
         const cove_call_options& call, cove_tree_counts** out, cove_error** error) {
        return workspace.library->cove_workspace_upload_tree(workspace.raw, path, &callbacks, &call,
                                                             out, error);
      });
}

napi_value give_piece(Arguments& in) {
  const auto run = in.handle<UploadRun>(0);
  const BytesView piece = in.bytes(1);
  if (in.has_failed()) return nullptr;
  napi_value room = nullptr;
  napi_get_boolean(in.env(), run->give(piece), &room);
  return room;
}

napi_value end_upload(Arguments& in) {
  const auto run = in.handle<UploadRun>(0);
  const bool whole = in.truth(1);
  if (in.has_failed()) return nullptr;
  if (whole) {
    run->close(true);
  } else {
    run->abandon();
  }
  return nullptr;
}

napi_value upload_progress(Arguments& in) {
  const auto run = in.handle<UploadRun>(0);
  if (in.has_failed()) return nullptr;
  return number_value(in.env(), static_cast<double>(run->done.load()));
}

}  // namespace cove_node
