#include "support/child_process.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <exception>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cove::test {
namespace {

[[noreturn]] void run_child(const std::function<void(int)>& body, int output) {
  ::alarm(120);
  int code = 0;
  try {
    body(output);
  } catch (const std::exception& error) {
    const std::string words = error.what();
    code = ::write(output, words.data(), words.size()) < 0 ? 98 : 99;
  }
  ::_exit(code);
}

}  // namespace

ChildProcess::ChildProcess(const std::function<void(int output)>& body) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("no process");
  if (pid_ == 0) run_child(body, ends[1]);
  ::close(ends[1]);
  output_ = ends[0];
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), output_(std::exchange(other.output_, -1)) {}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) kill();
  if (output_ >= 0) ::close(output_);
}

std::string ChildProcess::read(std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) {
    std::array<char, 4096> buffer{};
    const ssize_t got =
        ::read(output_, buffer.data(), std::min(buffer.size(), bytes - text.size()));
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

void ChildProcess::kill() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::string ChildProcess::wait() {
  std::string rest = read(std::string::npos);
  int status = 0;
  ::waitpid(std::exchange(pid_, -1), &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error("the child ended with status " + std::to_string(status) + ": " + rest);
  }
  return rest;
}

}  // namespace cove::test
