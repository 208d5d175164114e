/// Threads of a guest in someone else's process: they take no signal that is the host's.
#pragma once

#include <csignal>
#include <functional>
#include <thread>

#include <pthread.h>

namespace cove::base {

/// Starts a thread that blocks every signal, with a name of at most 15 bytes for `ps -L`.
inline std::thread start_quiet_thread(const char* name, std::function<void()> body) {
  // A new thread inherits the mask of its maker, so the mask is set here and set back: set inside
  // the thread, a signal could arrive before.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  try {
    thread = std::thread(std::move(body));
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread.native_handle(), name);
  return thread;
}

}  // namespace cove::base
