/// ProxyClient: one connection that a program inside made to the proxy, and the stream to a host
/// that carries it. On the loop only. Holds at most an opening (48 KiB) and what a host may send
/// ahead (128 KiB); what a client writes is read only when it can be passed on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/loop/event_loop.hpp"
#include "agent/proxy/client_socket.hpp"
#include "agent/proxy/opening.hpp"
#include "agent/server/connection.hpp"
#include "wire/credit.hpp"

namespace cove::agent {

class ProxyClient final : public Watcher,
                          public StreamHandler,
                          public std::enable_shared_from_this<ProxyClient> {
 public:
  struct Owner {
    virtual ~Owner() = default;

    /// The hosts that serve now, the one to be asked first in front.
    virtual std::vector<std::weak_ptr<Connection>> hosts() = 0;
    virtual void on_done(const ProxyClient& client) = 0;
  };

  ProxyClient(EventLoop& loop, Owner& owner, base::UniqueFd socket)
      : loop_(loop), owner_(owner), socket_(loop, *this, std::move(socket)) {}

  /// False: there is no room to watch it.
  bool start();

  void on_ready(std::uint32_t events) override;

  bool on_data(wire::Channel channel, ByteView bytes) override;
  void on_end(wire::Channel channel) override;
  void on_credit(std::uint64_t bytes) override;
  void on_event(ByteView payload) override;
  void on_response(ByteView payload) override;
  void on_error(const Error& error) override;
  void on_room() override;
  void on_lost() override;

 private:
  enum class State : std::uint8_t {
    kOpening,  ///< the client says where it wants to go
    kAsking,   ///< a host connects
    kOpen,     ///< bytes go both ways
    kParting,  ///< the last is said; the client is let time to read it
    kDone,
  };
  void read_some();
  void read_opening();
  void read_onward();
  void discard();
  void ask_next();
  void refuse(const Error& error);
  void pass(std::string_view bytes);
  void end_upward();
  void flush();
  void settle();
  void part();
  void abort();
  void finish(bool reset = false);
  void set_timer(std::chrono::milliseconds time, void (ProxyClient::*then)());
  void on_opening_time();
  void on_asking_time();
  void on_idle_time();
  void on_parting_time();

  EventLoop& loop_;
  Owner& owner_;
  ClientSocket socket_;
  State state_ = State::kOpening;
  OpeningReader reader_;
  std::vector<std::weak_ptr<Connection>> candidates_;  ///< not asked yet, the next one last
  std::optional<Error> refusal_;                       ///< of one that was asked
  StreamRef stream_;
  wire::SendWindow upward_{0};
  wire::ReceiveWindow downward_{0};
  std::uint64_t own_words_ = 0;  ///< of what waits to be written: not from the stream, and first
  bool client_ended_ = false;    ///< the client writes no more
  bool upward_ended_ = false;    ///< the host was told so
  bool downward_ended_ = false;  ///< the host sends no more
  bool stream_over_ = false;
  std::size_t discarded_ = 0;
  std::optional<EventLoop::Timer> timer_;
};

}  // namespace cove::agent
