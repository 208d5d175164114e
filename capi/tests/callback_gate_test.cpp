/// The end of all callbacks: for the whole process, so each story has one of its own.
#include <fstream>
#include <future>
#include <string>
#include <thread>

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "callbacks.hpp"
#include "support.hpp"

using namespace cove;
using capi::CallbackScope;

namespace {

/// What a forked child says of the story: which of its checks was wrong, 0 where none.
int told_by_child(int (*story)()) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(story());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

/// Until the thread stands still in pause().
void wait_for_pause(pid_t thread) {
  const std::string pause = std::to_string(SYS_pause) + " ";
  std::string line;
  while (line.rfind(pause, 0) != 0) {
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/syscall");
    std::getline(file, line);
  }
}

int waits_for_a_callback_that_runs() {
  std::promise<void> entered;
  std::promise<void> may_leave;
  std::thread host([&] {
    const CallbackScope outer;
    entered.set_value();
    may_leave.get_future().wait();
    const CallbackScope inner;  // what a callback's own calls bring still comes
  });
  entered.get_future().wait();
  if (cove_end_callbacks(1, nullptr) != COVE_TIMEOUT) return 1;
  may_leave.set_value();
  if (cove_end_callbacks(60'000, nullptr) != COVE_OK) return 2;
  host.join();
  return cove_end_callbacks(0, nullptr) == COVE_OK ? 0 : 3;
}

int lets_none_begin() {
  if (cove_end_callbacks(0, nullptr) != COVE_OK) return 1;
  std::promise<pid_t> begun;
  std::atomic<bool> called = false;
  std::thread([&] {
    begun.set_value(::gettid());
    const CallbackScope scope;
    called = true;
  }).detach();
  wait_for_pause(begun.get_future().get());
  if (called) return 2;
  const CallbackScope own;  // of the thread that ended them: it knows what it does
  return 0;
}

int refuses_what_would_answer() {
  const auto cove = open_cove();
  if (cove_end_callbacks(0, nullptr) != COVE_OK) return 1;
  Heard heard;
  const auto status =
      cove_stop_start(cove.get(), "app-1", nullptr, on_done, &heard, on_drop, nullptr);
  if (status != COVE_FAILED_PRECONDITION) return 2;
  return heard.order == "x" ? 0 : 3;
}

int a_child_of_a_callback_has_no_other() {
  std::promise<void> entered;
  std::thread([&] {
    const CallbackScope scope;
    entered.set_value();
    for (;;) ::pause();
  }).detach();
  entered.get_future().wait();
  const CallbackScope own;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(cove_end_callbacks(0, nullptr) == COVE_OK ? 0 : 1);
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 2;
  return WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("End of callbacks: one that runs is waited for, one that waits is let through",
          "[capi][callbacks]") {
  CHECK(told_by_child(waits_for_a_callback_that_runs) == 0);
}

TEST_CASE("End of callbacks: a thread that would begin one stands still", "[capi][callbacks]") {
  CHECK(told_by_child(lets_none_begin) == 0);
}

TEST_CASE("End of callbacks: what would answer through one is refused", "[capi][callbacks]") {
  CHECK(told_by_child(refuses_what_would_answer) == 0);
}

TEST_CASE("End of callbacks: a forked child does not wait for its parent's", "[capi][callbacks]") {
  CHECK(told_by_child(a_child_of_a_callback_has_no_other) == 0);
}
