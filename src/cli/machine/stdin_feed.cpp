#include "cli/machine/stdin_feed.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "base/system/system_error.hpp"

namespace cove::cli {
namespace {

constexpr std::size_t kPiece = 64 * 1024;
constexpr std::byte kCtrlP{0x10};
constexpr std::byte kCtrlQ{0x11};

/// Takes what a signal left there. One read: what is left over makes the descriptor ready again.
void take_notices(int fd) {
  std::array<char, 64> bytes{};
  [[maybe_unused]] const ssize_t got = ::read(fd, bytes.data(), bytes.size());
}

/// Takes Ctrl-P Ctrl-Q out of what was typed; `held`: a Ctrl-P came and was not passed on yet.
/// True where both came.
bool take_detach(ByteView typed, bool& held, Bytes& rest) {
  for (const std::byte key : typed) {
    if (std::exchange(held, false)) {
      if (key == kCtrlQ) return true;
      rest.push_back(kCtrlP);
    }
    if (key == kCtrlP) {
      held = true;
    } else {
      rest.push_back(key);
    }
  }
  return false;
}

}  // namespace

StdinFeed::StdinFeed(int input, int resized, InputSink sink)
    : input_(input), resized_(resized), sink_(std::move(sink)) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    fault_ = base::system_error(errno, "make a pipe");
    if (sink_.failed) sink_.failed();
    return;
  }
  wake_read_.reset(ends[0]);
  wake_write_.reset(ends[1]);
  thread_ = std::thread([this] { run(); });
}

StdinFeed::~StdinFeed() {
  stop_.request_stop();
  wake_write_.reset();
  if (thread_.joinable()) thread_.join();
}

std::optional<Error> StdinFeed::fault() const {
  const std::lock_guard lock(mutex_);
  return fault_;
}

void StdinFeed::run() {
  const CallContext call{.deadline = {}, .stop = stop_.get_token()};
  while (input_ >= 0 || resized_ >= 0) {
    std::array<pollfd, 3> ready{
        {{*wake_read_, POLLIN, 0}, {input_, POLLIN, 0}, {resized_, POLLIN, 0}}};
    if (::poll(ready.data(), ready.size(), -1) < 0) continue;  // EINTR
    if (ready[0].revents != 0) return;
    if (ready[2].revents != 0) {
      take_notices(resized_);
      if (sink_.resized) sink_.resized(call);
    }
    if (ready[1].revents != 0 && !read_some()) input_ = -1;
  }
}

/// False at the end of what can be passed on.
bool StdinFeed::read_some() {
  Bytes piece(kPiece);
  const ssize_t got = ::read(input_, piece.data(), piece.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  if (got > 0) return pass_on(ByteView(piece).first(static_cast<std::size_t>(got)));
  // A terminal that is gone says EIO; a program that was started without a stdin, EBADF.
  if (got == 0 || errno == EIO || errno == EBADF) {
    end_input();
    return false;
  }
  {
    const std::lock_guard lock(mutex_);
    fault_ = base::system_error(errno, "read stdin");
  }
  if (sink_.failed) sink_.failed();
  return false;
}

void StdinFeed::end_input() {
  const CallContext call{.deadline = {}, .stop = stop_.get_token()};
  if (std::exchange(held_, false)) {
    static_cast<void>(sink_.write(ByteView(&kCtrlP, 1), call));
  }
  sink_.close(call);
}

/// False where nobody takes it any more: the command is over, or has closed its stdin.
bool StdinFeed::pass_on(ByteView bytes) {
  const CallContext call{.deadline = {}, .stop = stop_.get_token()};
  if (!sink_.detach) return sink_.write(bytes, call).has_value();
  Bytes rest;
  const bool detached = take_detach(bytes, held_, rest);
  const bool taken = rest.empty() || sink_.write(rest, call).has_value();
  if (detached) sink_.detach();
  return taken && !detached;
}

}  // namespace cove::cli
