#include "agent/server/server.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/socket.h>

#include "base/system/system_error.hpp"
#include "base/text/hex.hpp"
#include "wire/reply.hpp"

namespace cove::agent {
namespace {

constexpr int kBacklog = 128;
constexpr std::size_t kMaxConnections = 256;
constexpr std::chrono::milliseconds kAcceptPause{100};

std::size_t padded(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

/// Looks for the build id among the notes of the first object, which is the program itself.
int find_build_id(dl_phdr_info* info, std::size_t, void* result) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    // SAFETY: the loader mapped the segment at this address.
    const auto* at = reinterpret_cast<const std::byte*>(info->dlpi_addr + segment.p_vaddr);
    const auto* end = at + segment.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const auto* text = at + sizeof note + padded(note.n_namesz);
      if (note.n_type == NT_GNU_BUILD_ID && text + note.n_descsz <= end) {
        *static_cast<std::string*>(result) = base::to_hex(std::span(text, note.n_descsz));
        return 1;
      }
      at = text + padded(note.n_descsz);
    }
  }
  return 1;
}

}  // namespace

std::string build_id() {
  std::string id;
  ::dl_iterate_phdr(find_build_id, &id);
  return id;
}

Server::Server(Parts parts, const wire::AgentBoot& boot) : parts_(parts), socket_(boot.listen_fd) {
  greeting_.build_id = build_id();
  greeting_.capabilities = {"exec",  "stdin",      "exact_bytes", "kernel_paths", "kill_tree",
                            "pty",   "background", "files",       "edit",         "tree",
                            "watch", "search",     "hold"};
  if (parts_.files.has_home()) greeting_.capabilities.emplace_back("home");
  if (parts_.proxy != nullptr) greeting_.capabilities.emplace_back(wire::kProxyCapability);
  greeting_.deployment = boot.deployment;
  greeting_.sandbox = boot.sandbox;
  greeting_.generation = boot.generation;
  greeting_.epoch = boot.epoch;
}

Server::~Server() { parts_.loop.remove(*socket_, this); }

Result<void> Server::start() {
  if (::listen(*socket_, kBacklog) != 0) return base::system_error(errno, "listen");
  ::fcntl(*socket_, F_SETFL, O_NONBLOCK);
  if (!parts_.loop.add(*socket_, EPOLLIN, this)) return base::system_error(errno, "epoll_ctl");
  return ok();
}

void Server::on_ready(std::uint32_t) {
  for (;;) {
    base::UniqueFd socket(::accept4(*socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (!socket && errno == EAGAIN) return;
    // No descriptor is left: the queue stays readable, so looking again at once would spin.
    if (!socket) return accept_again_later();
    if (connections_.size() >= kMaxConnections) continue;
    auto connection =
        std::make_shared<Connection>(parts_.loop, *this, std::move(socket), greeting_);
    if (connection->start()) connections_.insert(std::move(connection));
  }
}

void Server::accept_again_later() {
  parts_.loop.remove(*socket_, this);
  parts_.loop.call_after(kAcceptPause, [this] {
    if (!parts_.loop.add(*socket_, EPOLLIN, this)) accept_again_later();
  });
}

void Server::on_greeted(Connection& connection) {
  // No request comes before; and a host that waits for the first greeting need not wait for
  // threads.
  parts_.files.start();
  if (parts_.proxy == nullptr || !connection.serves_proxy()) return;
  parts_.proxy->add_host(connection.weak_from_this());
}

void Server::on_closed(const Connection& connection) {
  std::erase_if(connections_, [&](const auto& held) { return held.get() == &connection; });
}

GuestStatus Server::status() const {
  return {.build_id = greeting_.build_id,
          .epoch = Epoch{greeting_.epoch},
          .running_commands = parts_.commands.running(),
          .keep_alive_commands = parts_.commands.processes().keeping_alive()};
}

struct Server::Dispatch {
  Server& server;
  const wire::Request& asked;
  StreamRef& stream;
  using Handler = std::shared_ptr<StreamHandler>;

  Handler operator()(wire::ExecRequest& request) const {
    return server.parts_.commands.execute({asked.id, asked.fence}, std::move(request), stream);
  }
  Handler operator()(wire::StatusRequest&) const {
    stream.respond(wire::encode_status(server.status()));
    return nullptr;
  }
  Handler operator()(wire::PrepareStopRequest& request) const {
    return say(server.parts_.commands.hold(request));
  }
  Handler operator()(wire::SignalRequest& request) const {
    return say(server.parts_.commands.signal(request));
  }
  Handler operator()(wire::ResizeRequest& request) const {
    return say(server.parts_.commands.resize(request));
  }
  Handler operator()(wire::ListProcessesRequest&) const {
    processes().list(stream);
    return nullptr;
  }
  Handler operator()(wire::FindProcessRequest& request) const {
    processes().find(request, stream);
    return nullptr;
  }
  Handler operator()(wire::ProcessOutputRequest& request) const {
    return processes().output(request, stream);
  }
  Handler operator()(wire::AttachRequest& request) const {
    return processes().attach(request, stream);
  }
  Handler operator()(wire::RemoveProcessRequest& request) const {
    processes().remove(request, stream);
    return nullptr;
  }
  Handler operator()(wire::ReadRequest& request) const {
    return server.parts_.files.read(request, stream);
  }
  Handler operator()(wire::WriteRequest& request) const {
    return server.parts_.files.write(asked.id, request, stream);
  }
  Handler operator()(wire::ListRequest& request) const {
    return server.parts_.files.list(request, stream);
  }
  Handler operator()(wire::StatRequest& request) const {
    server.parts_.files.stat(request, stream);
    return nullptr;
  }
  Handler operator()(wire::MakeDirectoryRequest& request) const {
    server.parts_.files.make_directory(asked.id, request, stream);
    return nullptr;
  }
  Handler operator()(wire::RemoveRequest& request) const {
    server.parts_.files.remove(asked.id, request, stream);
    return nullptr;
  }
  Handler operator()(wire::FileRequest& request) const {
    return server.parts_.files.serve(asked.id, request, stream);
  }
  Handler operator()(wire::GrepRequest& request) const {
    return server.parts_.searches.grep(std::move(request), stream);
  }
  Handler operator()(wire::FindRequest& request) const {
    return server.parts_.searches.find(std::move(request), stream);
  }
  Handler operator()(wire::SyncRequest&) const {
    server.parts_.files.sync(stream);
    return nullptr;
  }

  ProcessTable& processes() const { return server.parts_.commands.processes(); }

  Handler say(const Result<void>& done) const {
    if (done) stream.respond(wire::encode_nothing());
    if (!done) stream.fail(done.error());
    return nullptr;
  }
};

std::shared_ptr<StreamHandler> Server::on_request(wire::Request request, StreamRef stream) {
  if (request.fence != 0 && request.fence < highest_fence_) {
    stream.fail(Error(ErrorCode::kConflict, "fencing token " + std::to_string(request.fence) +
                                                " is lower than " + std::to_string(highest_fence_) +
                                                ": the lease is somebody else's now"));
    return nullptr;
  }
  const Result<GuestRoot> root = wire::root_of(request);
  if (!root) {
    stream.fail(root.error());
    return nullptr;
  }
  if (*root == GuestRoot::kHome && !parts_.files.has_home()) {
    stream.fail(Error(ErrorCode::kUnsupported, "this sandbox has no HOME"));
    return nullptr;
  }
  if (request.fence > highest_fence_) {
    highest_fence_ = request.fence;
    parts_.commands.stop_fenced_below(highest_fence_);
  }
  return std::visit(Dispatch{*this, request, stream}, request.body);
}

}  // namespace cove::agent
