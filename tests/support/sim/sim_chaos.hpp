/// A seeded story: processes that do at random what users and sweepers do, and die at random, then
/// a quiet time after which everything must be well.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/sim/sim_cluster.hpp"

namespace cove::testing {

struct ChaosPlan {
  std::uint64_t seed = 1;
  std::size_t users = 2;
  std::size_t processes = 3;
  std::size_t machines = 1;
  int actions = 60;
  SimFaults faults;
  bool crashes = true;
};

class Chaos {
 public:
  explicit Chaos(const ChaosPlan& plan);

  /// Plays the story to its end; what is wrong afterwards is in the result, one line each.
  std::vector<std::string> run();

 private:
  void act();
  void start_something(SimProcess& process, const WorkspaceKey& key);
  void crash_something();
  void lose_power(const std::string& machine);
  SimProcess& someone();
  std::string some_machine();
  void write_into(SimProcess& process, const InstanceRef& instance);

  void settle_down();
  void check_end(const WorkspaceKey& key);
  void wrong(const std::string& what);

  struct Use {
    SimProcess* process;
    Pending<Result<AcquiredInstance>> acquired;
    bool used = false;
  };

  ChaosPlan plan_;
  SimCluster cluster_;
  std::vector<Use> uses_;
  int files_ = 0;
  std::vector<SandboxId> destroyed_;
};

}  // namespace cove::testing
