#include "agent/proxy/proxy_server.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/system/system_error.hpp"

namespace cove::agent {
namespace {

constexpr int kBacklog = 128;

/// Further ones wait in the backlog until one of these has ended.
constexpr std::size_t kMaxClients = 128;

/// Each is asked in turn where one refuses.
constexpr std::size_t kMaxHosts = 8;
constexpr std::size_t kAcceptsAtOnce = 16;  // then the others get their turn
constexpr std::chrono::milliseconds kAcceptPause{100};

Error no_listener(const std::string& what) {
  return Error(ErrorCode::kProvider, "the sandbox's proxy cannot listen on 127.0.0.1")
      .with_cause(base::system_error(errno, what));
}

}  // namespace

Result<std::unique_ptr<ProxyServer>> ProxyServer::open(EventLoop& loop, std::uint16_t port) {
  base::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return no_listener("make a socket");
  const int on = 1;
  ::setsockopt(*socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  // SAFETY: the socket interface's own cast.
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(*socket, generic, size) != 0) {
    return no_listener("bind port " + std::to_string(port));
  }
  if (::listen(*socket, kBacklog) != 0) return no_listener("listen");
  if (::getsockname(*socket, generic, &size) != 0) return no_listener("ask for the port");
  std::unique_ptr<ProxyServer> server(
      new ProxyServer(loop, std::move(socket), ntohs(address.sin_port)));
  server->resume();
  if (!server->watching_) return no_listener("epoll_ctl");
  return server;
}

ProxyServer::~ProxyServer() {
  *alive_ = false;
  pause();
}

std::map<std::string, std::string> ProxyServer::variables(const std::string& exceptions) const {
  // Not socks5h for all_proxy: libraries without SOCKS fail where they find it, and those that
  // know it find HTTP as good.
  const std::string url = "http://127.0.0.1:" + std::to_string(port_);
  std::map<std::string, std::string> all;
  for (const char* name :
       {"http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}) {
    all[name] = url;
  }
  for (const char* name : {"no_proxy", "NO_PROXY"}) all[name] = exceptions;
  return all;
}

void ProxyServer::add_host(std::weak_ptr<Connection> host) {
  std::erase_if(hosts_, [](const auto& known) { return known.expired(); });
  hosts_.insert(hosts_.begin(), std::move(host));
  if (hosts_.size() > kMaxHosts) hosts_.pop_back();
}

std::vector<std::weak_ptr<Connection>> ProxyServer::hosts() {
  std::erase_if(hosts_, [](const auto& known) {
    const auto host = known.lock();
    return !host || !host->serves_proxy();
  });
  return hosts_;
}

void ProxyServer::on_ready(std::uint32_t) {
  for (std::size_t turn = 0; turn < kAcceptsAtOnce; ++turn) {
    if (clients_.size() >= kMaxClients) return pause();
    base::UniqueFd socket(::accept4(*socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (!socket && errno == EAGAIN) return;
    if (!socket) {
      // No descriptor is left: the queue stays readable, so looking again at once would spin.
      pause();
      loop_.call_after(kAcceptPause, [this, alive = alive_] {
        if (*alive) resume();
      });
      return;
    }
    const int on = 1;
    ::setsockopt(*socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    auto client = std::make_shared<ProxyClient>(loop_, *this, std::move(socket));
    if (client->start()) clients_.insert(std::move(client));
  }
}

void ProxyServer::on_done(const ProxyClient& client) {
  std::erase_if(clients_, [&](const auto& held) { return held.get() == &client; });
  resume();
}

void ProxyServer::pause() {
  if (!watching_) return;
  watching_ = false;
  loop_.remove(*socket_, this);
}

void ProxyServer::resume() {
  if (watching_ || clients_.size() >= kMaxClients) return;
  watching_ = loop_.add(*socket_, EPOLLIN, this);
}

}  // namespace cove::agent
