/// Ctrl-C and the like, turned into a stop request. For the program only: the library has no
/// signal handlers.
#pragma once

#include <stop_token>
#include <thread>

#include "base/system/unique_fd.hpp"

namespace cove::cli {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP requests a stop, and the second ends the
/// process at once; SIGPIPE does nothing, so that writes say EPIPE. At most one at a time.
class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  std::stop_token token() const { return stop_.get_token(); }

  /// The signal that came; 0 = none.
  int signal() const noexcept;

 private:
  void watch();

  std::stop_source stop_;
  base::UniqueFd wake_read_;
  base::UniqueFd wake_write_;
  std::thread watcher_;
};

}  // namespace cove::cli
