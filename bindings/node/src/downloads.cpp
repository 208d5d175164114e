/// Files and directories that come piece by piece, driven by C's callbacks.
#include "followed.hpp"
#include "functions.hpp"
#include "results.hpp"

namespace cove_node {

/// What comes before the first piece: of how many bytes it is one (-1 = not known); then pieces.
struct Piece {
  std::string data;
  double total = -1;
  bool is_total = false;
};

/// The last of it ends the download.
struct DownloadRun {
  DownloadRun(LibraryPtr its_library, std::shared_ptr<Pipe<Piece>> its_pipe)
      : library(std::move(its_library)), pipe(std::move(its_pipe)) {}
  DownloadRun(const DownloadRun&) = delete;
  DownloadRun& operator=(const DownloadRun&) = delete;
  ~DownloadRun() {
    if (raw == nullptr) return;
    leave();
    library->cove_download_free(raw);
  }

  void leave() const {
    pipe->discard();
    library->cove_download_cancel(raw);
  }

  LibraryPtr library;
  std::shared_ptr<Pipe<Piece>> pipe;
  cove_download* raw = nullptr;
};

namespace {

using DownloadFollower = Follower<Piece, Nothing>;

std::int32_t on_piece(void* user_data, const void* data, std::size_t size) {
  Piece piece{std::string(static_cast<const char*>(data), size)};
  const auto& pipe = DownloadFollower::of(user_data)->pipe;
  return pipe->push(std::move(piece), size) ? COVE_PAUSE : COVE_CONTINUE;
}

/// Comes before the first piece too, with 0: then the total is known, where it ever is.
void on_progress(void* user_data, std::uint64_t done, std::int64_t total) {
  if (done > 0) return;
  DownloadFollower::of(user_data)->pipe->push(Piece{{}, static_cast<double>(total), true}, 0);
}

void on_done(void* user_data, cove_error* error) {
  DownloadFollower::of(user_data)->finish(nullptr, error);
}

}  // namespace

napi_value download(Arguments& in) {
  const auto workspace = in.handle<WorkspaceHandle>(0);
  const std::string path = in.text(1);
  const bool is_tree = in.truth(2);
  cove_call_options options = COVE_CALL_OPTIONS_INIT;
  in.limits(in.fields(3), options);
  auto pipe = make_pipe<Piece>(in.environment(), in.at(4));
  if (pipe == nullptr) in.fail("argument 4 is no function");
  if (in.has_failed()) return nullptr;
  const auto run = std::make_shared<DownloadRun>(in.environment().library, std::move(pipe));
  cove_piece_callbacks callbacks = COVE_PIECE_CALLBACKS_INIT;
  callbacks.on_piece = &on_piece;
  callbacks.on_progress = &on_progress;
  callbacks.on_done = &on_done;
  const Library& library = in.library();
  const auto form =
      is_tree ? library.cove_workspace_download_tree_start : library.cove_workspace_download_start;
  return follow<Piece, Nothing>(
      in, std::make_shared<Keep>(Keep{workspace, {}}), run, callbacks,
      [&](const cove_piece_callbacks* given, cove_download** out, cove_error** error) {
        return form(workspace->raw, path.c_str(), given, &options, out, error);
      });
}

napi_value take_pieces(Arguments& in) {
  const auto run = in.handle<DownloadRun>(0);
  const std::uint64_t most = whole_number(in.number(1));
  if (in.has_failed()) return nullptr;
  const auto taken = run->pipe->take(most);
  if (taken.resumes && run->raw != nullptr) run->library->cove_download_resume(run->raw);
  return taken_value(in.env(), taken, [&in](List& list, const Piece& piece) {
    list.add(piece.is_total ? number_value(in.env(), piece.total)
                            : bytes_value(in.env(), piece.data.data(), piece.data.size()));
  });
}

napi_value end_download(Arguments& in) {
  const auto run = in.handle<DownloadRun>(0);
  if (run != nullptr && run->raw != nullptr) run->leave();
  return nullptr;
}

}  // namespace cove_node
