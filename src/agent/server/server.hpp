/// Server: accepts hosts, checks what they ask and hands it to commands and files.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "agent/exec/command_table.hpp"
#include "agent/loop/event_loop.hpp"
#include "agent/proxy/proxy_server.hpp"
#include "agent/server/connection.hpp"
#include "agent/server/file_service.hpp"
#include "agent/server/search_service.hpp"
#include "wire/boot.hpp"
#include "wire/greeting.hpp"

namespace cove::agent {

/// The build id that the linker gave this program: 40 hex digits.
std::string build_id();

class Server final : public Watcher, public Connection::Owner {
 public:
  /// All are borrowed and outlive the server.
  struct Parts {
    EventLoop& loop;
    CommandTable& commands;
    FileService& files;
    SearchService& searches;
    ProxyServer* proxy = nullptr;  ///< null: no network `proxy`
  };

  Server(Parts parts, const wire::AgentBoot& boot);
  ~Server() override;

  /// Listens on the boot's socket.
  Result<void> start();

  void on_ready(std::uint32_t events) override;
  std::shared_ptr<StreamHandler> on_request(wire::Request request, StreamRef stream) override;
  void on_collected(const wire::RequestId& id) override { parts_.commands.collected(id); }
  void on_greeted(Connection& connection) override;
  void on_closed(const Connection& connection) override;

 private:
  struct Dispatch;
  void accept_again_later();
  GuestStatus status() const;

  Parts parts_;
  base::UniqueFd socket_;
  wire::Greeting greeting_;
  std::uint64_t highest_fence_ = 0;
  std::set<std::shared_ptr<Connection>> connections_;
};

}  // namespace cove::agent
