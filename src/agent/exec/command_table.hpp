/// CommandTable: all commands of the agent: who reaps, who is found again by its id, who is
/// forgotten. Those in the background are in a table of their own within.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>

#include "agent/exec/command.hpp"
#include "agent/exec/command_hold.hpp"
#include "agent/exec/environment.hpp"
#include "agent/exec/process_table.hpp"
#include "agent/loop/event_loop.hpp"

namespace cove::agent {

class CommandTable final : public Command::Owner, public KeeperRegistry {
 public:
  /// `environment` is filled by the caller, all but its spawner and keepers, and outlives the
  /// table.
  static Result<std::unique_ptr<CommandTable>> open(CommandEnvironment& environment);
  ~CommandTable() override;

  /// Starts a command, or attaches `stream` to the one that has this id already.
  std::shared_ptr<StreamHandler> execute(const CommandName& name, wire::ExecRequest request,
                                         StreamRef stream);

  /// Ends what was started under a lower fencing token: its lease is somebody else's now.
  void stop_fenced_below(std::uint64_t fence);

  /// Refuses new commands for a time; see CommandHold.
  Result<void> hold(const wire::PrepareStopRequest& request);

  Result<void> signal(const wire::SignalRequest& request);
  void collected(const wire::RequestId& id);
  Result<void> resize(const wire::ResizeRequest& request);

  /// Commands that a call waits for; those in the background say for themselves what they keep.
  std::uint32_t running() const noexcept { return running_; }
  ProcessTable& processes() noexcept { return processes_; }

  /// Ends every command, in order: SIGTERM, its grace time, SIGKILL; `done` is called at the end.
  void stop_all(std::function<void()> done);

  void add(pid_t keeper, std::shared_ptr<CommandRun> run) override;
  void on_finished(Command& command) override;

 private:
  class Reaper;
  class NoticePipe;
  explicit CommandTable(CommandEnvironment& environment);

  void reap();
  void on_notices();
  void kill_strays();
  void forget_old();
  void forget(const wire::RequestId& id);
  CommandRun* find_run(const wire::RequestId& id) const;

  CommandEnvironment& environment_;
  std::unique_ptr<NoticePipe> notices_;
  std::unique_ptr<Reaper> reaper_;
  std::unique_ptr<Spawner> spawner_;
  std::map<wire::RequestId, std::shared_ptr<Command>> commands_;
  ProcessTable processes_;
  CommandHold hold_;
  std::unordered_map<pid_t, std::shared_ptr<CommandRun>> keepers_;
  std::deque<std::pair<SteadyTime, wire::RequestId>> finished_;  ///< in the order they finished
  std::uint32_t running_ = 0;
  bool forgetting_ = false;
  bool stopping_ = false;
  std::function<void()> on_all_gone_;
};

}  // namespace cove::agent
