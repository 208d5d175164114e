#include "agent/exec/command_pipe.hpp"

#include <algorithm>
#include <cerrno>

#include <poll.h>
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

InputPipe::InputPipe(EventLoop& loop, base::UniqueFd fd, Kind kind, Owner& owner)
    : loop_(loop), fd_(std::move(fd)), kind_(kind), owner_(owner) {}

InputPipe::~InputPipe() { close(); }

bool InputPipe::is_open() const noexcept {
  if (!fd_ || finished_) return false;
  pollfd end{*fd_, 0, 0};
  return ::poll(&end, 1, 0) == 0 || (end.revents & POLLERR) == 0;
}

void InputPipe::write(ByteView bytes) {
  if (bytes.empty()) return;
  if (!fd_ || finished_) return owner_.on_input_refused();
  // SAFETY: bytes seen as characters.
  pending_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  at_line_start_ = bytes.back() == std::byte{'\n'};
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

/// Closes it where nobody reads it any more.
void InputPipe::write_some() {
  while (fd_ && sent_ < pending_.size()) {
    const ssize_t bytes = ::write(*fd_, pending_.data() + sent_, pending_.size() - sent_);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0 && errno == EAGAIN) return;
    if (bytes <= 0) return close();
    sent_ += static_cast<std::size_t>(bytes);
  }
}

void InputPipe::drain() {
  const std::size_t before = sent_;
  write_some();
  if (!fd_) return owner_.on_input_refused();
  const std::size_t went = sent_ - before;
  if (sent_ == pending_.size()) {
    pending_.clear();
    sent_ = 0;
    if (finished_ && kind_ == Kind::kPipe) close();
  }
  if (sent_ > kCompactBytes) {
    pending_.erase(0, sent_);
    sent_ = 0;
  }
  rewatch();
  if (went > 0) owner_.on_input_used(went);
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
