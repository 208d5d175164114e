/// OutputRelay: from Cove's I/O thread, which must not block, to a terminal or pipe, which may.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <cove/sandbox_client.hpp>

#include "cli/output/output.hpp"

namespace cove::cli {

/// Takes a command's output and end on any thread, and writes it on the one that pumps. Holds a
/// bounded amount: past it the command is made to wait.
class OutputRelay {
 public:
  /// Callbacks that feed `relay`, which they keep alive.
  static ExecCallbacks feed(const std::shared_ptr<OutputRelay>& relay);

  /// How the pump steers the command.
  struct Steering {
    std::function<void()> resume;
    std::function<void()> cancel;
  };

  /// Writes what comes until the command has ended, and gives how. Where nobody takes the output
  /// any more the command is cancelled, and the error of the write is what comes back.
  Result<ExecResult> pump(const Output& output, const Steering& steering);

 private:
  Flow take(OutputStream stream, ByteView bytes);
  void end(Result<ExecResult> result);
  bool wait_for_more(std::vector<OutputChunk>& chunks, bool& paused);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<OutputChunk> chunks_;
  std::size_t held_ = 0;  // bytes in chunks_
  bool paused_ = false;
  std::optional<Result<ExecResult>> result_;
};

}  // namespace cove::cli
