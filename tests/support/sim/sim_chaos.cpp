#include "support/sim/sim_chaos.hpp"

#include <algorithm>

namespace cove::testing {
namespace {

using namespace std::chrono_literals;

// Appended, not added: GCC 12 warns of `"m" + std::to_string(i)` when it optimises.
std::string numbered(std::string name, std::uint64_t number) {
  name += std::to_string(number);
  return name;
}

std::string machine_name(std::uint64_t number) { return numbered("m", number); }

WorkspaceKey user(std::size_t number) { return key_of(numbered("user", number)); }

}  // namespace

Chaos::Chaos(const ChaosPlan& plan) : plan_(plan), cluster_(plan.seed) {
  cluster_.store.on_remove = [this](const Record& record) {
    const SandboxId& id = record.sandbox_id;
    const bool asked = std::find(destroyed_.begin(), destroyed_.end(), id) != destroyed_.end();
    for (std::size_t i = 1; i <= plan_.machines; ++i) {
      const auto& committed = cluster_.node(machine_name(i)).committed;
      const bool has_files = committed.contains({id, record.incarnation});
      if (has_files && !asked) cluster_.world.violation(id.str() + " was removed with its files");
    }
  };
}

void Chaos::wrong(const std::string& what) { cluster_.world.violation(what); }

std::string Chaos::some_machine() {
  return machine_name(1 + cluster_.world.random(plan_.machines));
}

SimProcess& Chaos::someone() {
  std::vector<SimProcess*> living;
  for (const auto& process : cluster_.processes) {
    if (process->host().alive()) living.push_back(process.get());
  }
  if (living.size() < plan_.processes) {
    const SimFaults faults = std::exchange(cluster_.world.faults, SimFaults{});
    SimProcess& fresh = cluster_.start(some_machine());
    cluster_.world.faults = faults;
    return fresh;
  }
  return *living[cluster_.world.random(living.size())];
}

void Chaos::write_into(SimProcess& process, const InstanceRef& instance) {
  const std::string name = numbered("file", static_cast<std::uint64_t>(++files_));
  // The instance may have gone meanwhile: then nobody acknowledged anything.
  (void)process.node().write(instance, name, "content of " + name);
}

void Chaos::start_something(SimProcess& process, const WorkspaceKey& key) {
  const SandboxId id = sandbox_id_of(key);
  const auto drain = cluster_.world.random(2) == 0 ? StopDrain::kRefuse : StopDrain::kCancel;
  switch (cluster_.world.random(20)) {
    case 0:
    case 1: (void)process.stop(id, drain); return;
    case 2:
    case 3:
    case 4: (void)process.archive(id, drain); return;
    case 5:
    case 6: (void)process.sweep(); return;
    case 7:
      destroyed_.push_back(id);
      (void)process.destroy(id);
      return;
    case 8:
      for (const auto& [instance, state] : process.node().instances) {
        (void)process.report_unreachable(instance);
      }
      return;
    case 9: process.node().reboot(); return;
    case 10: (void)process.release(id); return;
    default: break;
  }
  uses_.push_back(Use{&process, process.acquire(key)});
}

void Chaos::lose_power(const std::string& machine) {
  for (const auto& process : cluster_.processes) {
    if (process->host().machine() == machine) process->host().crash();
  }
  cluster_.node(machine).reboot();
  cluster_.store.lose_power();
}

void Chaos::crash_something() {
  if (!plan_.crashes) return;
  const auto chance = cluster_.world.random(10);
  if (chance < 3) someone().host().crash_after(1 + cluster_.world.random(60));
  if (chance == 3 && cluster_.world.random(4) == 0) lose_power(some_machine());
}

void Chaos::act() {
  SimProcess& process = someone();
  start_something(process, user(cluster_.world.random(plan_.users)));
  crash_something();
  const auto length =
      cluster_.world.random(4) == 0 ? cluster_.world.random(40'000) : cluster_.world.random(40);
  cluster_.world.run_for(std::chrono::milliseconds(length));
  cluster_.check_always();
  for (Use& use : uses_) {
    const bool ready = !use.used && use.acquired->has_value() && use.process->host().alive();
    if (!ready) continue;
    use.used = true;
    if (**use.acquired) write_into(*use.process, (**use.acquired)->instance);
  }
}

void Chaos::settle_down() {
  cluster_.world.faults = SimFaults{};
  for (const auto& process : cluster_.processes) process->host().crash_after(0);
  cluster_.world.run_for(10min);
  std::vector<SimProcess*> sweepers;
  for (std::size_t i = 1; i <= plan_.machines; ++i) {
    sweepers.push_back(&cluster_.start(machine_name(i)));
  }
  for (int round = 0; round < 3; ++round) {
    for (SimProcess* sweeper : sweepers) {
      const auto report = cluster_.finish(sweeper->sweep());
      if (!report) wrong("sweep: " + report.error().describe());
      if (!report || round < 2) continue;
      for (const std::string& error : report->errors) wrong("sweep: " + error);
    }
    cluster_.world.run_for(2h);
  }
  for (const Record& record : cluster_.store.records()) {
    if (record.operation) wrong("still busy: " + to_json(record));
    if (!record.garbage.empty()) wrong("garbage is left: " + to_json(record));
  }
}

void Chaos::check_end(const WorkspaceKey& key) {
  const SandboxId id = sandbox_id_of(key);
  const auto record = cluster_.store.record(id);
  const std::string machine = record ? record->node.str() : "m1";
  SimProcess& last = cluster_.start(machine);
  const auto acquired = cluster_.finish(last.acquire(key));
  if (!acquired) return wrong("acquire: " + acquired.error().describe());
  if (cluster_.node(machine).instances_of(id) != 1) wrong(id.str() + " has not one instance");
  const SimFiles files = cluster_.files_of(id);
  const Incarnation incarnation = cluster_.store.record(id)->incarnation;
  for (std::size_t i = 1; i <= plan_.machines; ++i) {
    const auto& committed = cluster_.node(machine_name(i)).committed;
    const auto found = committed.find({id, incarnation});
    if (found == committed.end()) continue;
    for (const auto& [name, content] : found->second) {
      const auto kept = files.find(name);
      if (kept == files.end() || kept->second != content) wrong(id.str() + " lost " + name);
    }
  }
}

std::vector<std::string> Chaos::run() {
  cluster_.world.faults = plan_.faults;
  for (int i = 0; i < plan_.actions; ++i) act();
  settle_down();
  for (std::size_t i = 0; i < plan_.users; ++i) check_end(user(i));
  return cluster_.world.violations();
}

}  // namespace cove::testing
