#include "network/outbound.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/async/completion.hpp"
#include "base/system/system_error.hpp"
#include "base/system/unique_fd.hpp"

namespace cove::network {
namespace {

using Watched = boost::asio::posix::stream_descriptor;

constexpr std::size_t kPiece = 64 * 1024;

Error gone(int number) {
  return {ErrorCode::kUnavailable,
          base::system_error(number, "the connection to the outside").message()};
}

class Outbound final : public EgressConnection {
 public:
  Outbound(base::IoLoop& loop, base::UniqueFd socket, std::shared_ptr<void> held)
      : loop_(loop), socket_(loop.context(), socket.release()), held_(std::move(held)) {}
  ~Outbound() override { close(); }

  Task<Result<Bytes>> read(const CallContext& call) override {
    for (;;) {
      if (!socket_.is_open()) co_return closed();
      Bytes bytes(kPiece);
      const ssize_t got = ::recv(socket_.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (got >= 0) {
        bytes.resize(static_cast<std::size_t>(got));
        bytes.shrink_to_fit();
        co_return bytes;
      }
      if (errno == EINTR) continue;
      if (errno != EAGAIN) co_return gone(errno);
      bytes = Bytes();  // who waits holds no memory
      COVE_CO_TRY_VOID(co_await wait(Watched::wait_read, call));
    }
  }

  Task<Result<void>> write(ByteView bytes, const CallContext& call) override {
    while (!bytes.empty()) {
      if (!socket_.is_open()) co_return closed();
      const ssize_t sent =
          ::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent >= 0) {
        bytes = bytes.subspan(static_cast<std::size_t>(sent));
        continue;
      }
      if (errno == EINTR) continue;
      if (errno != EAGAIN) co_return gone(errno);
      COVE_CO_TRY_VOID(co_await wait(Watched::wait_write, call));
    }
    co_return ok();
  }

  void end() override {
    if (socket_.is_open()) ::shutdown(socket_.native_handle(), SHUT_WR);
  }

  void close() override {
    boost::system::error_code ignored;
    socket_.close(ignored);
    held_.reset();
  }

  /// Waits until the socket can be read or written, or has failed.
  Task<Result<void>> wait(Watched::wait_type what, const CallContext& call) {
    const auto ready = base::Completion<Result<void>>::make(loop_);
    socket_.async_wait(what, [ready](const boost::system::error_code& error) {
      ready->complete(error ? closed() : Result<void>(ok()));
    });
    co_return co_await base::wait_bounded<void>(ready, loop_, call);
  }

  int native() { return socket_.native_handle(); }

 private:
  static Error closed() { return {ErrorCode::kUnavailable, "the connection was closed"}; }

  base::IoLoop& loop_;
  Watched socket_;
  std::shared_ptr<void> held_;
};

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

SocketAddress socket_address(const IpAddress& address, std::uint16_t port) {
  SocketAddress made;
  if (address.is_v4()) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&v4.sin_addr, address.bytes().data(), sizeof v4.sin_addr);
    std::memcpy(&made.storage, &v4, sizeof v4);
    made.size = sizeof v4;
    return made;
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  std::memcpy(&v6.sin6_addr, address.bytes().data(), sizeof v6.sin6_addr);
  std::memcpy(&made.storage, &v6, sizeof v6);
  made.size = sizeof v6;
  return made;
}

Result<base::UniqueFd> begin_connect(const IpAddress& address, std::uint16_t port) {
  const int family = address.is_v4() ? AF_INET : AF_INET6;
  base::UniqueFd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return gone(errno);
  const int on = 1;
  ::setsockopt(*socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(*socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  const SocketAddress to = socket_address(address, port);
  // SAFETY: the socket interface's own cast.
  const auto* generic = reinterpret_cast<const sockaddr*>(&to.storage);
  if (::connect(*socket, generic, to.size) != 0 && errno != EINPROGRESS) return gone(errno);
  return socket;
}

}  // namespace

Task<Result<std::shared_ptr<EgressConnection>>> connect_to(base::IoLoop& loop,
                                                           const IpAddress& address,
                                                           std::uint16_t port,
                                                           std::shared_ptr<void> held,
                                                           const CallContext& call) {
  COVE_CO_TRY(base::UniqueFd socket, begin_connect(address, port));
  const auto outbound = std::make_shared<Outbound>(loop, std::move(socket), std::move(held));
  COVE_CO_TRY_VOID(co_await outbound->wait(Watched::wait_write, call));
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(outbound->native(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error != 0) co_return gone(error);
  co_return std::shared_ptr<EgressConnection>(outbound);
}

}  // namespace cove::network
