#include "support/agent_fixture.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cove::test {
namespace {

namespace fs = std::filesystem;

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what + ": " + std::strerror(errno));
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  require(path.size() < sizeof address.sun_path, "socket path");
  std::copy(path.begin(), path.end(), address.sun_path);
  return address;
}

base::UniqueFd make_socket() {
  base::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  require(static_cast<bool>(socket), "socket");
  return socket;
}

base::UniqueFd listen_at(const std::string& path) {
  auto socket = make_socket();
  const auto address = address_of(path);
  // SAFETY: the socket interface's own cast.
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  require(::bind(*socket, generic, sizeof address) == 0, "bind");
  // Listening before the agent runs: a test can connect at once, and waits for the greeting.
  require(::listen(*socket, 128) == 0, "listen");
  return socket;
}

base::UniqueFd memory_file(const std::string& text) {
  base::UniqueFd fd(::memfd_create("boot", MFD_CLOEXEC));
  require(static_cast<bool>(fd), "memfd_create");
  require(::write(*fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()), "write");
  return fd;
}

pid_t spawn_agent(int boot_fd, int listen_fd) {
  const std::string program = agent_path();
  const std::string number = std::to_string(boot_fd);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // A descriptor copied onto itself is inherited.
  posix_spawn_file_actions_adddup2(&actions, boot_fd, boot_fd);
  posix_spawn_file_actions_adddup2(&actions, listen_fd, listen_fd);
  std::array<const char*, 4> arguments{program.c_str(), "guest", number.c_str(), nullptr};
  std::array<const char*, 2> environment{"SECRET_OF_THE_HOST=1", nullptr};
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, program.c_str(), &actions, nullptr,
                                  const_cast<char* const*>(arguments.data()),
                                  const_cast<char* const*>(environment.data()));
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("start " + program + ": " + std::strerror(error));
  return pid;
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
  std::string path = (fs::temp_directory_path() / "cove-test-XXXXXX").string();
  require(::mkdtemp(path.data()) != nullptr, "mkdtemp");
  path_ = path;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string agent_path() { return fs::read_symlink("/proc/self/exe").parent_path() / "cove-agent"; }

AgentProcess::AgentProcess(wire::AgentBoot boot, bool own_ids) : boot_(std::move(boot)) {
  auto listener = listen_at(sockets_.path() + "/agent");
  boot_.deployment = "d1";
  boot_.sandbox = "demo-1";
  boot_.generation = "g1";
  boot_.epoch = 7;
  boot_.listen_fd = *listener;
  boot_.workspace = workspace_.path();
  boot_.home = home_.path();
  if (own_ids) {
    boot_.uid = ::getuid();
    boot_.gid = ::getgid();
  }
  for (const TemporaryDirectory* directory : {&workspace_, &home_}) {
    require(::chown(directory->path().c_str(), boot_.uid, boot_.gid) == 0, "chown");
  }
  boot_.environment.insert(
      {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"HOME", workspace_.path()}, {"LANG", "C.UTF-8"}});
  const auto boot_file = memory_file(wire::to_json(boot_));
  pid_ = spawn_agent(*boot_file, *listener);
}

AgentProcess::~AgentProcess() { kill(); }

guest::AgentIdentity AgentProcess::identity() const {
  return {boot_.deployment, boot_.sandbox, boot_.generation, boot_.epoch};
}

base::UniqueFd AgentProcess::connect() const {
  auto socket = make_socket();
  const auto address = address_of(sockets_.path() + "/agent");
  // SAFETY: the socket interface's own cast.
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  require(::connect(*socket, generic, sizeof address) == 0, "connect");
  return socket;
}

void AgentProcess::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::size_t AgentProcess::open_descriptors() const {
  const fs::directory_iterator all("/proc/" + std::to_string(pid_) + "/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

void AgentProcess::put(const std::string& name, const std::string& text, unsigned mode) const {
  const std::string path = workspace_.path() + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  require(::chmod(path.c_str(), mode) == 0, "chmod");
}

std::string AgentProcess::get(const std::string& name) const {
  std::ifstream file(workspace_.path() + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

AgentFixture::AgentFixture(wire::AgentBoot boot, bool own_ids)
    : agent(std::move(boot), own_ids), guest(connect()) {}

Result<std::shared_ptr<Guest>> AgentFixture::try_connect(base::UniqueFd socket,
                                                         guest::AgentIdentity identity,
                                                         const CallContext& call) {
  const guest::GuestRuntime runtime{loop, clock, ids};
  return wait(guest::connect_agent(runtime, std::move(socket), std::move(identity), call));
}

std::shared_ptr<Guest> AgentFixture::connect() {
  return try_connect(agent.connect(), agent.identity()).value();
}

Result<ExecResult> AgentFixture::run(const ExecSpec& spec, const CallContext& call) {
  return wait(guest->run("", spec, call));
}

Result<ExecResult> AgentFixture::shell(const std::string& line) {
  const ExecSpec spec{.argv = {"/bin/sh", "-c", line}};
  return run(spec);
}

}  // namespace cove::test
