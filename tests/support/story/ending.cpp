// How a story ends: everything is repaired, and what was acknowledged must be there.
#include <algorithm>

#include "lifecycle/rules/transitions.hpp"
#include "support/story/stage.hpp"

namespace cove::testing {

using namespace std::chrono_literals;

void Stage::repair() {
  SimWorld& world = cluster_.world;
  world.faults.end();
  world.tell("== everything is repaired");
  for (const auto& process : cluster_.processes) {
    process->host().crash_after(0);
    process->host().set_clock(0ns, 1000);
  }
  mend();
  // Pauses and slow calls end.
  world.run_for(10min);
  for (std::size_t i = 0; i < cast_.machines; ++i) {
    last_[machine_name(i)] = &cluster_.start(machine_name(i));
  }
  sweep_until_quiet();
  check_sources();
  if (plan_.seed % 8 == 0) bury_the_dead();
  for (std::size_t i = 0; i < cast_.users; ++i) check_user(i);
  check_left_over();
}

bool Stage::is_quiet() const {
  const auto records = cluster_.store.records();
  return std::none_of(records.begin(), records.end(), [this](const Record& record) {
    return is_busy(record) || !record.garbage.empty();
  });
}

/// A relocate past its volume waits for what becomes of a source whose end was begun: that is
/// finished, or taken back, by whoever asks for it again.
bool Stage::is_busy(const Record& record) const {
  if (!record.operation) return false;
  const bool waits = record.operation->kind == OperationKind::kRelocate &&
                     !record.operation->error.empty() &&
                     ended_sources_.contains(record.key.source_type + "/" + record.key.source_id);
  return !waits;
}

void Stage::sweep_until_quiet() {
  for (int round = 0; round < 6; ++round) {
    std::vector<std::string> errors;
    for (const auto& [machine, process] : last_) {
      const auto report = cluster_.finish(process->sweep());
      if (!report) return wrong("a sweep failed: " + report.error().describe());
      errors.insert(errors.end(), report->errors.begin(), report->errors.end());
    }
    if (is_quiet() && errors.empty()) return;
    if (round == 5) {
      for (const std::string& error : errors) wrong("a sweep: " + error);
    }
    // Longer than any back-off.
    cluster_.world.run_for(2h);
  }
  for (const Record& record : cluster_.store.records()) {
    const std::string name = rules_.name_of(record.sandbox_id);
    if (is_busy(record)) wrong(name + " is still busy: " + to_json(record));
    if (!record.garbage.empty()) wrong(name + " still has garbage: " + to_json(record));
  }
}

/// A tombstone's time passes.
void Stage::bury_the_dead() {
  cluster_.world.run_for(kTombstoneKeep + 1h);
  sweep_until_quiet();
  if (cluster_.store.count(DocumentKind::kTombstone) > 0) wrong("a tombstone is left");
}

/// Sources that somebody wanted to end: they end, or they come again, and both for good.
void Stage::check_sources() {
  for (const std::string& source : ended_sources_) {
    if (plan_.seed % 2 == 0) check_source(source);
    const auto revived = cluster_.finish(last_.begin()->second->revive_source(source));
    if (!revived) wrong(source + " cannot be revived: " + revived.error().describe());
  }
}

void Stage::check_source(const std::string& source) {
  const auto ask = rules_.begin_ask(Ask::Kind::kDestroy, source, last_.begin()->second->host());
  // Each machine destroys what is in its reach; the first one then finds nothing.
  for (const auto& [machine, process] : last_)
    (void)cluster_.finish(process->destroy_source(source));
  const auto destroyed = cluster_.finish(last_.begin()->second->destroy_source(source));
  if (!destroyed) wrong(source + " cannot be destroyed: " + destroyed.error().describe());
  for (std::size_t i = 0; i < cast_.users; ++i) {
    if (source_of_user(i) != source) continue;
    const auto acquired = cluster_.finish(last_.begin()->second->acquire(key_of_user(i)));
    const bool refused = !acquired && acquired.error().code() == ErrorCode::kFailedPrecondition;
    if (!refused) wrong(source + " was destroyed and still has a workspace");
  }
  ask->ended = cluster_.world.now();
  // What the refused acquires left: records of provisions that never began.
  cluster_.world.run_for(2h);
  sweep_until_quiet();
}

SimProcess& Stage::process_for(const SandboxId& sandbox) {
  const Record* record = cluster_.store.find(sandbox);
  const auto near = last_.find(record != nullptr ? record->node.str() : std::string());
  return near == last_.end() ? *last_.begin()->second : *near->second;
}

void Stage::check_user(std::size_t user) {
  const WorkspaceKey key = key_of_user(user);
  const SandboxId sandbox = sandbox_id_of(key);
  const int rounds = plan_.seed % 4 == 1 ? 2 : 1;
  for (int round = 0; round < rounds; ++round) {
    SimProcess& process = process_for(sandbox);
    if (round > 0) {
      const auto ask = rules_.begin_ask(Ask::Kind::kCancel, sandbox.str(), process.host());
      const auto archived = cluster_.finish(process.archive(sandbox, StopDrain::kCancel));
      if (!archived) wrong(rules_.name_of(sandbox) + ": " + archived.error().describe());
    }
    const auto acquired = cluster_.finish(process.acquire(key));
    if (!acquired) {
      return wrong(rules_.name_of(sandbox) + " cannot be woken: " + acquired.error().describe());
    }
    // It may say running of what ended long ago; a call that fails finds that out.
    const bool runs = process.node().instances.contains(acquired->instance);
    if (!runs && acquired->work == AcquireWork::kNone) {
      (void)cluster_.finish(process.report_unreachable(acquired->instance));
      const auto again = cluster_.finish(process.acquire(key));
      if (!again) wrong(rules_.name_of(sandbox) + " cannot be woken: " + again.error().describe());
    }
    if (process.node().instances_of(sandbox) != 1) {
      wrong(rules_.name_of(sandbox) + " has not one instance");
    }
    if (const Record* record = cluster_.store.find(sandbox)) rules_.check_files(*record);
  }
}

void Stage::check_left_over() {
  cluster_.each_node([&](SimNode& node) {
    for (const auto& [instance, state] : node.instances) {
      const Record* record = cluster_.store.find(instance.volume.sandbox);
      if (record == nullptr || !names_instance(*record, instance)) {
        wrong(rules_.name_of(instance.volume.sandbox) + ": an instance runs that nothing names");
      }
    }
    for (const auto& [volume, content] : node.volumes) {
      const auto forgotten = forgotten_.find(volume);
      const Record* record = cluster_.store.find(volume.sandbox);
      const bool named = record != nullptr && lifecycle::names_volume(*record, volume.generation);
      // An empty one may be that of a request that came late; it is reported, and kept.
      if (!named && !content.files.empty() && forgotten_.empty() && !rules_.is_doomed(volume)) {
        wrong(rules_.name_of(volume.sandbox) + ": a volume is left that nothing names");
      }
      if (forgotten == forgotten_.end()) continue;
      for (const auto& [name, text] : forgotten->second) {
        const auto kept = content.files.find(name);
        if (kept == content.files.end()) wrong("a forgotten volume lost " + name);
      }
    }
  });
  for (const auto& [volume, files] : forgotten_) {
    bool there = files.empty();
    cluster_.each_node([&](SimNode& node) { there = there || node.volumes.contains(volume); });
    if (!there) wrong("a volume whose metadata are lost is gone");
  }
}

}  // namespace cove::testing
