#include "agent/proxy/client_socket.hpp"

#include <cerrno>

#include <sys/socket.h>

namespace cove::agent {

ClientSocket::Read ClientSocket::read(std::span<char> space) {
  for (;;) {
    const ssize_t bytes = ::recv(*fd_, space.data(), space.size(), MSG_DONTWAIT);
    if (bytes > 0) return {.bytes = static_cast<std::size_t>(bytes)};
    if (bytes == 0) return {.ended = true};
    if (errno == EINTR) continue;
    return {.broken = errno != EAGAIN};
  }
}

void ClientSocket::write(std::string_view bytes) {
  if (!fd_ || broken_ || bytes.empty()) return;
  const auto raw = std::as_bytes(std::span(bytes));
  out_.insert(out_.end(), raw.begin(), raw.end());
}

std::size_t ClientSocket::flush() {
  std::size_t count = 0;
  while (fd_ && !broken_ && sent_ < out_.size()) {
    const ssize_t bytes =
        ::send(*fd_, out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0 && errno == EAGAIN) break;
    if (bytes < 0) {
      broken_ = true;
      break;
    }
    sent_ += static_cast<std::size_t>(bytes);
    count += static_cast<std::size_t>(bytes);
  }
  if (sent_ == out_.size() || broken_) {
    out_ = Bytes();  // an idle client holds no memory
    sent_ = 0;
  } else if (sent_ >= out_.size() / 2) {
    out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(sent_));
    sent_ = 0;
  }
  return count;
}

void ClientSocket::shut_writing() {
  if (!fd_ || shut_) return;
  shut_ = true;
  ::shutdown(*fd_, SHUT_WR);
}

bool ClientSocket::watch(bool for_input) {
  if (!fd_) return true;
  std::uint32_t events = for_input ? std::uint32_t{EPOLLIN} : 0U;
  if (unsent() > 0) events |= EPOLLOUT;
  // An end of both ways cannot be masked: what cannot be acted on now must not wake the loop.
  const std::optional<std::uint32_t> wanted =
      hung_up_ && events == 0 ? std::nullopt : std::optional(events);
  if (wanted == watched_) return true;
  if (!wanted) {
    loop_.remove(*fd_, &watcher_);
  } else if (watched_) {
    loop_.change(*fd_, *wanted, &watcher_);
  } else if (!loop_.add(*fd_, *wanted, &watcher_)) {
    return false;
  }
  watched_ = wanted;
  return true;
}

void ClientSocket::note(std::uint32_t events) noexcept {
  hung_up_ = hung_up_ || (events & (EPOLLHUP | EPOLLERR)) != 0;
}

void ClientSocket::close(bool reset) {
  if (!fd_) return;
  if (watched_) loop_.remove(*fd_, &watcher_);
  watched_.reset();
  if (reset) {
    const linger now{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(*fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }
  fd_.reset();
  out_ = Bytes();
  sent_ = 0;
}

}  // namespace cove::agent
