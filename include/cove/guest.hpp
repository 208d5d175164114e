/// The seam to what answers inside an instance: commands and files.
///
/// Two kinds exist: cove-agent over Cove's wire protocol, and a remote system's own API. What a
/// kind can do is data: ask `capabilities()`, never guess. All calls are safe from Cove's scheduler
/// and complete there; many may be in flight at once. A call fails with kUnavailable when the
/// connection or the guest is gone; whether a command ran is then known only where its id is asked
/// again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <cove/bytes.hpp>
#include <cove/exec.hpp>
#include <cove/files.hpp>
#include <cove/ids.hpp>

namespace cove {

struct GuestCapabilities {
  bool pty = false;
  bool stdin_stream = false;
  bool exact_bytes = false;   ///< output comes as written, not line by line
  bool kernel_paths = false;  ///< the path rule is enforced by the kernel inside
  bool kill_tree = false;     ///< timeout and cancel leave nothing of the tree
};

struct GuestStatus {
  std::string build_id;
  Epoch epoch{};
  std::uint32_t running_commands = 0;
  std::uint32_t keep_alive_commands = 0;  ///< those that forbid a stop
};

/// A path as the guest resolves it: `path` seen from the directory `session`, which is relative to
/// /workspace and empty for /workspace itself.
struct GuestPath {
  std::string session;
  std::string path;
};

/// A running command whose output is read as it comes. Reading is what gives credit: a command
/// whose output nobody reads waits. One thread at a time.
class GuestProcess {
 public:
  /// Lets go of the command: one that still runs is cancelled (its tree is ended), in the
  /// background.
  virtual ~GuestProcess() = default;

  /// Gives the next output of either stream; a chunk without bytes = both are at their end.
  /// Cancellation: nothing happened.
  virtual Task<Result<OutputChunk>> next_output(const CallContext& call) = 0;

  virtual Task<Result<void>> write_stdin(ByteView bytes, const CallContext& call) = 0;
  virtual Task<Result<void>> close_stdin(const CallContext& call) = 0;

  /// Sends `signal` to the command's process group. kNotFound: it has ended.
  virtual Task<Result<void>> signal(std::int32_t signal, const CallContext& call) = 0;

  /// Ends the command's tree (SIGTERM, the spec's grace, SIGKILL); `wait` then gives Cancelled.
  /// Success where the command has ended.
  virtual Task<Result<void>> cancel(const CallContext& call) = 0;

  /// Waits for the end. The result holds the output within the spec's limits, read or not. When the
  /// call's deadline passes or it is cancelled, only the waiting ends.
  virtual Task<Result<ExecResult>> wait(const CallContext& call) = 0;
};

class Guest {
 public:
  virtual ~Guest() = default;

  virtual GuestCapabilities capabilities() const = 0;

  /// The ping that proves the guest lives.
  virtual Task<Result<GuestStatus>> status(const CallContext& call) = 0;

  /// Runs a command to its end in one exchange; output within `spec.output` is in the result.
  /// When the deadline passes or the call is cancelled, the tree is ended and the result comes back
  /// with Cancelled or TimedOut and what was written until then. `session`: as in GuestPath;
  /// `spec.cwd` is resolved from there. Errors: kNotFound - no such program or directory;
  /// kPermissionDenied - not executable; kInvalidArgument; kUnavailable.
  virtual Task<Result<ExecResult>> run(const std::string& session, const ExecSpec& spec,
                                       const CallContext& call) = 0;

  /// Starts a command whose output is read as it comes. Its stdin stays open for write_stdin after
  /// `spec.stdin_data` when `keep_stdin`. Errors: as `run`.
  virtual Task<Result<std::shared_ptr<GuestProcess>>> start(const std::string& session,
                                                            const ExecSpec& spec, bool keep_stdin,
                                                            const CallContext& call) = 0;

  /// Opens a file for reading. Errors: kNotFound; kPathEscape; kPermissionDenied;
  /// kFailedPrecondition - a directory, FIFO, socket or device.
  virtual Task<Result<std::unique_ptr<ByteSource>>> read_file(const GuestPath& path,
                                                              const ReadRange& range,
                                                              const CallContext& call) = 0;

  /// Creates or replaces a file by a rename: a reader sees the old or the new one, and on any error
  /// the old one is as it was. Errors: as read_file; kQuotaExceeded - the disk is full.
  virtual Task<Result<FileInfo>> write_file(const GuestPath& path, ByteSource& content,
                                            const WriteOptions& options,
                                            const CallContext& call) = 0;

  /// What the path itself is; a link at the end is not followed.
  virtual Task<Result<FileInfo>> stat(const GuestPath& path, const CallContext& call) = 0;

  /// A page of a directory. Errors: kNotFound; kPathEscape; kFailedPrecondition - no directory.
  virtual Task<Result<FilePage>> list(const GuestPath& path, const ListOptions& options,
                                      const CallContext& call) = 0;

  /// Makes a directory and its missing parents; success where it is there.
  /// kAlreadyExists: something else has the name.
  virtual Task<Result<void>> make_directory(const GuestPath& path, const CallContext& call) = 0;

  /// Removes a file, a link or an empty directory; a whole tree with `recursive`. /workspace itself
  /// is refused with kInvalidArgument. kNotFound where nothing is there.
  virtual Task<Result<void>> remove(const GuestPath& path, bool recursive,
                                    const CallContext& call) = 0;

  /// Writes everything of the workspace to the disk (syncfs).
  virtual Task<Result<void>> sync(const CallContext& call) = 0;
};

}  // namespace cove
