#include "agent/exec/command_pipe.hpp"

#include <algorithm>
#include <cerrno>

#include <sys/ioctl.h>
#include <unistd.h>

namespace cove::agent {
namespace {

constexpr std::size_t kCompactBytes = 256 * 1024;

}  // namespace

OutputPipe::OutputPipe(EventLoop& loop, base::UniqueFd fd, Reader on_readable)
    : loop_(loop), fd_(std::move(fd)), on_readable_(std::move(on_readable)) {}

OutputPipe::~OutputPipe() { close(); }

void OutputPipe::watch(bool wanted) {
  if (!fd_ || wanted == watched_) return;
  // Not in the set at all while nothing is wanted: epoll reports a hang-up even unasked.
  if (wanted) {
    watched_ = loop_.add(*fd_, EPOLLIN, this);
  } else {
    loop_.remove(*fd_, this);
    watched_ = false;
  }
}

void OutputPipe::close() {
  watch(false);
  fd_.reset();
}

std::size_t OutputPipe::waiting() const {
  int bytes = 0;
  if (!fd_ || ::ioctl(*fd_, FIONREAD, &bytes) != 0) return 0;
  return static_cast<std::size_t>(std::max(bytes, 0));
}

std::size_t OutputPipe::read(char* to, std::size_t room) {
  if (!fd_ || room == 0) return 0;
  ssize_t bytes = 0;
  do {
    bytes = ::read(*fd_, to, room);
  } while (bytes < 0 && errno == EINTR);
  if (bytes > 0) return static_cast<std::size_t>(bytes);
  if (bytes == 0 || errno != EAGAIN) close();
  return 0;
}

void OutputPipe::on_ready(std::uint32_t) { on_readable_(); }

InputPipe::InputPipe(EventLoop& loop, base::UniqueFd fd, Kind kind, Progress on_consumed)
    : loop_(loop), fd_(std::move(fd)), kind_(kind), on_consumed_(std::move(on_consumed)) {}

InputPipe::~InputPipe() { close(); }

void InputPipe::write(ByteView bytes) {
  if (bytes.empty()) return;
  owed_ += bytes.size();
  if (fd_ && !finished_) {
    // SAFETY: bytes seen as characters.
    pending_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    at_line_start_ = bytes.back() == std::byte{'\n'};
  }
  drain();
}

void InputPipe::finish() {
  if (finished_) return;
  finished_ = true;
  if (kind_ == Kind::kTerminal && fd_) {
    // In the middle of a line the key only hands over what was typed, so it is typed twice.
    constexpr char kEndOfFile = 4;
    pending_.append(at_line_start_ ? 1 : 2, kEndOfFile);
  }
  drain();
}

void InputPipe::close() {
  if (watched_) loop_.remove(*fd_, this);
  watched_ = false;
  fd_.reset();
  pending_.clear();
  sent_ = 0;
}

void InputPipe::on_ready(std::uint32_t) { drain(); }

/// Returns how many bytes went or were swallowed.
std::uint64_t InputPipe::write_some() {
  std::uint64_t consumed = 0;
  while (fd_ && sent_ < pending_.size()) {
    const ssize_t bytes = ::write(*fd_, pending_.data() + sent_, pending_.size() - sent_);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0 && errno == EAGAIN) return consumed;
    if (bytes < 0) close();  // nobody reads it any more
    if (bytes <= 0) break;
    sent_ += static_cast<std::size_t>(bytes);
    consumed += static_cast<std::size_t>(bytes);
  }
  return fd_ ? consumed : owed_;
}

void InputPipe::drain() {
  const std::uint64_t consumed = std::min(write_some(), owed_);
  owed_ -= consumed;
  if (fd_ && sent_ == pending_.size()) {
    pending_.clear();
    sent_ = 0;
    if (finished_ && kind_ == Kind::kPipe) close();
  }
  if (sent_ > kCompactBytes) {
    pending_.erase(0, sent_);
    sent_ = 0;
  }
  rewatch();
  if (consumed > 0) on_consumed_(consumed);
}

void InputPipe::rewatch() {
  const bool want = fd_ && !pending_.empty();
  if (want == watched_ || !fd_) return;
  if (want) {
    watched_ = loop_.add(*fd_, EPOLLOUT, this);
  } else {
    loop_.remove(*fd_, this);
    watched_ = false;
  }
}

}  // namespace cove::agent
