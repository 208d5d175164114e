/// Files and directories that come piece by piece, on a thread of their own: C gives the pieces on
/// the thread that made the call, which may wait there for its reader.
#include <optional>

#include "followed.hpp"
#include "functions.hpp"
#include "results.hpp"

namespace cove_node {

/// A piece with how many bytes are done with it, and of how many (-1 = not known).
struct Piece {
  std::string data;
  double done = 0;
  double total = -1;
};

struct DownloadRun final : Abandonable {
  DownloadRun(std::shared_ptr<Pipe<Piece>> its_pipe, std::shared_ptr<CancelHandle> its_cancel)
      : pipe(std::move(its_pipe)), cancel(std::move(its_cancel)) {}
  DownloadRun(const DownloadRun&) = delete;
  DownloadRun& operator=(const DownloadRun&) = delete;
  ~DownloadRun() override = default;

  void abandon() noexcept override {
    pipe->discard();
    if (cancel != nullptr) cancel->library->cove_cancel_trigger(cancel->raw);
  }

  const std::shared_ptr<Pipe<Piece>> pipe;
  const std::shared_ptr<CancelHandle> cancel;
};

namespace {

/// Ends the download when its JavaScript object is collected, while the thread still has the run.
struct DownloadOwner {
  explicit DownloadOwner(std::shared_ptr<DownloadRun> its_run) : run(std::move(its_run)) {}
  DownloadOwner(const DownloadOwner&) = delete;
  DownloadOwner& operator=(const DownloadOwner&) = delete;
  ~DownloadOwner() { run->abandon(); }

  std::shared_ptr<DownloadRun> run;
};

/// Between the two callbacks of one piece, on the thread of the call.
struct Taking {
  Pipe<Piece>* pipe;
  Deadline deadline;
  std::string data;
  cove_status status =
      COVE_OK;  // of the last hand-over; the next piece ends the call where it failed
};

cove_status on_piece(void* user_data, const void* data, std::size_t size) {
  auto& taking = *static_cast<Taking*>(user_data);
  taking.data.assign(static_cast<const char*>(data), size);
  return taking.status;
}

void on_progress(void* user_data, std::uint64_t done, std::int64_t total) {
  auto& taking = *static_cast<Taking*>(user_data);
  const std::size_t size = taking.data.size();
  Piece piece{std::move(taking.data), static_cast<double>(done), static_cast<double>(total)};
  taking.data.clear();
  const cove_status status = taking.pipe->push_waiting(std::move(piece), size, taking.deadline);
  if (status != COVE_OK) taking.status = status;
}

}  // namespace

/// What take_pieces and end_download are given.
template <>
struct Tag<DownloadOwner> {
  static constexpr std::uint64_t kNumber = Tag<DownloadRun>::kNumber;
};

napi_value download(Arguments& in) {
  const auto workspace = in.handle<WorkspaceHandle>(0);
  std::string path = in.text(1);
  const bool is_tree = in.truth(2);
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(3), options);
  auto pipe = make_pipe<Piece>(in.environment(), in.at(4));
  if (pipe == nullptr) in.fail("argument 4 is no function");
  if (in.has_failed()) return nullptr;
  const auto run = std::make_shared<DownloadRun>(pipe, in.cancel());
  if (run->cancel != nullptr) run->cancel->work = run;
  in.environment().live->add(std::static_pointer_cast<Abandonable>(run));
  napi_value const done = run_call<Nothing>(
      in, std::make_shared<Keep>(),
      [workspace, run, options, is_tree, path = std::move(path),
       end = std::make_shared<PipeEnd<Piece>>(pipe)](Nothing**, cove_error** error) {
        const Library& library = *workspace->library;
        Taking taking{run->pipe.get(), deadline_after(options.timeout_ms), {}};
        cove_download_callbacks callbacks = COVE_DOWNLOAD_CALLBACKS_INIT;
        callbacks.on_piece = &on_piece;
        callbacks.on_progress = &on_progress;
        callbacks.user_data = &taking;
        const auto form =
            is_tree ? library.cove_workspace_download_tree : library.cove_workspace_download;
        const cove_status status = form(workspace->raw, path.c_str(), &callbacks, &options, error);
        // Before the call is answered: after that nothing keeps the event loop for a last wake.
        run->pipe->end();
        return status;
      });
  napi_value const owner = wrap(in.env(), std::make_shared<DownloadOwner>(run));
  return run_value(in.env(), owner, done);
}

napi_value take_pieces(Arguments& in) {
  const auto owner = in.handle<DownloadOwner>(0);
  const std::uint64_t most = whole_number(in.number(1));
  if (in.has_failed()) return nullptr;
  return taken_value(in.env(), owner->run->pipe->take(most), [&in](List& list, const Piece& piece) {
    list.add(bytes_value(in.env(), piece.data.data(), piece.data.size()));
    list.add(number_value(in.env(), piece.done));
    list.add(number_value(in.env(), piece.total));
  });
}

napi_value end_download(Arguments& in) {
  const auto owner = in.handle<DownloadOwner>(0);
  if (owner != nullptr) owner->run->abandon();
  return nullptr;
}

}  // namespace cove_node
