// A forked child for tests of several processes. Fork before the test starts any thread.
#pragma once

#include <functional>
#include <string>

#include <sys/types.h>

namespace cove::test {

/// Runs a function in a child, which ends by itself after 120 s. Not waited for: killed.
class ChildProcess {
 public:
  /// The child writes what its parent is to read to the descriptor it is given. What the function
  /// throws ends the child with exit code 99, its words on the pipe.
  explicit ChildProcess(const std::function<void(int output)>& body);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  /// Reads exactly so many bytes of the output, or up to its end.
  std::string read(std::size_t bytes);

  void kill();

  /// Waits for the end; gives the rest of the output, or throws where it did not exit with 0.
  std::string wait();

 private:
  pid_t pid_ = -1;
  int output_ = -1;
};

}  // namespace cove::test
