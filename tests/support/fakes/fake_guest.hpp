/// FakeGuest: a guest in memory, whose commands and faults are scripted by the test.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cove/guest.hpp>
#include <cove/scheduler.hpp>

#include "base/async/completion.hpp"

namespace cove::testing {

/// What the next started command does. Set before it starts; read on the scheduler.
struct FakeCommand {
  std::vector<OutputChunk> output;
  bool ends = true;  ///< false: after its output it runs until it is cancelled
  ExecResult result;
  std::optional<Error> stdin_fault;  ///< what every write to its stdin fails with
};

/// What the next search finds, batch by batch. Read on the scheduler.
template <class Found>
struct FakeSearch {
  std::vector<std::vector<Found>> batches;
  bool ends = true;  ///< false: after its batches it goes on until its call ends
  SearchSummary summary;
};

/// What a test may look at; written on the scheduler, so read after the call that wrote it.
struct FakeGuestLog {
  std::vector<std::string> calls;     ///< "run", "stat", ... in order
  std::vector<std::uint64_t> fences;  ///< of each of these
  std::size_t outputs_asked = 0;      ///< pieces of output that were asked for
  bool process_cancelled = false;
  bool stdin_kept = false;                ///< of the last command that was started
  std::string stdin_text;                 ///< written to the last process
  std::optional<Instant> stdin_deadline;  ///< of the last write to it
  bool stdin_closed = false;
  std::vector<std::int32_t> signals;
  std::vector<TerminalSize> sizes;
  std::size_t batches_asked = 0;  ///< of searches
  bool search_dropped = false;
};

class FakeGuest final : public Guest {
 public:
  explicit FakeGuest(Scheduler& scheduler) : scheduler_(scheduler) {}

  FakeCommand command;
  FakeSearch<GrepLine> lines;
  FakeSearch<FindEntry> entries;
  std::map<std::string, std::string> files;  ///< by `session` + "/" + path, of HOME behind "~"
  std::vector<ProcessInfo> processes;        ///< started ones; their output is `command`'s
  std::deque<FileEvent> events;  ///< what a watch tells, one at a time, until none is left
  std::deque<Error> faults;      ///< each next call fails with one of these

  /// Answers each `run`, where it is set.
  std::function<Result<ExecResult>(const std::string& session, const ExecSpec& spec)> on_run;
  bool run_hangs = false;              ///< `run` ends only by cancel or deadline
  std::function<void()> when_hanging;  ///< called on the scheduler once such a `run` waits
  FakeGuestLog log;

  GuestCapabilities capabilities() const override { return {}; }
  Task<Result<GuestStatus>> status(const CallContext& call) override;
  Task<Result<ExecResult>> run(const std::string& session, const ExecSpec& spec,
                               const CallContext& call) override;
  Task<Result<std::shared_ptr<GuestProcess>>> start(const std::string& session,
                                                    const ExecSpec& spec, bool keep_stdin,
                                                    const CallContext& call) override;
  Task<Result<ProcessInfo>> start_process(const std::string& session, const ExecSpec& spec,
                                          const ProcessOptions& options,
                                          const CallContext& call) override;
  Task<Result<std::vector<ProcessInfo>>> list_processes(const CallContext& call) override;
  Task<Result<ProcessInfo>> find_process(const ProcessId& id, const CallContext& call) override;
  Task<Result<OutputSlice>> process_output(const ProcessId& id, const OutputRequest& request,
                                           const CallContext& call) override;
  Task<Result<std::shared_ptr<GuestProcess>>> attach(const ProcessId& id,
                                                     const AttachOptions& options,
                                                     const CallContext& call) override;
  Task<Result<void>> remove_process(const ProcessId& id, const CallContext& call) override;
  Task<Result<GuestFile>> read_file(const GuestPath& path, const ReadRange& range,
                                    const CallContext& call) override;
  Task<Result<LineSlice>> read_lines(const GuestPath& path, const LineRange& range,
                                     const CallContext& call) override;
  Task<Result<EditResult>> edit_file(const GuestPath& path, const std::vector<Edit>& edits,
                                     const EditOptions& options, const CallContext& call) override;
  Task<Result<FileInfo>> move(const GuestPath& from, const GuestPath& to,
                              const MoveOptions& options, const CallContext& call) override;
  Task<Result<TreeCounts>> copy(const GuestPath& from, const GuestPath& to,
                                const CopyOptions& options, const CallContext& call) override;
  Task<Result<FileInfo>> set_mode(const GuestPath& path, std::uint32_t mode,
                                  const CallContext& call) override;
  Task<Result<FileInfo>> make_symlink(const GuestPath& path, const std::string& target,
                                      const CallContext& call) override;
  Task<Result<std::unique_ptr<ByteSource>>> read_tree(const GuestPath& path,
                                                      const CallContext& call) override;
  Task<Result<TreeCounts>> write_tree(const GuestPath& path, ByteSource& archive,
                                      const CallContext& call) override;
  Task<Result<std::unique_ptr<GuestWatch>>> watch(const GuestPath& path,
                                                  const WatchOptions& options,
                                                  const CallContext& call) override;
  Task<Result<FileInfo>> write_file(const GuestPath& path, ByteSource& content,
                                    const WriteOptions& options, const CallContext& call) override;
  Task<Result<FileInfo>> stat(const GuestPath& path, const CallContext& call) override;
  Task<Result<FilePage>> list(const GuestPath& path, const ListOptions& options,
                              const CallContext& call) override;
  Task<Result<void>> make_directory(const GuestPath& path, const CallContext& call) override;
  Task<Result<void>> remove(const GuestPath& path, bool recursive,
                            const CallContext& call) override;
  Task<Result<std::unique_ptr<GrepStream>>> grep(const GuestPath& path, const GrepQuery& query,
                                                 const CallContext& call) override;
  Task<Result<std::unique_ptr<FindStream>>> find(const GuestPath& path, const FindQuery& query,
                                                 const CallContext& call) override;
  Task<Result<void>> sync(const CallContext& call) override;

 private:
  Result<void> begin(const char* name, const CallContext& call);
  Result<ProcessInfo*> process(const ProcessId& id);

  Scheduler& scheduler_;
};

/// Text as bytes.
Bytes bytes_of(std::string_view text);
std::string text_of(ByteView bytes);

}  // namespace cove::testing
