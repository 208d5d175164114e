/// ProxyServer: the proxy inside the sandbox (network `proxy`). Listens on loopback for HTTP,
/// CONNECT and SOCKS5, and carries each connection over the wire to a host that serves it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <cove/result.hpp>

#include "agent/loop/event_loop.hpp"
#include "agent/proxy/proxy_client.hpp"
#include "base/system/unique_fd.hpp"

namespace cove::agent {

class ProxyServer final : public Watcher, public ProxyClient::Owner {
 public:
  /// Listens on 127.0.0.1 (bubblewrap brings loopback up with the namespace). `port` 0: one that is
  /// free. kProvider: it cannot listen there.
  static Result<std::unique_ptr<ProxyServer>> open(EventLoop& loop, std::uint16_t port);
  ~ProxyServer() override;
  ProxyServer(const ProxyServer&) = delete;
  ProxyServer& operator=(const ProxyServer&) = delete;

  std::uint16_t port() const noexcept { return port_; }

  /// What commands find in their environment: http_proxy and so on, and no_proxy.
  std::map<std::string, std::string> variables(const std::string& exceptions) const;

  /// From now on this host is asked first.
  void add_host(std::weak_ptr<Connection> host);

  void on_ready(std::uint32_t events) override;
  std::vector<std::weak_ptr<Connection>> hosts() override;
  void on_done(const ProxyClient& client) override;

 private:
  ProxyServer(EventLoop& loop, base::UniqueFd socket, std::uint16_t port)
      : loop_(loop), socket_(std::move(socket)), port_(port) {}
  void pause();
  void resume();

  EventLoop& loop_;
  base::UniqueFd socket_;
  std::uint16_t port_;
  bool watching_ = false;
  std::vector<std::weak_ptr<Connection>> hosts_;  ///< the one to be asked first in front
  std::set<std::shared_ptr<ProxyClient>> clients_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  ///< for timers that outlive it
};

}  // namespace cove::agent
