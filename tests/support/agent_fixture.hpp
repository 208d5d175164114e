/// A real cove-agent on a temporary directory, without a sandbox around it.
#pragma once

#include <memory>
#include <string>

#include <sys/types.h>

#include <cove/guest.hpp>

#include "base/async/io_loop.hpp"
#include "base/async/spawn.hpp"
#include "base/system_clock.hpp"
#include "base/unique_fd.hpp"
#include "guest/agent_guest.hpp"
#include "wire/boot.hpp"

namespace cove::test {

/// A directory that goes with this object.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

/// The path of the agent that was built beside this test program.
std::string agent_path();

/// The agent as a process; killed with this object. Made on the test's main thread: the agent dies
/// with the thread that started it.
class AgentProcess {
 public:
  /// `own_ids`: commands run with this test's ids; else with those of `boot`, which needs root.
  explicit AgentProcess(wire::AgentBoot boot = {}, bool own_ids = true);
  ~AgentProcess();
  AgentProcess(const AgentProcess&) = delete;
  AgentProcess& operator=(const AgentProcess&) = delete;

  const std::string& workspace() const noexcept { return workspace_.path(); }

  /// The home whose `.cove/spill` the agent writes to; commands have the workspace as HOME.
  const std::string& home() const noexcept { return home_.path(); }
  pid_t pid() const noexcept { return pid_; }
  guest::AgentIdentity identity() const;

  /// A new connection, as a socket.
  base::UniqueFd connect() const;

  /// Ends it at once, and waits.
  void kill();

  /// Descriptors that it has open.
  std::size_t open_descriptors() const;

  /// Writes a file into the workspace; `mode` as chmod takes it.
  void put(const std::string& name, const std::string& text, unsigned mode = 0644) const;
  std::string get(const std::string& name) const;

 private:
  TemporaryDirectory workspace_;
  TemporaryDirectory home_;
  TemporaryDirectory sockets_;
  wire::AgentBoot boot_;
  pid_t pid_ = -1;
};

/// An agent, a loop and a guest; the blocking forms of the guest's calls.
class AgentFixture {
 public:
  explicit AgentFixture(wire::AgentBoot boot = {}, bool own_ids = true);

  std::shared_ptr<Guest> connect();
  Result<std::shared_ptr<Guest>> try_connect(base::UniqueFd socket, guest::AgentIdentity identity,
                                             const CallContext& call = {});

  Result<ExecResult> run(const ExecSpec& spec, const CallContext& call = {});

  /// Runs a shell line.
  Result<ExecResult> shell(const std::string& line);

  template <class T>
  T wait(Task<T> task) {
    return base::sync_wait(loop, std::move(task));
  }

  AgentProcess agent;
  base::SystemClock clock;
  base::SystemIds ids;
  base::IoLoop loop;
  std::shared_ptr<Guest> guest;
};

}  // namespace cove::test
