/// Starts commands: each has a keeper, a process of the agent's own memory (no copy, so nothing
/// grows with the agent) that is a subreaper, starts the command with vfork semantics, and lives
/// until the command and everything that descends from it is gone.
///
/// So a command's tree is exactly what descends from its keeper, whatever setsid, double forks and
/// environments do; the agent's loop never waits for an exec; and a keeper's end is the proof that
/// nothing is left.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include <cove/result.hpp>

namespace cove::agent {

enum class KeeperState : std::int32_t {
  kStarting = 0,
  kRunning = 1,  ///< the program was executed
  kFailed = 2,   ///< it was not: see step and error
  kEnded = 3,    ///< the command's first process ended; others may live on
};

/// What failed before the program ran.
enum class SpawnStep : std::int32_t {
  kNone = 0,
  kClone = 1,
  kDescriptors = 2,
  kCgroup = 3,
  kDirectory = 4,
  kLimits = 5,
  kIdentity = 6,
  kExecute = 7,
  kTerminal = 8,
};

struct SpawnLimits {
  std::uint64_t address_space = 0;  ///< bytes; 0 = none
  std::uint64_t processes = 0;      ///< of the command's uid; 0 = none
  std::uint64_t open_files = 0;     ///< soft limit that a command starts with
  std::uint32_t cpu_seconds = 0;    ///< of each process; 0 = none
  std::int32_t niceness = 0;
  bool raise_oom_score = false;
};

/// What the processes that a keeper reaped used, with those that they waited for themselves.
struct SpawnUsage {
  std::uint64_t user_us = 0;
  std::uint64_t system_us = 0;
  std::uint64_t peak_bytes = 0;  ///< of the largest
};

/// Everything the keeper and the command's first process read, prepared before they exist: they
/// share the agent's memory, and neither allocates.
struct SpawnPlan {
  std::vector<std::string> programs;  ///< tried in this order: the PATH is looked up before
  std::vector<std::string> argv;
  std::vector<std::string> environment;  ///< NAME=value
  std::array<int, 3> stdio{-1, -1, -1};
  int directory = -1;
  std::vector<int> cgroups;
  SpawnLimits limits;
  bool switch_ids = false;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  bool announce_start = false;  ///< also notify when the program runs, not only at the end
  bool terminal = false;        ///< stdio[0] is one, and becomes the command's controlling terminal
};

/// What the keeper's own code reads and writes: plain data, so that no library code runs there.
struct KeeperBlock {
  const char* const* programs = nullptr;
  const char* const* argv = nullptr;
  const char* const* environment = nullptr;
  int stdio[3] = {-1, -1, -1};
  int directory = -1;
  const int* cgroups = nullptr;
  std::size_t cgroup_count = 0;
  SpawnLimits limits;
  bool switch_ids = false;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  bool announce_start = false;
  bool terminal = false;
  int notify_fd = -1;

  std::int32_t state = 0;   ///< a KeeperState, by atomic operations
  std::int32_t leader = 0;  ///< by atomic operations
  int wait_status = 0;
  SpawnUsage usage;         ///< until kEnded; published with it
  SpawnUsage usage_so_far;  ///< the keeper's own; whole when it is reaped
  SpawnStep failed_step = SpawnStep::kNone;
  int error_number = 0;
};

/// A keeper and what it reports. Its memory is in use until the keeper is reaped.
class Keeper {
 public:
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  pid_t pid() const noexcept { return pid_; }
  KeeperState state() const noexcept;

  /// The command's first process; 0 before kRunning.
  pid_t leader() const noexcept;

  /// Of kEnded: as waitpid gives it.
  int wait_status() const noexcept { return block_.wait_status; }

  /// Of kEnded: until then. Of a keeper that was reaped: of all its tree.
  const SpawnUsage& usage() const noexcept { return block_.usage; }
  const SpawnUsage& whole_usage() const noexcept { return block_.usage_so_far; }

  SpawnStep failed_step() const noexcept { return block_.failed_step; }
  int error_number() const noexcept { return block_.error_number; }

 private:
  friend class Spawner;
  explicit Keeper(SpawnPlan plan, int notify_fd);

  SpawnPlan plan_;
  std::vector<const char*> programs_;
  std::vector<const char*> argv_;
  std::vector<const char*> environment_;
  KeeperBlock block_;
  pid_t pid_ = 0;
  std::byte* stack_ = nullptr;
  class StackPool* pool_ = nullptr;
};

/// Stacks of ended keepers are used again: touching fresh memory costs more than the clone.
class StackPool {
 public:
  ~StackPool();
  std::byte* take();  ///< null: out of memory
  void give(std::byte* stack) noexcept;

 private:
  std::vector<std::byte*> free_;
};

class Spawner {
 public:
  /// `notify_fd`: a blocking pipe's end where each keeper writes one byte when its state changes.
  explicit Spawner(int notify_fd) : notify_fd_(notify_fd) {}

  /// Starts a keeper. The plan's descriptors must stay open until the state is no longer
  /// kStarting. Errors: kQuotaExceeded - no memory or no process left.
  Result<std::unique_ptr<Keeper>> start(SpawnPlan plan);

 private:
  int notify_fd_;
  StackPool stacks_;
};

}  // namespace cove::agent
