#include "support/story/stage.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "base/async/spawn.hpp"

namespace cove::testing {
namespace {

using namespace std::chrono_literals;

LifecycleSettings settings() {
  LifecycleSettings settings;
  settings.stop_after = kStopAfter;
  settings.archive_after = kArchiveAfter;
  settings.tombstone_keep = kTombstoneKeep;
  return settings;
}

std::uint64_t part(std::uint32_t choice, unsigned shift, std::uint64_t below) {
  return (choice >> shift) % below;
}

}  // namespace

Stage::Stage(const StoryPlan& plan)
    : plan_(plan), cast_(draw_cast(plan.seed)), cluster_(plan.seed, settings()), rules_(cluster_) {
  if (plan.tells) cluster_.world.tell_from_now_on();
  if (plan.actions) cast_.actions = *plan.actions;
  for (std::size_t i = 0; i < cast_.machines; ++i) rules_.watch(cluster_.node(machine_name(i)));
  for (std::size_t i = 0; i < cast_.users; ++i) {
    std::string name = "user";
    name += std::to_string(i);
    rules_.name_sandbox(sandbox_id_of(key_of_user(i)), name);
  }
  cluster_.has_second = true;
  cluster_.decorate = [mutation = plan.mutation](SimSeams& seams) { mutate(mutation, seams); };
  cluster_.world.on_power_loss = [this](const std::string& machine) { lose_power(machine); };
  if (plan.faults) {
    cluster_.world.faults.play(*plan.faults);
  } else {
    cluster_.world.faults.draw(plan.seed, cast_.weather);
  }
}

Stage::~Stage() {
  cluster_.world.on_power_loss = nullptr;
  cluster_.abandon();
}

void Stage::go_through() {
  SimWorld& world = cluster_.world;
  for (const Action& action : cast_.actions) {
    if (world.effects() >= plan_.steps || !world.violations().empty()) break;
    keep_processes();
    done_.push_back(action);
    perform(action);
    world.run_for(action.wait);
  }
}

StoryEnd Stage::play() {
  SimWorld& world = cluster_.world;
  StoryEnd end;
  try {
    go_through();
    end.steps = world.effects();
    if (world.violations().empty()) repair();
  } catch (const std::exception& error) {
    // A record that cannot be read, a call that never ends: nothing sensible can follow.
    wrong(std::string("the story broke: ") + error.what());
  }
  end.violations = world.violations();
  end.faults = world.faults.happened();
  end.actions = done_;
  end.history = world.history();
  return end;
}

void Stage::lose_power(const std::string& machine) {
  cluster_.world.tell(machine.empty() ? "the store crashes" : machine + " loses power");
  // On one machine the store is there too, and falls with it alone.
  if (machine.empty() && cast_.machines == 1) return;
  bool with_store = machine.empty() || cast_.machines == 1;
  if (!machine.empty()) {
    for (const auto& process : cluster_.processes) {
      if (process->host().machine() == machine) process->host().crash();
    }
    cluster_.node(machine).lose_power();
    with_store = with_store || cluster_.world.random(2) == 0;
  }
  if (with_store) cluster_.store.lose_power();
}

void Stage::keep_processes() {
  std::size_t living = 0;
  for (const auto& process : cluster_.processes) {
    if (process->has_failed()) process->host().crash();
    if (process->host().alive()) ++living;
  }
  for (; living < cast_.processes; ++living) {
    const std::size_t machine = cluster_.processes.size() % cast_.machines;
    SimProcess& process = cluster_.begin_start(machine_name(machine));
    process.host().knows_deaths = cast_.sees_deaths;
    cluster_.world.tell(process.host().self().str() + " starts");
  }
}

/// One that is open; mostly one that reaches the user's volume. Null where there is none.
SimProcess* Stage::choose(const Action& action) {
  std::vector<SimProcess*> open;
  for (const auto& process : cluster_.processes) {
    if (process->is_open()) open.push_back(process.get());
  }
  const Record* record = cluster_.store.find(sandbox_id_of(key_of_user(action.user)));
  if (record != nullptr && part(action.choice, 28, 8) != 0) {
    std::vector<SimProcess*> near = open;
    std::erase_if(
        near, [&](SimProcess* process) { return process->host().machine() != record->node.str(); });
    if (!near.empty()) open = near;
  }
  return open.empty() ? nullptr : open[action.process % open.size()];
}

void Stage::perform(const Action& action) {
  SimProcess* process = choose(action);
  if (process == nullptr) return;
  cluster_.world.tell("-- " + process->host().self().str() + ": " + describe(action));
  const SandboxId sandbox = sandbox_id_of(key_of_user(action.user));
  const std::string source = source_of_user(action.user);
  switch (action.kind) {
    case ActionKind::kVisit: return process->run(visit(this, process, action));
    case ActionKind::kRelease: return static_cast<void>(process->release(sandbox));
    case ActionKind::kStop:
    case ActionKind::kArchive: return process->run(settle(this, process, action));
    case ActionKind::kRelocate: return process->run(relocate(this, process, action));
    case ActionKind::kSweep: return process->run(sweep(this, process));
    case ActionKind::kReport:
      for (const auto& [instance, state] : process->node().instances) {
        (void)process->report_unreachable(instance);
      }
      return;
    case ActionKind::kReboot: return process->node().reboot();
    case ActionKind::kClose: return process->run(close(process));
    case ActionKind::kDestroy: return process->run(destroy(this, process, sandbox.str(), false));
    case ActionKind::kDestroySource:
      ended_sources_.insert(source);
      return process->run(destroy(this, process, source, true));
    case ActionKind::kReviveSource: return static_cast<void>(process->revive_source(source));
    case ActionKind::kDamage: return damage(action.choice);
    case ActionKind::kHide: return hide(process->node(), action.choice);
    case ActionKind::kMend: return mend();
    case ActionKind::kForget: return forget(sandbox);
  }
}

Task<void> Stage::visit(Stage* stage, SimProcess* process, Action action) {
  CallContext call;
  if (part(action.choice, 8, 4) == 0) {
    call.deadline =
        process->host().now() + std::chrono::milliseconds(part(action.choice, 10, 20'000));
  }
  const WorkspaceKey key = key_of_user(action.user);
  const SandboxId own;
  const Instant begun = stage->cluster_.world.now();
  const auto acquired = co_await process->manager().acquire(key, own, call);
  stage->check_fine_day(action, begun, acquired ? ErrorCode{} : acquired.error().code());
  if (acquired) {
    stage->use(*process, *acquired, action.choice);
  } else {
    stage->check_answer(action, acquired.error());
  }
}

Task<void> Stage::settle(Stage* stage, SimProcess* process, Action action) {
  const SandboxId sandbox = sandbox_id_of(key_of_user(action.user));
  const StopDrain drain = part(action.choice, 3, 2) == 0 ? StopDrain::kRefuse : StopDrain::kCancel;
  std::shared_ptr<Ask> ask;
  if (drain == StopDrain::kCancel) {
    ask = stage->rules_.begin_ask(Ask::Kind::kCancel, sandbox.str(), process->host());
  }
  const CallContext call;
  LifecycleManager& manager = process->manager();
  Result<void> done = ok();
  if (action.kind == ActionKind::kStop) {
    done = co_await manager.stop(sandbox, drain, call);
  } else {
    done = co_await manager.archive(sandbox, drain, call);
  }
  if (ask) stage->rules_.end_ask(*ask, done);
  if (!done && done.error().code() != ErrorCode::kNotFound) {
    stage->check_answer(action, done.error());
  }
}

Task<void> Stage::relocate(Stage* stage, SimProcess* process, Action action) {
  const SandboxId sandbox = sandbox_id_of(key_of_user(action.user));
  RelocateOptions options;
  options.provider = part(action.choice, 4, 3) == 0 ? "sim" : "sim2";
  if (part(action.choice, 6, 2) != 0) options.drain = StopDrain::kCancel;
  std::shared_ptr<Ask> ask;
  if (options.drain == StopDrain::kCancel) {
    ask = stage->rules_.begin_ask(Ask::Kind::kCancel, sandbox.str(), process->host());
  }
  const CallContext call;
  const auto done = co_await process->manager().relocate(sandbox, options, call);
  if (ask) stage->rules_.end_ask(*ask, done);
  if (!done && done.error().code() != ErrorCode::kNotFound) {
    stage->check_answer(action, done.error());
  }
}

Task<void> Stage::destroy(Stage* stage, SimProcess* process, std::string subject, bool is_source) {
  const auto ask = stage->rules_.begin_ask(Ask::Kind::kDestroy, subject, process->host());
  const CallContext call;
  LifecycleManager& manager = process->manager();
  Result<void> done = ok();
  if (is_source) {
    const auto destroyed = co_await manager.destroy_source(subject, call);
    if (!destroyed) done = destroyed.error();
  } else {
    const SandboxId sandbox(subject);
    done = co_await manager.destroy(sandbox, call);
  }
  stage->rules_.end_ask(*ask, done);
}

Task<void> Stage::sweep(Stage* stage, SimProcess* process) {
  const CallContext call;
  (void)co_await process->manager().sweep(call);
  if (stage->plan_.mutation != Mutation::kOrphansDeleted) co_return;
  const auto orphans = co_await process->manager().orphans(call);
  if (!orphans) co_return;
  for (const VolumeRef& volume : orphans->volumes) {
    (void)co_await process->provider().delete_volume(volume, call);
  }
}

Task<void> Stage::close(SimProcess* process) {
  const CallContext call;
  co_await process->manager().close(call);
  process->host().crash();
}

bool Stage::is_damaged() const { return !damaged_.empty() || hid_ || !forgotten_.empty(); }

/// Where nothing goes wrong a user gets the workspace, and soon, whatever others do with it.
void Stage::check_fine_day(const Action& action, Instant begun, ErrorCode code) {
  if (!cast_.weather.empty() || is_damaged()) return;
  const auto took = cluster_.world.now() - begun;
  const bool usual = code == ErrorCode{} || code == ErrorCode::kFailedPrecondition ||
                     code == ErrorCode::kCancelled || code == ErrorCode::kTimeout ||
                     (code == ErrorCode::kUnavailable && cast_.machines > 1);
  const std::string user = "user" + std::to_string(action.user);
  if (!usual) wrong(user + " gets no workspace on a fine day: " + std::string(name_of(code)));
  if (took > 10s) wrong(user + " waits long for a workspace on a fine day");
}

/// Storms excuse what fails, but not with every answer.
void Stage::check_answer(const Action& action, const Error& error) {
  const auto& faults = cluster_.world.faults.happened();
  const bool spoiled = std::any_of(faults.begin(), faults.end(), [](const SimFault& fault) {
    return fault.kind == SimFaultKind::kSpoiled;
  });
  const ErrorCode code = error.code();
  const bool bad = code == ErrorCode::kInternal || code == ErrorCode::kNotFound ||
                   code == ErrorCode::kInvalidArgument ||
                   (code == ErrorCode::kIntegrity && !is_damaged() && !spoiled);
  if (!bad) return;
  wrong("user" + std::to_string(action.user) + ": " + std::string(name_of(action.kind)) + ": " +
        error.describe());
}

void Stage::use(SimProcess& process, const AcquiredInstance& acquired, std::uint32_t choice) {
  const InstanceRef instance = acquired.instance;
  cluster_.world.tell(rules_.name_of(instance.volume.sandbox) + " is handed out, epoch " +
                      std::to_string(number_of(instance.epoch)));
  const bool durable = part(choice, 12, 3) == 0;
  const std::array<std::chrono::milliseconds, 3> delays{
      0ms, std::chrono::milliseconds(part(choice, 5, 200)),
      std::chrono::milliseconds(part(choice, 7, 20'000))};
  const std::uint64_t writes = 1 + part(choice, 14, 3);
  for (std::uint64_t i = 0; i < writes; ++i) {
    cluster_.world.after(delays.at(i), [this, &process, instance, durable] {
      if (process.is_open()) write(process, instance, durable);
    });
  }
  const auto found = process.node().instances.find(instance);
  if (part(choice, 16, 5) != 0 || found == process.node().instances.end()) return;
  found->second.running_commands = 1;
  found->second.keep_alive_commands = part(choice, 20, 2) == 0 ? 1 : 0;
  cluster_.world.after(20s, [&process, instance] {
    const auto left = process.node().instances.find(instance);
    if (left == process.node().instances.end()) return;
    left->second.running_commands = left->second.keep_alive_commands = 0;
  });
}

void Stage::write(SimProcess& process, const InstanceRef& instance, bool durable) {
  // Who still uses what was forgotten writes into a volume that nothing names: it is kept, and
  // nobody is promised to find it.
  if (forgotten_.contains(instance.volume)) return;
  std::string name = "file";
  name += std::to_string(++files_);
  // The instance may have gone meanwhile: then nobody acknowledged anything.
  const bool written = process.node().write(instance, name, "content of " + name, durable);
  if (!written) return;
  process.manager().touch(instance.volume.sandbox);
  cluster_.world.tell(rules_.name_of(instance.volume.sandbox) + " writes " + name +
                      (durable ? ", durably" : ""));
}

void Stage::damage(std::uint32_t choice) {
  auto& objects = cluster_.objects.objects;
  if (objects.empty()) return;
  const auto chosen =
      std::next(objects.begin(), static_cast<std::ptrdiff_t>(choice % objects.size()));
  if (chosen->second.broken) return;
  chosen->second.broken = true;
  damaged_.insert(chosen->first);
  rules_.excuse(chosen->first);
}

void Stage::hide(SimNode& node, std::uint32_t choice) {
  if (node.volumes.empty()) return;
  const auto chosen =
      std::next(node.volumes.begin(), static_cast<std::ptrdiff_t>(choice % node.volumes.size()));
  chosen->second.present = false;
  // A stop that finds nothing there has nothing to write to the disk.
  node.excuse_loose(chosen->first.sandbox, chosen->first.generation);
  hid_ = true;
}

void Stage::mend() {
  for (const std::string& key : damaged_) {
    const auto found = cluster_.objects.objects.find(key);
    if (found != cluster_.objects.objects.end()) found->second.broken = false;
  }
  cluster_.each_node([](SimNode& node) {
    for (auto& [volume, content] : node.volumes) content.present = true;
  });
}

void Stage::forget(const SandboxId& sandbox) {
  const Record* record = cluster_.store.find(sandbox);
  if (record == nullptr || record->operation || record->generation.empty()) return;
  // Somebody may be deleting what is garbage, and may not hear that nothing names it any more.
  if (!record->garbage.empty()) return;
  cluster_.each_node([&](SimNode& node) {
    for (const auto& [volume, content] : node.volumes) {
      if (volume.sandbox == sandbox && volume.generation == record->generation) {
        forgotten_[volume] = content.disk;
      }
    }
  });
  cluster_.store.forget(sandbox);
}

StoryEnd play_story(const StoryPlan& plan) {
  Stage stage(plan);
  return stage.play();
}

}  // namespace cove::testing
