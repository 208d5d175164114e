// The file part of FakeGuest: files are entries of a map.
#include <algorithm>

#include "support/fakes/fake_guest.hpp"

namespace cove::testing {
namespace {

/// A file's bytes in small pieces.
class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string text) : rest_(std::move(text)) {}

  Task<Result<Bytes>> next(const CallContext& /*call*/) override {
    constexpr std::size_t kPiece = 64 * 1024;
    Bytes piece = bytes_of(std::string_view(rest_).substr(0, kPiece));
    rest_.erase(0, piece.size());
    co_return piece;
  }

 private:
  std::string rest_;
};

/// Tells what was given to it, and then waits until the call ends.
class FakeWatch final : public GuestWatch {
 public:
  FakeWatch(Scheduler& scheduler, std::deque<FileEvent>& events)
      : scheduler_(scheduler), events_(events) {}

  Task<Result<std::vector<FileEvent>>> next(const CallContext& call) override {
    std::vector<FileEvent> next;
    if (!events_.empty()) {
      next.push_back(events_.front());
      events_.pop_front();
      co_return next;
    }
    const auto never = base::Completion<Result<void>>::make(scheduler_);
    COVE_CO_TRY_VOID(co_await base::wait_bounded<void>(never, scheduler_, call));
    co_return next;
  }

 private:
  Scheduler& scheduler_;
  std::deque<FileEvent>& events_;
};

std::string name_of_path(const GuestPath& path) {
  const char* root = path.root == GuestRoot::kHome ? "~" : "";
  return root + path.session + "/" + path.path;
}

Error missing(const GuestPath& path) { return Error(ErrorCode::kNotFound, "no file " + path.path); }

FileInfo info_of(const GuestPath& path, const std::string& text) {
  return {.path = path.path,
          .type = FileType::kRegular,
          .size = text.size(),
          .etag = std::to_string(std::hash<std::string>()(text))};
}

Task<Result<std::string>> read_all(ByteSource& source, const CallContext& call) {
  std::string text;
  for (;;) {
    COVE_CO_TRY(const Bytes piece, co_await source.next(call));
    if (piece.empty()) co_return text;
    text += text_of(piece);
  }
}

}  // namespace

Task<Result<GuestFile>> FakeGuest::read_file(const GuestPath& path, const ReadRange& range,
                                             const CallContext& call) {
  COVE_CO_TRY_VOID(begin("read_file", call));
  const auto found = files.find(name_of_path(path));
  if (found == files.end()) co_return missing(path);
  const std::size_t from = std::min<std::size_t>(range.offset, found->second.size());
  const std::size_t most = range.length ? *range.length : std::string::npos;
  GuestFile file;
  file.info = info_of(path, found->second);
  file.content_type = "text/plain; charset=utf-8";
  file.length = std::min(most, found->second.size() - from);
  file.content = std::make_unique<TextSource>(found->second.substr(from, most));
  co_return file;
}

Task<Result<LineSlice>> FakeGuest::read_lines(const GuestPath& path, const LineRange& range,
                                              const CallContext& call) {
  COVE_CO_TRY_VOID(begin("read_lines", call));
  const auto found = files.find(name_of_path(path));
  if (found == files.end()) co_return missing(path);
  LineSlice slice;
  slice.info = info_of(path, found->second);
  slice.first = range.first;
  std::uint64_t line = 1;
  for (std::size_t at = 0; at < found->second.size(); ++line) {
    const std::size_t end = std::min(found->second.find('\n', at), found->second.size() - 1) + 1;
    const bool wanted = line >= range.first && slice.count < range.count;
    if (wanted) slice.text += found->second.substr(at, end - at);
    if (wanted) ++slice.count;
    if (!wanted && line >= range.first && !slice.next) slice.next = line;
    at = end;
  }
  slice.total_lines = line - 1;
  co_return slice;
}

Task<Result<EditResult>> FakeGuest::edit_file(const GuestPath& path, const std::vector<Edit>& edits,
                                              const EditOptions& options, const CallContext& call) {
  COVE_CO_TRY_VOID(begin("edit_file", call));
  const auto found = files.find(name_of_path(path));
  if (found == files.end()) co_return missing(path);
  std::string text = found->second;
  if (options.if_unchanged_since.value_or(info_of(path, text).etag) != info_of(path, text).etag) {
    co_return Error(ErrorCode::kConflict, "another etag");
  }
  EditResult result;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    const std::size_t at = text.find(edits[i].old_text);
    if (at == std::string::npos) {
      co_return Error(ErrorCode::kFailedPrecondition, "not there")
          .with_context("edit", std::to_string(i + 1));
    }
    text.replace(at, edits[i].old_text.size(), edits[i].new_text);
    result.edits.push_back({1, 1});
  }
  found->second = text;
  result.info = info_of(path, text);
  co_return result;
}

Task<Result<FileInfo>> FakeGuest::write_file(const GuestPath& path, ByteSource& content,
                                             const WriteOptions& options, const CallContext& call) {
  COVE_CO_TRY_VOID(begin("write_file", call));
  if (options.if_absent && files.contains(name_of_path(path))) {
    co_return Error(ErrorCode::kAlreadyExists, path.path + " exists already");
  }
  COVE_CO_TRY(const std::string text, co_await read_all(content, call));
  files[name_of_path(path)] = text;
  co_return info_of(path, text);
}

Task<Result<FileInfo>> FakeGuest::stat(const GuestPath& path, const CallContext& call) {
  COVE_CO_TRY_VOID(begin("stat", call));
  if (path.path.ends_with("/.")) {
    std::string inside = name_of_path(path);
    inside.pop_back();
    const auto first = files.lower_bound(inside);
    if (first == files.end() || !first->first.starts_with(inside)) co_return missing(path);
    co_return FileInfo{.path = path.path, .type = FileType::kDirectory};
  }
  const auto found = files.find(name_of_path(path));
  if (found == files.end()) co_return missing(path);
  co_return info_of(path, found->second);
}

Task<Result<FilePage>> FakeGuest::list(const GuestPath& /*path*/, const ListOptions& /*options*/,
                                       const CallContext& call) {
  COVE_CO_TRY_VOID(begin("list", call));
  FilePage page;
  for (const auto& [name, text] : files) {
    page.entries.push_back({.path = name, .type = FileType::kRegular, .size = text.size()});
  }
  co_return page;
}

Task<Result<void>> FakeGuest::make_directory(const GuestPath& path, const CallContext& call) {
  COVE_CO_TRY_VOID(begin("make_directory", call));
  files[name_of_path(path)] = "";
  co_return ok();
}

Task<Result<void>> FakeGuest::remove(const GuestPath& path, bool /*recursive*/,
                                     const CallContext& call) {
  COVE_CO_TRY_VOID(begin("remove", call));
  if (files.erase(name_of_path(path)) == 0) {
    co_return missing(path);
  }
  co_return ok();
}

Task<Result<FileInfo>> FakeGuest::move(const GuestPath& from, const GuestPath& to,
                                       const MoveOptions& options, const CallContext& call) {
  COVE_CO_TRY_VOID(begin("move", call));
  const auto found = files.find(name_of_path(from));
  if (found == files.end()) co_return missing(from);
  if (!options.overwrite && files.contains(name_of_path(to))) {
    co_return Error(ErrorCode::kAlreadyExists, to.path + " exists already");
  }
  const std::string text = found->second;
  files.erase(found);
  files[name_of_path(to)] = text;
  co_return info_of(to, text);
}

Task<Result<TreeCounts>> FakeGuest::copy(const GuestPath& from, const GuestPath& to,
                                         const CopyOptions& options, const CallContext& call) {
  COVE_CO_TRY_VOID(begin("copy", call));
  const auto found = files.find(name_of_path(from));
  if (found == files.end()) co_return missing(from);
  if (!options.overwrite && files.contains(name_of_path(to))) {
    co_return Error(ErrorCode::kAlreadyExists, to.path + " exists already");
  }
  const std::string text = found->second;
  files[name_of_path(to)] = text;
  co_return TreeCounts{.entries = 1, .bytes = text.size()};
}

Task<Result<FileInfo>> FakeGuest::set_mode(const GuestPath& path, std::uint32_t mode,
                                           const CallContext& call) {
  COVE_CO_TRY_VOID(begin("set_mode", call));
  const auto found = files.find(name_of_path(path));
  if (found == files.end()) co_return missing(path);
  FileInfo info = info_of(path, found->second);
  info.mode = mode;
  co_return info;
}

Task<Result<FileInfo>> FakeGuest::make_symlink(const GuestPath& path, const std::string& target,
                                               const CallContext& call) {
  COVE_CO_TRY_VOID(begin("make_symlink", call));
  FileInfo info = info_of(path, target);
  info.type = FileType::kSymlink;
  info.link_target = target;
  co_return info;
}

/// Its archive is the texts of all files, one after the other.
Task<Result<std::unique_ptr<ByteSource>>> FakeGuest::read_tree(const GuestPath& /*path*/,
                                                               const CallContext& call) {
  COVE_CO_TRY_VOID(begin("read_tree", call));
  std::string all;
  for (const auto& [name, text] : files) all += text;
  co_return std::unique_ptr<ByteSource>(std::make_unique<TextSource>(all));
}

Task<Result<TreeCounts>> FakeGuest::write_tree(const GuestPath& path, ByteSource& archive,
                                               const CallContext& call) {
  COVE_CO_TRY_VOID(begin("write_tree", call));
  COVE_CO_TRY(const std::string text, co_await read_all(archive, call));
  files[name_of_path(path)] = text;
  co_return TreeCounts{.entries = 1, .bytes = text.size()};
}

Task<Result<std::unique_ptr<GuestWatch>>> FakeGuest::watch(const GuestPath& /*path*/,
                                                           const WatchOptions& /*options*/,
                                                           const CallContext& call) {
  COVE_CO_TRY_VOID(begin("watch", call));
  co_return std::unique_ptr<GuestWatch>(std::make_unique<FakeWatch>(scheduler_, events));
}

}  // namespace cove::testing
