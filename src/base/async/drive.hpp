/// Waiting for a task by running the loop that it needs.
#pragma once

#include <exception>
#include <utility>

#include <cove/task.hpp>

#include "base/async/io_loop.hpp"
#include "base/async/spawn.hpp"

namespace cove::base {

/// Runs `task` on a driven loop, on the calling thread, until it is done.
inline void drive(IoLoop& loop, Task<void> task) {
  std::exception_ptr exception;
  bool finished = false;
  spawn(loop, [](Task<void> inner, std::exception_ptr& thrown, bool& done) -> Task<void> {
    try {
      co_await inner;
    } catch (...) {
      thrown = std::current_exception();
    }
    done = true;
  }(std::move(task), exception, finished));
  loop.drive([&finished] { return finished; });
  if (exception) std::rethrow_exception(exception);
}

}  // namespace cove::base
