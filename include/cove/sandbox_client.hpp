/// SandboxClient: commands, files and searches of one workspace, seen from one session.
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
#include <string>
#include <vector>

#include <cove/call_context.hpp>
#include <cove/exec.hpp>
#include <cove/flow.hpp>
#include <cove/result.hpp>
#include <cove/sandbox_files.hpp>
#include <cove/sandbox_search.hpp>

namespace cove {

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

class SandboxClient : public SandboxFiles, public SandboxSearch {
 public:
  /// Runs a command to its end. Errors: as Guest::run. A deadline or cancel of `call` ends the tree
  /// and gives the result with TimedOut or Cancelled.
  Result<ExecResult> exec(const ExecSpec& spec, const CallContext& call = {}) const;

  /// Starts a command and returns at once; everything else comes through the callbacks.
  ExecHandle exec_async(ExecSpec spec, ExecCallbacks callbacks, CallContext call = {}) const;

  class Impl;  ///< src/client
  explicit SandboxClient(std::shared_ptr<Impl> impl);

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace cove
