/// SandboxClient: commands and files of one workspace, seen from one session.
///
///     auto result = client.exec({.argv = {"python3", "report.py"}});
///     auto chart = client.read_file("out/chart.svg");
///
/// A cheap handle that may be copied and used from any thread. Every call has a blocking form,
/// which must not be used on one of Cove's callbacks, and a form that reports through callbacks.
/// Callbacks come on Cove's I/O thread, never while a lock is held, and must not block.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <cove/call_context.hpp>
#include <cove/exec.hpp>
#include <cove/files.hpp>
#include <cove/result.hpp>
#include <cove/search.hpp>

namespace cove {

/// A data callback's answer: after kPause nothing more comes, and the command is slowed down, until
/// ExecHandle::resume.
enum class Flow : std::uint8_t { kContinue, kPause };

struct ExecCallbacks {
  /// Output in order of each stream; may be empty, then output is only kept in the result.
  std::function<Flow(OutputStream stream, ByteView bytes)> on_output;

  /// Called exactly once, last.
  std::function<void(Result<ExecResult> result)> on_done;
};

/// Steers a command that was started. Copies steer the same one; letting go of it ends nothing.
class ExecHandle {
 public:
  /// Lets output come again after a callback answered kPause. Harmless otherwise. Any thread.
  void resume() const;

  /// Ends the command's tree; on_done gets Cancelled and what was written. Any thread.
  void cancel() const;

 private:
  friend class SandboxClient;
  class Impl;
  explicit ExecHandle(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

/// What a search gives as it goes.
template <class Found>
struct SearchCallbacks {
  /// The next results in order; may be empty, then they are only counted. After kPause nothing more
  /// comes, and the search waits, until SearchHandle::resume.
  std::function<Flow(std::span<const Found> found)> on_found;

  /// Called exactly once, last.
  std::function<void(Result<SearchSummary> summary)> on_done;
};

/// Steers a search that was started; as ExecHandle.
class SearchHandle {
 public:
  void resume() const;

  /// Ends the search; on_done gets kCancelled in the summary. Any thread.
  void cancel() const;

 private:
  friend class SandboxClient;
  class Impl;
  explicit SearchHandle(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

class SandboxClient {
 public:
  /// Runs a command to its end. Errors: as Guest::run. A deadline or cancel of `call` ends the tree
  /// and gives the result with TimedOut or Cancelled.
  Result<ExecResult> exec(const ExecSpec& spec, const CallContext& call = {}) const;

  /// Starts a command and returns at once; everything else comes through the callbacks.
  ExecHandle exec_async(ExecSpec spec, ExecCallbacks callbacks, CallContext call = {}) const;

  /// Reads a file, or a range of it, of at most 64 MiB. kTooLarge: ask for a range, or use
  /// download.
  Result<Bytes> read_file(const std::string& path, const ReadRange& range = {},
                          const CallContext& call = {}) const;

  /// Gives a file of any size piece by piece to `sink`, on the calling thread. An error of the
  /// sink ends it and is returned.
  Result<void> download(const std::string& path, const std::function<Result<void>(ByteView)>& sink,
                        const CallContext& call = {}) const;

  /// Creates or replaces a file; see Guest::write_file.
  Result<FileInfo> write_file(const std::string& path, ByteView content,
                              const WriteOptions& options = {}, const CallContext& call = {}) const;

  /// Creates or replaces a file of any size from `source`, called on the calling thread until it
  /// gives an empty piece. An error of the source ends it, is returned, and leaves the old file.
  Result<FileInfo> upload(const std::string& path, const std::function<Result<Bytes>()>& source,
                          const WriteOptions& options = {}, const CallContext& call = {}) const;

  Result<FileInfo> stat(const std::string& path, const CallContext& call = {}) const;
  Result<FilePage> list(const std::string& path, const ListOptions& options = {},
                        const CallContext& call = {}) const;
  Result<void> make_directory(const std::string& path, const CallContext& call = {}) const;
  Result<void> remove(const std::string& path, bool recursive = false,
                      const CallContext& call = {}) const;

  /// The same, through callbacks; `done` is called exactly once.
  template <class T>
  using Done = std::function<void(Result<T>)>;
  void read_file_async(std::string path, ReadRange range, CallContext call, Done<Bytes> done) const;
  void write_file_async(std::string path, Bytes content, WriteOptions options, CallContext call,
                        Done<FileInfo> done) const;
  void stat_async(std::string path, CallContext call, Done<FileInfo> done) const;
  void list_async(std::string path, ListOptions options, CallContext call,
                  Done<FilePage> done) const;
  void make_directory_async(std::string path, CallContext call, Done<void> done) const;
  void remove_async(std::string path, bool recursive, CallContext call, Done<void> done) const;

  /// Searches the files below a directory, or one file, and collects at most 10,000 matching lines
  /// (64 MiB with their context). When the deadline passes or the call is cancelled, what was found
  /// by then comes back, and the summary says so. Errors: as Guest::grep; kTooLarge.
  Result<GrepResult> grep(const std::string& path, const GrepQuery& query,
                          const CallContext& call = {}) const;

  /// Gives the lines to `sink` as they are found, on the calling thread; `query.limit` may be none.
  /// An error of the sink ends the search and is returned.
  Result<SearchSummary> grep_each(
      const std::string& path, const GrepQuery& query,
      const std::function<Result<void>(std::span<const GrepLine>)>& sink,
      const CallContext& call = {}) const;

  /// Looks for names below a directory; as grep.
  Result<FindResult> find(const std::string& path, const FindQuery& query = {},
                          const CallContext& call = {}) const;
  Result<SearchSummary> find_each(
      const std::string& path, const FindQuery& query,
      const std::function<Result<void>(std::span<const FindEntry>)>& sink,
      const CallContext& call = {}) const;

  /// Start a search and return at once; everything else comes through the callbacks.
  SearchHandle grep_async(std::string path, GrepQuery query, SearchCallbacks<GrepLine> callbacks,
                          CallContext call = {}) const;
  SearchHandle find_async(std::string path, FindQuery query, SearchCallbacks<FindEntry> callbacks,
                          CallContext call = {}) const;

  class Impl;  ///< src/client
  explicit SandboxClient(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace cove
