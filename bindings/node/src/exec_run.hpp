/// A command that JavaScript follows: its output, its end, and the handle that steers it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "pipe.hpp"
#include "results.hpp"

namespace cove_node {

struct OutputChunk {
  std::int32_t stream = 0;
  std::string data;
};

/// The last of it ends a command whose output nobody reads any more, or lets go of an attached one.
struct ExecRun {
  ExecRun(LibraryPtr its_library, std::shared_ptr<Pipe<OutputChunk>> its_pipe, bool attached)
      : library(std::move(its_library)), pipe(std::move(its_pipe)), is_attached(attached) {}
  ExecRun(const ExecRun&) = delete;
  ExecRun& operator=(const ExecRun&) = delete;
  ~ExecRun() {
    if (raw == nullptr) return;
    leave();
    library->cove_process_free(raw);
  }

  void leave() const {
    if (pipe != nullptr) pipe->discard();
    if (is_attached) {
      library->cove_process_detach(raw);
    } else {
      library->cove_process_cancel(raw);
    }
    library->cove_process_resume(raw);
  }

  LibraryPtr library;
  std::shared_ptr<Pipe<OutputChunk>> pipe;  // null: output is only kept in the result
  bool is_attached;
  cove_process* raw = nullptr;
};

/// Starts a command, or takes hold of one, as C does.
using BeginExec =
    std::function<cove_status(const cove_exec_callbacks*, cove_process** out, cove_error** error)>;

/// Starts it. With a function as `on_wake` the output is collected for take_output, and the command
/// ends (or is let go of) when its JavaScript object is collected; without one it is kept until its
/// end, and `run` is undefined. Gives {run, done}: `done` is the promise of its result.
napi_value follow_exec(Arguments& in, std::shared_ptr<void> workspace, napi_value on_wake,
                       bool attached, const BeginExec& begin);

}  // namespace cove_node
