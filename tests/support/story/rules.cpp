#include "support/story/rules.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "lifecycle/records/record_store.hpp"
#include "lifecycle/records/tombstone.hpp"
#include "lifecycle/rules/transitions.hpp"

namespace cove::testing {
namespace {

using namespace std::chrono_literals;

// What a host had sent before it died has arrived by then.
constexpr auto kOnTheWay = 2min;

/// True for an archive, or a relocate's, past its upload.
bool is_uploaded(const Record& record) {
  return record.operation && record.operation->snapshot.has_value();
}

bool is_archived(const Record& record) { return record.generation.empty() || is_uploaded(record); }

const std::optional<SnapshotRef>& snapshot_of(const Record& record) {
  return is_uploaded(record) ? record.operation->snapshot : record.snapshot;
}

const std::string* content_of(const FileSets& files, const std::string& name) {
  for (const SimFiles* some : files) {
    if (const auto found = some->find(name); found != some->end()) return &found->second;
  }
  return nullptr;
}

bool is_destroyed(const Record& record) {
  return record.operation && record.operation->kind == OperationKind::kDestroy;
}

std::string state_text(const Record* record) {
  if (record == nullptr) return "absent";
  std::string text(name_of(record->state));
  if (record->operation) {
    const Operation& operation = *record->operation;
    text += ", " + std::string(name_of(operation.kind)) + " at " +
            std::string(name_of(operation.phase)) + " by " + operation.owner.str();
    if (!operation.error.empty()) text += ", failed";
  }
  if (!record->garbage.empty()) text += ", garbage " + std::to_string(record->garbage.size());
  return text;
}

}  // namespace

Rules::Rules(SimCluster& cluster) : cluster_(cluster) {
  cluster.store.on_change = [this](const Record* before, const Record* after) {
    on_change(before, after);
  };
  cluster.store.on_rollback = [this](const Record* lost, const Record* restored) {
    on_rollback(lost, restored);
  };
  cluster.world.on_effect = [this] { on_effect(); };
}

Rules::~Rules() {
  cluster_.store.on_change = nullptr;
  cluster_.store.on_rollback = nullptr;
  cluster_.world.on_effect = nullptr;
  for (SimNode* node : nodes_) node->on_erase = nullptr;
}

void Rules::watch(SimNode& node) {
  nodes_.push_back(&node);
  node.on_erase = [this](const VolumeRef& volume, const SimVolume& content) {
    on_erase(volume, content);
  };
  node.on_stop = [this, &node](const InstanceRef& instance) { on_stop(node, instance); };
}

std::string Rules::name_of(const SandboxId& sandbox) const {
  const auto found = names_.find(sandbox);
  return found == names_.end() ? sandbox.str() : found->second;
}

std::shared_ptr<Ask> Rules::begin_ask(Ask::Kind kind, const std::string& subject,
                                      const SimHost& host) {
  asks_.push_back(std::make_shared<Ask>(Ask{kind, subject, &host, std::nullopt}));
  return asks_.back();
}

void Rules::end_ask(Ask& ask, const Result<void>& answer) const {
  const bool unsure = !answer && lifecycle::is_unsure(answer.error());
  ask.ended = cluster_.world.now() + (unsure ? kOnTheWay : 0min);
}

std::optional<StoreTime> Rules::end_of(const Ask& ask) const {
  std::optional<Instant> end = ask.ended;
  if (!end && !ask.host->alive()) end = ask.host->died_at() + kOnTheWay;
  if (!end) return std::nullopt;
  return cluster_.world.store_time_at(*end);
}

bool Rules::is_allowed(Ask::Kind kind, const Record& record) const {
  const std::string source = record.key.source_type + "/" + record.key.source_id;
  return std::any_of(asks_.begin(), asks_.end(), [&](const std::shared_ptr<Ask>& ask) {
    if (ask->kind != kind) return false;
    if (ask->subject != record.sandbox_id.str() && ask->subject != source) return false;
    const auto end = end_of(*ask);
    // A destroy that began is finished by others, but only of what was there before its end.
    return !end ||
           *end >= (kind == Ask::Kind::kDestroy ? record.created_at : cluster_.world.store_time());
  });
}

FileSets Rules::promised(const Record& record) const {
  FileSets files;
  for (const SimNode* node : nodes_) {
    const auto found = node->committed.find({record.sandbox_id, record.incarnation});
    if (found != node->committed.end()) files.push_back(&found->second);
  }
  std::erase_if(files, [](const SimFiles* some) { return some->empty(); });
  return files;
}

std::optional<FileSets> Rules::kept(const Record& record) const {
  FileSets files;
  if (is_archived(record)) {
    const auto& snapshot = snapshot_of(record);
    if (!snapshot) return files;
    for (const SnapshotObject& object : snapshot->objects) {
      const auto found = cluster_.objects.objects.find(object.key.str());
      if (found == cluster_.objects.objects.end()) continue;
      if (found->second.broken && !excused_.contains(object.key.str())) continue;
      files.push_back(&found->second.files);
    }
    return files;
  }
  for (const SimNode* node : nodes_) {
    for (const auto& [volume, content] : node->volumes) {
      const bool current =
          volume.sandbox == record.sandbox_id && volume.generation == record.generation;
      const bool in_place = node->name == record.node.str() && content.provider == record.provider;
      if (current && in_place) return FileSets{&content.files};
    }
  }
  return std::nullopt;
}

bool Rules::is_doomed(const VolumeRef& volume) const {
  const auto names = [&](const GarbageVolume& doomed) {
    return doomed.generation == volume.generation;
  };
  if (const Record* record = cluster_.store.find(volume.sandbox)) {
    const bool current = record->generation == volume.generation;
    if (current && is_archived(*record)) return true;
    const auto all = lifecycle::grave_of(*record, StoreTime{}).volumes;
    const bool known = std::any_of(all.begin(), all.end(), names);
    const bool in_use = lifecycle::names_volume(*record, volume.generation);
    if (known && (!in_use || is_destroyed(*record))) return true;
  }
  const auto body = cluster_.store.body({DocumentKind::kTombstone, volume.sandbox.str()});
  if (!body) return false;
  const auto tombstone = lifecycle::parse_tombstone(*body).value();
  return std::any_of(tombstone.graves.begin(), tombstone.graves.end(), [&](const auto& grave) {
    return std::any_of(grave.volumes.begin(), grave.volumes.end(), names);
  });
}

bool Rules::is_buried(const Record& record) const {
  const auto body = cluster_.store.body({DocumentKind::kTombstone, record.sandbox_id.str()});
  if (!body) return false;
  const auto tombstone = lifecycle::parse_tombstone(*body).value();
  return std::any_of(tombstone.graves.begin(), tombstone.graves.end(),
                     [&](const auto& grave) { return grave.incarnation == record.incarnation; });
}

void Rules::check_files(const Record& record) {
  // The last: what a first write, sent again, brought back after its destroy.
  const bool begins = record.operation && record.operation->kind == OperationKind::kProvision;
  if (is_destroyed(record) || (begins && is_buried(record))) return;
  const FileSets promises = promised(record);
  if (promises.empty()) return;
  const auto there = kept(record);
  if (!there) return wrong(record, "its volume is gone, with acknowledged files");
  for (const SimFiles* files : promises) {
    for (const auto& [name, content] : *files) {
      const std::string* found = content_of(*there, name);
      if (found == nullptr || *found != content) wrong(record, "lost " + name);
    }
  }
}

void Rules::on_effect() {
  std::uint64_t now = cluster_.store.writes() + cluster_.objects.changes;
  for (const SimNode* node : nodes_) now += node->changes;
  if (now == std::exchange(seen_, now)) return;
  for (const auto& [sandbox, name] : names_) {
    const Record* record = cluster_.store.find(sandbox);
    if (record != nullptr) check_files(*record);
  }
  cluster_.check_instances();
}

void Rules::on_erase(const VolumeRef& volume, const SimVolume& content) {
  if (content.files.empty() || is_doomed(volume)) return;
  cluster_.world.violation(name_of(volume.sandbox) +
                           ": a volume with files was deleted that nothing names as garbage");
}

bool names_instance(const Record& record, const InstanceRef& instance) {
  return record.state == SandboxState::kRunning && record.sandbox_id == instance.volume.sandbox &&
         record.generation == instance.volume.generation && record.epoch == instance.epoch;
}

void Rules::on_stop(const SimNode& node, const InstanceRef& instance) {
  const Record* record = cluster_.store.find(instance.volume.sandbox);
  if (record == nullptr || record->operation) return;
  const bool current = names_instance(*record, instance) && node.name == record->node.str();
  // One that a late start brought back is nobody's.
  if (current && !node.instances.at(instance).came_again) {
    wrong(*record, "was ended while it runs, by no operation");
  }
}

void Rules::wrong(const Record& record, const std::string& what) {
  const std::string text = name_of(record.sandbox_id) + ": " + what;
  if (!said_.insert(text).second) return;
  cluster_.world.violation(text + " (" + state_text(&record) + ")");
}

void Rules::tell(const Record* before, const Record* after) {
  SimWorld& world = cluster_.world;
  if (!world.tells()) return;
  const std::string now = state_text(after);
  if (state_text(before) == now) return;
  world.tell(name_of(after != nullptr ? after->sandbox_id : before->sandbox_id) + ": " + now);
}

void Rules::on_rollback(const Record* lost, const Record* restored) {
  if (lost == nullptr && restored == nullptr) return;
  const Record& some = lost != nullptr ? *lost : *restored;
  tell(lost, restored);
  if (lost == nullptr || restored == nullptr) {
    return wrong(some, "a record came or went by a loss of power");
  }
  const auto identity = [](const Record& record) {
    const auto& operation = record.operation;
    return std::tuple(record.state, record.incarnation, record.generation, record.epoch,
                      operation ? operation->id : OperationId(),
                      operation ? operation->generation : Generation(),
                      operation ? operation->epoch : Epoch());
  };
  const bool same = identity(*lost) == identity(*restored) &&
                    lost->snapshot == restored->snapshot && lost->garbage == restored->garbage;
  if (!same) return wrong(some, "a loss of power undid what must last");
  const auto row = lifecycle::row_of(*lost);
  const bool may_repeat = !row || row->take_over == lifecycle::TakeOver::kRestart;
  const bool same_phase = !lost->operation || lost->operation->phase == restored->operation->phase;
  if (!same_phase && !may_repeat) wrong(some, "a loss of power undid a phase that allows the next");
}

}  // namespace cove::testing
