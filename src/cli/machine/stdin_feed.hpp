/// StdinFeed: what comes on stdin, passed on as it comes.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include <cove/bytes.hpp>
#include <cove/call_context.hpp>
#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"

namespace cove::cli {

/// Where it goes. All are called on the feed's own thread, and end with the call.
struct InputSink {
  std::function<Result<void>(ByteView bytes, const CallContext& call)> write;
  std::function<void(const CallContext& call)> close;    ///< stdin is at its end
  std::function<void(const CallContext& call)> resized;  ///< may be empty
  std::function<void()> detach;  ///< Ctrl-P Ctrl-Q came; empty = those are input
  std::function<void()> failed;  ///< stdin cannot be read; fault() says why
};

class StdinFeed {
 public:
  /// Reads from `input` (borrowed; may be closed: that is its end) on a thread of its own.
  /// `resized`: readable after the window's size changed; -1 = there is no window.
  StdinFeed(int input, int resized, InputSink sink);
  StdinFeed(const StdinFeed&) = delete;
  StdinFeed& operator=(const StdinFeed&) = delete;

  /// Ends it at once, whatever stdin does.
  ~StdinFeed();

  /// Why stdin could not be read to its end, where that was so.
  std::optional<Error> fault() const;

 private:
  void run();
  bool read_some();
  void end_input();
  bool pass_on(ByteView bytes);

  int input_;
  int resized_;
  InputSink sink_;
  std::stop_source stop_;
  base::UniqueFd wake_read_;
  base::UniqueFd wake_write_;
  bool held_ = false;  // a Ctrl-P that may be the first half of a detach
  mutable std::mutex mutex_;
  std::optional<Error> fault_;
  std::thread thread_;
};

}  // namespace cove::cli
