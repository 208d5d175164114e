/// One run of a story: who is there, and what they do.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "support/story/rules.hpp"
#include "support/story/story.hpp"

namespace cove::testing {

class Stage {
 public:
  explicit Stage(const StoryPlan& plan);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  StoryEnd play();

 private:
  void go_through();
  void keep_processes();
  void perform(const Action& action);
  void perform_damage(const Action& action);
  void begin_settle(SimProcess& process, const Action& action);
  SimProcess* choose(const Action& action);

  // What a user or host does, as a task of that host.
  static Task<void> visit(Stage* stage, SimProcess* process, Action action);
  static Task<void> settle(Stage* stage, SimProcess* process, Action action);
  static Task<void> relocate(Stage* stage, SimProcess* process, Action action);
  static Task<void> destroy(Stage* stage, SimProcess* process, std::string subject, bool is_source);
  static Task<void> sweep(Stage* stage, SimProcess* process);
  static Task<void> close(SimProcess* process);

  void use(SimProcess& process, const AcquiredInstance& acquired, std::uint32_t choice);
  void write(SimProcess& process, const InstanceRef& instance, bool durable);
  void check_answer(const Action& action, const Error& error);
  void check_fine_day(const Action& action, Instant begun, ErrorCode code);
  bool is_damaged() const;
  void lose_power(const std::string& machine);

  void damage(std::uint32_t choice);
  void hide(SimNode& node, std::uint32_t choice);
  void forget(const SandboxId& sandbox);
  void mend();

  // ending.cpp
  void repair();
  void sweep_until_quiet();
  void bury_the_dead();
  void check_sources();
  void check_source(const std::string& source);
  void check_user(std::size_t user);
  void check_left_over();
  bool is_quiet() const;
  bool is_busy(const Record& record) const;
  SimProcess& process_for(const SandboxId& sandbox);
  void wrong(const std::string& what) { cluster_.world.violation(what); }

  StoryPlan plan_;
  Cast cast_;
  SimCluster cluster_;
  Rules rules_;
  std::vector<Action> done_;
  std::set<std::string> damaged_;            // objects
  std::map<VolumeRef, SimFiles> forgotten_;  // volumes whose metadata are gone
  std::set<std::string> ended_sources_;      // that somebody wanted to end
  std::map<std::string, SimProcess*> last_;  // at the end, by machine
  int files_ = 0;
  bool hid_ = false;
};

}  // namespace cove::testing
