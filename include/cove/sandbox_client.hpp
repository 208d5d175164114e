/// SandboxClient: commands, processes, files and searches of one workspace, seen from one session.
///
///     auto result = client.exec({.argv = {"python3", "report.py"}});
///     auto chart = client.read_file("out/chart.svg");
///
/// A cheap handle that may be copied and used from any thread. Every call has a blocking form,
/// which must not be used on one of Cove's callbacks, and a form that reports through callbacks.
/// Callbacks come on Cove's I/O thread, never while a lock is held, and must not block.
#pragma once

#include <memory>

#include <cove/call_context.hpp>
#include <cove/exec.hpp>
#include <cove/exec_handle.hpp>
#include <cove/result.hpp>
#include <cove/sandbox_files.hpp>
#include <cove/sandbox_processes.hpp>
#include <cove/sandbox_search.hpp>

namespace cove {

class SandboxClient : public SandboxFiles, public SandboxProcesses, public SandboxSearch {
 public:
  /// Runs a command to its end. Errors: as Guest::run. A deadline or cancel of `call` ends the tree
  /// and gives the result with TimedOut or Cancelled.
  Result<ExecResult> exec(const ExecSpec& spec, const CallContext& call = {}) const;

  /// Starts a command and returns at once; everything else comes through the callbacks. A deadline
  /// or cancel of `call` ends the tree, as of exec.
  ExecHandle exec_async(ExecSpec spec, ExecCallbacks callbacks, CallContext call = {},
                        StdinMode stdin_mode = StdinMode::kClosed) const;

  class Impl;  ///< src/client
  explicit SandboxClient(std::shared_ptr<Impl> impl);

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace cove
