/// The puppet's files, beyond those of fake_facade.cpp: what was asked is kept.
#include "fake_answers.hpp"

namespace cove {

using fake::world;

namespace {

/// What becomes of each of several files: the second one fails.
std::vector<Result<EditResult>> results_of(const std::vector<FileEdit>& edits) {
  std::vector<Result<EditResult>> results;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (i == 1) {
      results.emplace_back(Error(ErrorCode::kConflict, "somebody else changed it"));
    } else {
      results.emplace_back(EditResult{world().file, world().outcomes});
    }
  }
  return results;
}

void note_edit(const std::string& path, std::vector<Edit> edits, const EditOptions& options) {
  world().edits = {{path, std::move(edits), options}};
}

void note_move(const std::string& from, const std::string& to, const MoveOptions& options) {
  world().path = from;
  world().to = to;
  world().move = options;
}

Result<void> give_pieces(const ByteSink& sink, const Progress& progress) {
  std::uint64_t done = 0;
  for (const std::string& piece : world().pieces) {
    COVE_TRY_VOID(sink(std::as_bytes(std::span(piece))));
    done += piece.size();
    if (progress) progress(done, world().total);
  }
  return fake::reply();
}

Result<void> take_pieces(const ByteFeed& source, const Progress& progress) {
  for (;;) {
    COVE_TRY(const Bytes piece, source());
    if (piece.empty()) return fake::reply();
    world().uploaded.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    if (progress) progress(world().uploaded.size(), std::nullopt);
  }
}

}  // namespace

Result<FileContent> SandboxFiles::read(const std::string& path, const ReadRange& range,
                                       const CallContext& call) const {
  world().path = path;
  world().range = range;
  world().call = call;
  return fake::reply(world().content);
}
void SandboxFiles::read_async(std::string path, ReadRange range, CallContext,
                              Done<FileContent> done) const {
  world().path = std::move(path);
  world().range = range;
  fake::later(std::move(done), world().content);
}
Result<LineSlice> SandboxFiles::read_lines(const std::string& path, const LineRange& range,
                                           const CallContext& call) const {
  world().path = path;
  world().lines_wanted = range;
  world().call = call;
  return fake::reply(world().line_slice);
}
void SandboxFiles::read_lines_async(std::string path, LineRange range, CallContext,
                                    Done<LineSlice> done) const {
  world().path = std::move(path);
  world().lines_wanted = range;
  fake::later(std::move(done), world().line_slice);
}

Result<EditResult> SandboxFiles::edit_file(const std::string& path, const std::vector<Edit>& edits,
                                           const EditOptions& options, const CallContext&) const {
  note_edit(path, edits, options);
  return fake::reply(EditResult{world().file, world().outcomes});
}
void SandboxFiles::edit_file_async(std::string path, std::vector<Edit> edits, EditOptions options,
                                   CallContext, Done<EditResult> done) const {
  note_edit(path, std::move(edits), options);
  fake::later(std::move(done), EditResult{world().file, world().outcomes});
}
Result<std::vector<Result<EditResult>>> SandboxFiles::edit_files(const std::vector<FileEdit>& edits,
                                                                 const CallContext&) const {
  world().edits = edits;
  return fake::reply(results_of(edits));
}
void SandboxFiles::edit_files_async(std::vector<FileEdit> edits, CallContext,
                                    Done<std::vector<Result<EditResult>>> done) const {
  world().edits = std::move(edits);
  fake::later(std::move(done), results_of(world().edits));
}

Result<FileInfo> SandboxFiles::move(const std::string& from, const std::string& to,
                                    const MoveOptions& options, const CallContext&) const {
  note_move(from, to, options);
  return fake::reply(world().file);
}
void SandboxFiles::move_async(std::string from, std::string to, MoveOptions options, CallContext,
                              Done<FileInfo> done) const {
  note_move(from, to, options);
  fake::later(std::move(done), world().file);
}
Result<TreeCounts> SandboxFiles::copy(const std::string& from, const std::string& to,
                                      const CopyOptions& options, const CallContext&) const {
  note_move(from, to, options);
  return fake::reply(world().counts);
}
void SandboxFiles::copy_async(std::string from, std::string to, CopyOptions options, CallContext,
                              Done<TreeCounts> done) const {
  note_move(from, to, options);
  fake::later(std::move(done), world().counts);
}
Result<FileInfo> SandboxFiles::set_mode(const std::string& path, std::uint32_t mode,
                                        const CallContext&) const {
  world().path = path;
  world().mode = mode;
  return fake::reply(world().file);
}
void SandboxFiles::set_mode_async(std::string path, std::uint32_t mode, CallContext,
                                  Done<FileInfo> done) const {
  world().path = std::move(path);
  world().mode = mode;
  fake::later(std::move(done), world().file);
}
Result<FileInfo> SandboxFiles::make_symlink(const std::string& path, const std::string& target,
                                            const CallContext&) const {
  note_move(path, target, {});
  return fake::reply(world().file);
}
void SandboxFiles::make_symlink_async(std::string path, std::string target, CallContext,
                                      Done<FileInfo> done) const {
  note_move(path, target, {});
  fake::later(std::move(done), world().file);
}

Result<void> SandboxFiles::download(const std::string& path, const ByteSink& sink,
                                    const CallContext& call, const Progress& progress) const {
  world().path = path;
  world().call = call;
  return give_pieces(sink, progress);
}
Result<void> SandboxFiles::download_tree(const std::string& path, const ByteSink& sink,
                                         const CallContext& call, const Progress& progress) const {
  world().path = "tree of " + path;
  world().call = call;
  return give_pieces(sink, progress);
}
Result<FileInfo> SandboxFiles::upload(const std::string& path, const ByteFeed& source,
                                      const WriteOptions& options, const CallContext& call,
                                      const Progress& progress) const {
  world().path = path;
  world().write = options;
  world().call = call;
  COVE_TRY_VOID(take_pieces(source, progress));
  return world().file;
}
Result<TreeCounts> SandboxFiles::upload_tree(const std::string& path, const ByteFeed& source,
                                             const CallContext& call,
                                             const Progress& progress) const {
  world().path = "tree of " + path;
  world().call = call;
  COVE_TRY_VOID(take_pieces(source, progress));
  return world().counts;
}

class DownloadHandle::Impl {};
void DownloadHandle::resume() const { ++world().resumed; }
void DownloadHandle::cancel() const { ++world().cancelled; }

DownloadHandle SandboxFiles::download_async(std::string path, DownloadCallbacks callbacks,
                                            CallContext call) const {
  world().path = std::move(path);
  world().call = std::move(call);
  world().download_callbacks = std::move(callbacks);
  return DownloadHandle(nullptr);
}
DownloadHandle SandboxFiles::download_tree_async(std::string path, DownloadCallbacks callbacks,
                                                 CallContext call) const {
  return download_async("tree of " + path, std::move(callbacks), std::move(call));
}

class UploadHandle::Impl {};
void UploadHandle::cancel() const { ++world().cancelled; }
void UploadHandle::finish() const { world().is_finished = true; }
Result<void> UploadHandle::write(ByteView piece, const CallContext& call) const {
  world().call = call;
  world().uploaded.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  return fake::reply();
}
void UploadHandle::write_async(Bytes piece, CallContext,
                               std::function<void(Result<void>)> done) const {
  world().uploaded.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  fake::later(std::move(done));
}

UploadHandle SandboxFiles::upload_async(std::string path, WriteOptions options, Done<FileInfo> done,
                                        CallContext call) const {
  world().path = std::move(path);
  world().write = std::move(options);
  world().call = std::move(call);
  fake::later(std::move(done), world().file);
  return UploadHandle(nullptr);
}
UploadHandle SandboxFiles::upload_tree_async(std::string path, Done<TreeCounts> done,
                                             CallContext call) const {
  world().path = "tree of " + path;
  world().call = std::move(call);
  fake::later(std::move(done), world().counts);
  return UploadHandle(nullptr);
}

Result<void> SandboxFiles::watch(const std::string& path, const WatchOptions& options,
                                 const std::function<bool(const FileEvent&)>& on_event,
                                 const CallContext& call) const {
  world().path = path;
  world().watch = options;
  world().call = call;
  for (const FileEvent& event : world().events) {
    if (!on_event(event)) return fake::reply();
  }
  return Error(ErrorCode::kNotFound, "the directory is gone");
}

class WatchHandle::Impl {};

void WatchHandle::cancel() const { ++world().cancelled; }

WatchHandle SandboxFiles::watch_async(std::string path, WatchOptions options,
                                      WatchCallbacks callbacks, CallContext call) const {
  world().path = std::move(path);
  world().watch = options;
  world().call = std::move(call);
  world().watch_callbacks = std::move(callbacks);
  return WatchHandle(nullptr);
}

}  // namespace cove
