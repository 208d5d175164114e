/// A command inside, while this program's terminal is its own.
#pragma once

#include <functional>

#include <cove/sandbox_client.hpp>

#include "cli/output/output.hpp"

namespace cove::cli {

struct LiveOptions {
  bool show_output = true;   ///< as it comes; else it is only in the result
  bool pass_stdin = false;   ///< what comes on stdin goes to the command
  bool raw = false;          ///< hand the terminal on stdin over to the command's
  bool detach_keys = false;  ///< Ctrl-P Ctrl-Q lets go of it
  bool lets_go = false;      ///< it goes on where this program cannot: it is only attached to
};

struct LiveEnd {
  Result<ExecResult> result;
  bool detached = false;  ///< by those keys; the result is then kCancelled
};

/// Runs what `begin` starts with the callbacks it is given, until it has ended.
LiveEnd run_live(const LiveOptions& options, const Output& output,
                 const std::function<ExecHandle(ExecCallbacks)>& begin);

/// What the exit code of a command does not tell: nothing, or a line for stderr.
const char* note_on(const Outcome& outcome);

/// The same of a command that somebody else may have ended, which Ctrl-C does not.
const char* attached_note(const Outcome& outcome);

}  // namespace cove::cli
