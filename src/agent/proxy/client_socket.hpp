/// ClientSocket: a client's connection, non-blocking, with what waits to be written to it, watched
/// for exactly what can be done next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <cove/bytes.hpp>

#include "agent/loop/event_loop.hpp"
#include "base/system/unique_fd.hpp"

namespace cove::agent {

class ClientSocket {
 public:
  /// All are borrowed; `watcher` is told what is ready.
  ClientSocket(EventLoop& loop, Watcher& watcher, base::UniqueFd fd)
      : loop_(loop), watcher_(watcher), fd_(std::move(fd)) {}
  ~ClientSocket() { close(); }
  ClientSocket(const ClientSocket&) = delete;
  ClientSocket& operator=(const ClientSocket&) = delete;

  bool is_open() const noexcept { return static_cast<bool>(fd_); }

  /// What a read found.
  struct Read {
    std::size_t bytes = 0;
    bool ended = false;   ///< the client's end
    bool broken = false;  ///< the connection is gone
  };
  Read read(std::span<char> space);

  /// Queues bytes, and writes what can be written.
  void write(std::string_view bytes);

  /// Writes on. Returns how many bytes went out.
  std::size_t flush();
  std::size_t unsent() const noexcept { return out_.size() - sent_; }

  /// A write failed: nobody reads any more.
  bool is_broken() const noexcept { return broken_; }

  /// Nothing more is written.
  void shut_writing();

  /// Watches for input where that is wanted, for room where something waits to be written, and
  /// always for the connection's end. False: the system has no room to watch it.
  bool watch(bool for_input);

  /// After it is ready: says whether both ways are down, which epoll reports again and again.
  void note(std::uint32_t events) noexcept;

  /// Ends it; with `reset` so that the client sees a fault, not an end.
  void close(bool reset = false);

 private:
  EventLoop& loop_;
  Watcher& watcher_;
  base::UniqueFd fd_;
  Bytes out_;
  std::size_t sent_ = 0;
  bool broken_ = false;
  bool hung_up_ = false;
  bool shut_ = false;
  std::optional<std::uint32_t> watched_;
};

}  // namespace cove::agent
