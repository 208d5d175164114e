/// Files and trees of any size, piece by piece: by functions of the host on the calling thread, or
/// steered through handles with callbacks.
///
///     auto upload = client.upload_async("data.csv", {}, [](Result<FileInfo> info) { ... });
///     upload.write(first);  // waits while the sandbox is slower than the host
///     upload.write(second);
///     upload.finish();      // the whole file is there, or the old one
///
/// Any thread. The blocking forms must not be used on one of Cove's callbacks; the others report on
/// Cove's I/O thread, exactly once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <cove/bytes.hpp>
#include <cove/call_context.hpp>
#include <cove/flow.hpp>
#include <cove/result.hpp>

namespace cove {

/// Is told how far a transfer is, on the thread that calls the sink or source, after each piece.
/// `total`: where it is known before the end.
using Progress = std::function<void(std::uint64_t done, std::optional<std::uint64_t> total)>;

/// Takes the next piece of a download; an error ends it and is returned.
using ByteSink = std::function<Result<void>(ByteView)>;

/// Gives the next piece of an upload, an empty one at the end; an error ends it and is returned.
using ByteFeed = std::function<Result<Bytes>()>;

/// Who takes the pieces of a download.
struct DownloadCallbacks {
  /// The next piece, lent for the call. After kPause nothing more comes, and none is asked for,
  /// until DownloadHandle::resume.
  std::function<Flow(ByteView piece)> on_piece;

  Progress on_progress;  ///< at the begin, with 0, and after each piece; may be empty

  /// Called exactly once, last; kCancelled after `cancel`.
  std::function<void(Result<void> result)> on_done;
};

/// Steers a download. Copies steer the same one; letting go of it ends nothing.
class DownloadHandle {
 public:
  /// Lets pieces come again after a callback answered kPause. Harmless otherwise.
  void resume() const;
  /// Ends it: `on_done` comes with kCancelled. Harmless when repeated.
  void cancel() const;

 private:
  friend class SandboxFiles;
  class Impl;  ///< src/client
  explicit DownloadHandle(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

/// Gives an upload its pieces. Copies give to the same one; where the last one goes before
/// `finish`, the upload is cancelled.
class UploadHandle {
 public:
  /// Gives the next piece, behind those of earlier calls; done when it is on its way, so that who
  /// waits for it is as fast as the sandbox. Where a call ends first (kTimeout, kCancelled),
  /// nothing of its piece was written. kFailedPrecondition: after `finish`, or the upload is over;
  /// its own callback says why.
  Result<void> write(ByteView piece, const CallContext& call = {}) const;
  void write_async(Bytes piece, CallContext call,
                   std::function<void(Result<void> result)> done) const;

  /// Nothing follows what was given: the upload ends once that is written.
  void finish() const;

  /// The old file stays; of a tree a part may be there. Harmless after the end.
  void cancel() const;

 private:
  friend class SandboxFiles;
  class Impl;  ///< src/client
  explicit UploadHandle(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

}  // namespace cove
