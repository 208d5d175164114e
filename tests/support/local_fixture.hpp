/// A local provider on a state directory of its own, with the blocking forms of its calls. What a
/// test leaves running ends with it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include <cove/provider.hpp>

#include "base/async/io_loop.hpp"
#include "base/async/spawn.hpp"
#include "base/async/worker_pool.hpp"
#include "base/system_clock.hpp"
#include "providers/local/local_provider.hpp"
#include "support/agent_fixture.hpp"

namespace cove::test {

/// The group below which the tests' sandboxes are, so that leftovers can be told.
inline constexpr const char* kTestCgroups = "cove-test";

class LocalMachine {
 public:
  LocalMachine();
  explicit LocalMachine(local::LocalOptions options);  ///< a state directory is kept where given
  ~LocalMachine();
  LocalMachine(const LocalMachine&) = delete;
  LocalMachine& operator=(const LocalMachine&) = delete;

  /// Names nothing that exists.
  VolumeRef new_volume();

  /// A volume with an instance of epoch 1 on it.
  InstanceRef start_new(const SandboxPolicy& policy = {});

  Result<void> create(const VolumeRef& volume);
  Result<void> remove(const VolumeRef& volume);
  Result<void> start(const InstanceRef& instance, const SandboxPolicy& policy = {},
                     const CallContext& call = {});
  Result<void> stop(const InstanceRef& instance, const CallContext& call = {});
  InstanceStatus inspect(const InstanceRef& instance);
  Result<std::shared_ptr<Guest>> connect(const InstanceRef& instance);
  ProviderInventory list();

  /// Runs a shell line in an instance; throws where it cannot be run.
  ExecResult shell(const InstanceRef& instance, const std::string& line);
  /// The same, giving stdout and stderr; throws unless it ended with 0.
  std::string output(const InstanceRef& instance, const std::string& line);

  template <class T>
  T wait(Task<T> task) {
    return base::sync_wait(loop, std::move(task));
  }

  const std::string& state_dir() const noexcept { return options.state_dir; }
  std::string path_of(const VolumeRef& volume) const;

  TemporaryDirectory directory;
  local::LocalOptions options;
  base::SystemClock clock;
  base::SystemIds ids;
  base::IoLoop loop;
  base::WorkerPool pool{2};
  DeploymentId deployment;
  std::shared_ptr<Provider> provider;
};

bool is_root();

/// The processes of an instance as this machine numbers them: bubblewrap and its agent; empty where
/// it does not run. Read from the instance's record.
struct InstanceProcesses {
  pid_t bubblewrap = 0;
  pid_t agent = 0;
};
InstanceProcesses processes_of(const LocalMachine& machine, const InstanceRef& instance);

bool is_alive(pid_t pid);

/// Waits until `done`, for at most 20 s; says whether it was.
bool eventually(const std::function<bool()>& done);

/// What is left on this machine of a state directory and its deployment: processes that have a file
/// of it open or mounted, groups, sockets. Empty = nothing.
std::vector<std::string> leftovers(const LocalMachine& machine);

/// Runs this test program's cases tagged [any-user] as an ordinary user, where this is root.
struct OrdinaryUserRun {
  std::string skipped;  ///< why it was not run; empty = it was
  bool passed = false;
  std::string output;
};
OrdinaryUserRun run_as_ordinary_user();

/// This test program once more, as a process that runs the hidden case `name`; see child_test.cpp.
struct ChildResult {
  int status = 0;
  std::string output;
};
pid_t start_child(const std::string& name, const std::vector<std::string>& words, int output_fd);
ChildResult run_child(const std::string& name, const std::vector<std::string>& words);
std::vector<std::string> child_words();

}  // namespace cove::test
