#include "runtime/use/admission.hpp"

#include <thread>

#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>

using cove::CallContext;
using cove::ErrorCode;
using cove::runtime::Admission;

TEST_CASE("Admission: close admits no more and cancels what runs", "[unit][runtime]") {
  const auto admission = std::make_shared<Admission>();
  std::stop_source mine;
  auto with_stop = admission->begin(CallContext{.stop = mine.get_token()}).value();
  auto without_stop = admission->begin({}).value();
  CHECK_FALSE(with_stop->context().stop.stop_requested());
  admission->close();
  CHECK(with_stop->context().stop.stop_requested());
  CHECK(without_stop->context().stop.stop_requested());
  CHECK_FALSE(mine.stop_requested());
  CHECK(admission->begin({}).error().code() == ErrorCode::kFailedPrecondition);
}

TEST_CASE("Admission: a scope ends with its caller's stop and keeps its deadline",
          "[unit][runtime]") {
  const auto admission = std::make_shared<Admission>();
  std::stop_source mine;
  const cove::Instant deadline{std::chrono::seconds(5)};
  auto scope = admission->begin({.deadline = deadline, .stop = mine.get_token()}).value();
  CHECK(scope->context().deadline == deadline);
  mine.request_stop();
  CHECK(scope->context().stop.stop_requested());
}

TEST_CASE("Admission: wait_idle returns when the last scope ends", "[unit][runtime][threads]") {
  const auto admission = std::make_shared<Admission>();
  auto first = admission->begin({}).value();
  auto second = admission->begin({}).value();
  std::atomic<bool> idle{false};
  std::thread waiter([&] {
    admission->wait_idle();
    idle = true;
  });
  first.reset();
  CHECK_FALSE(idle);
  second.reset();
  waiter.join();
  CHECK(idle);
}

TEST_CASE("Admission: a child of fork() is refused", "[unit][runtime]") {
  const auto admission = std::make_shared<Admission>();
  const pid_t pid = ::fork();
  if (pid == 0) {
    const auto refused = admission->begin({});
    ::_exit(!refused && refused.error().code() == ErrorCode::kFailedPrecondition ? 0 : 1);
  }
  int status = -1;
  ::waitpid(pid, &status, 0);
  CHECK(status == 0);
  CHECK(admission->begin({}));
}
