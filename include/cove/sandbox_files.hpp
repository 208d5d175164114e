/// SandboxFiles: the file calls of a SandboxClient.
///
///     auto chart = client.read_file("out/chart.svg");
///     client.edit_file("a.py", {{.old_text = "x = 1", .new_text = "x = 2"}});
///
/// Threads, blocking and callbacks: as of SandboxClient. Paths: files.hpp. Errors: as of the call
/// of the same name in GuestFiles.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cove/bytes.hpp>
#include <cove/call_context.hpp>
#include <cove/edit.hpp>
#include <cove/file_watch.hpp>
#include <cove/files.hpp>
#include <cove/result.hpp>
#include <cove/transfer.hpp>

namespace cove {

/// Who hears of changes.
struct WatchCallbacks {
  std::function<void(std::vector<FileEvent> events)> on_events;

  /// Called exactly once, last; kCancelled after `cancel`.
  std::function<void(Result<void> result)> on_done;
};

/// Ends a watch. Copies end the same one; letting go of it ends nothing. Any thread.
class WatchHandle {
 public:
  /// Ends it: `on_done` comes with kCancelled. Harmless when repeated.
  void cancel() const;

 private:
  friend class SandboxFiles;
  class Impl;
  explicit WatchHandle(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

class SandboxFiles {
 public:
  /// Reads a file, or a range of it, of at most 64 MiB. kTooLarge: ask for a range, or use
  /// download.
  Result<Bytes> read_file(const std::string& path, const ReadRange& range = {},
                          const CallContext& call = {}) const;

  /// The same with what is said of the file.
  Result<FileContent> read(const std::string& path, const ReadRange& range = {},
                           const CallContext& call = {}) const;

  /// Reads lines, writes a file, or edits one; see GuestFiles, each by its name.
  Result<LineSlice> read_lines(const std::string& path, const LineRange& range = {},
                               const CallContext& call = {}) const;
  Result<FileInfo> write_file(const std::string& path, ByteView content,
                              const WriteOptions& options = {}, const CallContext& call = {}) const;
  Result<EditResult> edit_file(const std::string& path, const std::vector<Edit>& edits,
                               const EditOptions& options = {}, const CallContext& call = {}) const;

  /// Edits several files, in order; each entry has its own result, at its place. Entries with the
  /// same path are one change of that file: all of them or none, where the others say which failed.
  Result<std::vector<Result<EditResult>>> edit_files(const std::vector<FileEdit>& edits,
                                                     const CallContext& call = {}) const;

  /// Looks at paths, makes, removes, moves and copies them; see GuestFiles, each by its name.
  Result<FileInfo> stat(const std::string& path, const CallContext& call = {}) const;
  Result<FilePage> list(const std::string& path, const ListOptions& options = {},
                        const CallContext& call = {}) const;
  Result<void> make_directory(const std::string& path, const CallContext& call = {}) const;
  Result<void> remove(const std::string& path, bool recursive = false,
                      const CallContext& call = {}) const;
  Result<FileInfo> move(const std::string& from, const std::string& to,
                        const MoveOptions& options = {}, const CallContext& call = {}) const;
  Result<TreeCounts> copy(const std::string& from, const std::string& to,
                          const CopyOptions& options = {}, const CallContext& call = {}) const;
  Result<FileInfo> set_mode(const std::string& path, std::uint32_t mode,
                            const CallContext& call = {}) const;
  Result<FileInfo> make_symlink(const std::string& path, const std::string& target,
                                const CallContext& call = {}) const;

  /// Gives a file of any size piece by piece to `sink`, on the calling thread.
  Result<void> download(const std::string& path, const ByteSink& sink, const CallContext& call = {},
                        const Progress& progress = {}) const;

  /// Creates or replaces a file of any size from `source`, called on the calling thread. An error
  /// leaves the old file.
  Result<FileInfo> upload(const std::string& path, const ByteFeed& source,
                          const WriteOptions& options = {}, const CallContext& call = {},
                          const Progress& progress = {}) const;

  /// Gives a directory as a tar stream to `sink`, on the calling thread.
  Result<void> download_tree(const std::string& path, const ByteSink& sink,
                             const CallContext& call = {}, const Progress& progress = {}) const;

  /// Places a tar stream from `source`, called on the calling thread, below a directory.
  Result<TreeCounts> upload_tree(const std::string& path, const ByteFeed& source,
                                 const CallContext& call = {}, const Progress& progress = {}) const;

  /// Gives what changes to `on_event`, on the calling thread, until it answers false (success), the
  /// call ends or the watch fails. While it lasts it counts as a running call: the workspace does
  /// not go idle.
  Result<void> watch(const std::string& path, const WatchOptions& options,
                     const std::function<bool(const FileEvent&)>& on_event,
                     const CallContext& call = {}) const;

  /// The same, through callbacks; `done` is called exactly once.
  template <class T>
  using Done = std::function<void(Result<T>)>;
  void read_file_async(std::string path, ReadRange range, CallContext call, Done<Bytes> done) const;
  void read_async(std::string path, ReadRange range, CallContext call,
                  Done<FileContent> done) const;
  void read_lines_async(std::string path, LineRange range, CallContext call,
                        Done<LineSlice> done) const;
  void write_file_async(std::string path, Bytes content, WriteOptions options, CallContext call,
                        Done<FileInfo> done) const;
  void edit_file_async(std::string path, std::vector<Edit> edits, EditOptions options,
                       CallContext call, Done<EditResult> done) const;
  void edit_files_async(std::vector<FileEdit> edits, CallContext call,
                        Done<std::vector<Result<EditResult>>> done) const;
  void stat_async(std::string path, CallContext call, Done<FileInfo> done) const;
  void list_async(std::string path, ListOptions options, CallContext call,
                  Done<FilePage> done) const;
  void make_directory_async(std::string path, CallContext call, Done<void> done) const;
  void remove_async(std::string path, bool recursive, CallContext call, Done<void> done) const;
  void move_async(std::string from, std::string to, MoveOptions options, CallContext call,
                  Done<FileInfo> done) const;
  void copy_async(std::string from, std::string to, CopyOptions options, CallContext call,
                  Done<TreeCounts> done) const;
  void set_mode_async(std::string path, std::uint32_t mode, CallContext call,
                      Done<FileInfo> done) const;
  void make_symlink_async(std::string path, std::string target, CallContext call,
                          Done<FileInfo> done) const;

  /// Starts a transfer and returns at once; see DownloadHandle and UploadHandle. `done` is called
  /// exactly once, last. Errors: as of the blocking forms.
  DownloadHandle download_async(std::string path, DownloadCallbacks callbacks,
                                CallContext call = {}) const;
  DownloadHandle download_tree_async(std::string path, DownloadCallbacks callbacks,
                                     CallContext call = {}) const;
  UploadHandle upload_async(std::string path, WriteOptions options, Done<FileInfo> done,
                            CallContext call = {}) const;
  UploadHandle upload_tree_async(std::string path, Done<TreeCounts> done,
                                 CallContext call = {}) const;

  /// Starts a watch and returns at once.
  WatchHandle watch_async(std::string path, WatchOptions options, WatchCallbacks callbacks,
                          CallContext call = {}) const;

  class Reach;  ///< src/client: the way to the guest, and the session

  /// For Cove's own parts.
  const std::shared_ptr<const Reach>& reach() const noexcept { return reach_; }

 protected:
  explicit SandboxFiles(std::shared_ptr<const Reach> reach) : reach_(std::move(reach)) {}

 private:
  std::shared_ptr<const Reach> reach_;
};

}  // namespace cove
